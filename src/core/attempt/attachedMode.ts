import path from 'node:path';
import { writeFileAtomic } from '#core/base/files.ts';
import { EngineError } from '#core/container/engine.ts';
import { imageWithoutMetadata } from '#core/container/plainImage.ts';
import { attemptLabel, planWorkspaceContainer, workspaceName } from '#core/container/workspaceContainer.ts';
import { attachUri } from './attachUri.ts';
import { type AttemptContext, workspaceSpec } from './context.ts';
import { attachedContainerJson, devcontainerJson } from './devcontainerJson.ts';
import { requireWorkable } from './states.ts';
import type { AttachedMode } from './types.ts';

/**
 * Makes ready what an editor or the open `devcontainer` CLI needs to work in the attempt's own container, in the
 * attempt's folder of the store. From then on the record says that not every command was recorded. Errors:
 * `UserError`, `EngineError`.
 */
export async function prepareAttachedMode(
  context: AttemptContext,
  id: string,
  signal: AbortSignal,
): Promise<AttachedMode> {
  const { store } = context;
  const record = await store.read(id);
  requireWorkable(record);
  const engine = await context.connect();
  const image = await engine.inspectImage(record.image.id, signal);
  if (!image)
    throw new EngineError(
      'image-missing',
      `The image ${record.image.reference} is not in the engine any more.`,
    );
  const spec = workspaceSpec(record, context.hostEnv);
  const { plan } = await planWorkspaceContainer(engine, spec, false);
  const parts = {
    plan,
    volume: record.volume,
    workdir: record.workdir,
    taskName: record.task.name,
    image: await imageWithoutMetadata(engine, image, signal),
    user: record.user ?? (image.user || 'root'),
    env: record.env,
    isWithoutAi: record.protocol?.aiPolicy === 'none',
  };
  const folder = path.join(store.dirOf(id), 'devcontainer');
  // A folder to name to the tools; it is not mounted, since the workspace is a volume.
  const config = path.join(folder, '.devcontainer', 'devcontainer.json');
  const attachedConfig = path.join(folder, 'attached-container.json');
  await writeFileAtomic(config, toText(devcontainerJson(parts)));
  await writeFileAtomic(attachedConfig, toText(attachedContainerJson(parts)));
  await store.update(id, (old) => ({ ...old, mode: 'attached' }));
  return {
    folder,
    config,
    attachedConfig,
    uri: attachUri(workspaceName(id), record.workdir),
    // Found by it, our own container is used as it is: it is never made a second time.
    idLabel: `${attemptLabel}=${id}`,
    warnings: image.devcontainerMetadata === undefined ? [] : [metadataWarning(record.image.reference)],
  };
}

/** For people: an image that asks dev container tools for more than its files. */
export function metadataWarning(image: string): string {
  return `The image ${image} carries the label devcontainer.metadata, which can ask dev container tools for mounts, privileges and commands: it is overridden, in the workspace and in what is attached to it.`;
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
