import { throwIfCancelled } from '#core/base/errors.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { createWorkspaceContainer, deleteWorkspace } from '#core/container/workspaceContainer.ts';
import { probeIsolation } from '#core/container/workspaceProbe.ts';
import { type AttemptContext, workspaceSpec } from './context.ts';
import { withStoreLabel } from './orphans.ts';
import { notStartedReason } from './states.ts';
import type { AttemptEvent, AttemptRecord } from './types.ts';

/** What one way to begin an attempt does otherwise than another. */
export interface WorkspaceRecipe {
  /** The record, with an image that the engine has, the workdir and the roots. */
  settle(engine: ContainerEngine): Promise<AttemptRecord>;
  /** Files of the workdir before the container starts. */
  files?(made: AttemptRecord): Promise<Readonly<Record<string, string>>>;
  /** Work in the container while it runs for the first time. */
  fill(container: ContainerHandle, made: AttemptRecord): Promise<void>;
}

/** Makes a new attempt's workspace, frozen when it is ready; nothing is left of one that fails or is cancelled. */
export async function makeWorkspace(
  context: AttemptContext,
  engine: ContainerEngine,
  record: AttemptRecord,
  recipe: WorkspaceRecipe,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { store, locks, log } = context;
  await store.create(record);
  const release = await locks.require(record.id);
  context.busy.add(record.id);
  try {
    emit({ kind: 'preparing', attempt: record });
    await recordProtocol(context, record);
    emit(await prepare(context, engine, recipe, emit, signal));
  } catch (error) {
    await deleteWorkspace(engine, record.id).catch((failure: unknown) =>
      log.warn(`The workspace of the attempt ${record.id} could not be removed: ${String(failure)}`),
    );
    await context.recorders.close(record.id);
    await store.delete(record.id);
    throw error;
  } finally {
    context.busy.delete(record.id);
    await release();
  }
}

async function prepare(
  context: AttemptContext,
  engine: ContainerEngine,
  recipe: WorkspaceRecipe,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<AttemptEvent> {
  const made = await recipe.settle(engine);
  emit({ kind: 'phase', phase: 'container', title: 'Starting the workspace' });
  const { container, clamped } = await createWorkspaceContainer(
    withStoreLabel(engine, context.store.storeDir),
    { ...workspaceSpec(made, context.hostEnv), files: (await recipe.files?.(made)) ?? {} },
    signal,
  );
  await makeHarborFolders(container, signal);
  await recipe.fill(container, made);
  emit({ kind: 'phase', phase: 'probe', title: 'Checking that it is offline' });
  const user = made.user === undefined ? {} : { user: made.user };
  const isolation = await probeIsolation(container, { signal, ...user });
  await container.pause();
  throwIfCancelled(signal);
  return { kind: 'ready', attempt: await makeReady(context, made.id), isolation, clamped };
}

/** Its environment is there and frozen; the clock of a measured attempt stands until its builder starts it. */
async function makeReady({ store, recorders }: AttemptContext, id: string): Promise<AttemptRecord> {
  const ready = await store.move(id, 'ready');
  if (!ready.protocol) return ready;
  recorders.append(id, { kind: 'milestone', what: 'environment-ready' });
  return store.move(id, 'paused', { reason: notStartedReason });
}

/** The first line of the record of a measured attempt, whose lock the caller has. */
async function recordProtocol({ recorders }: AttemptContext, { id, protocol }: AttemptRecord): Promise<void> {
  if (protocol) (await recorders.open(id)).append({ kind: 'protocol', protocol });
}

/** Where Harbor's agents may leave artifacts (harbor.md §0). */
export async function makeHarborFolders(container: ContainerHandle, signal: AbortSignal): Promise<void> {
  const script = 'mkdir -p /logs/agent /logs/artifacts && chmod 777 /logs/agent /logs/artifacts';
  await container.exec({ command: ['sh', '-c', script], user: '0', workdir: '/' }, signal);
}
