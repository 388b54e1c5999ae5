import type { ContainerEngine, ImageInfo } from './engine.ts';
import { imageTag } from './images.ts';
import { metadataLabel, noMetadata, workbenchLabel } from './labels.ts';
import { bodyOf, writeTar } from './tarStream.ts';

/**
 * An image to hand to dev container tools: the image itself, or, where it carries their label, one that is derived
 * from it with the label emptied, kept for the next time. It has to be made beforehand: a tool that builds a
 * Dockerfile reads the label of the base image instead. Errors: `EngineError`.
 */
export async function imageWithoutMetadata(
  engine: ContainerEngine,
  image: ImageInfo,
  signal?: AbortSignal,
): Promise<string> {
  if (image.devcontainerMetadata === undefined) return image.id;
  const tag = imageTag('without-metadata', image.id.replace(/^sha256:/, '').slice(0, 32));
  if (await engine.inspectImage(tag, signal)) return tag;
  const dockerfile = Buffer.from(`FROM ${image.id}\n`);
  const header = {
    name: 'Dockerfile',
    type: 'file',
    mode: 0o644,
    uid: 0,
    gid: 0,
    size: dockerfile.length,
    mtime: 0,
    linkName: '',
    devMajor: 0,
    devMinor: 0,
    flag: '0',
  } as const;
  await engine.buildImage(
    {
      tag,
      context: writeTar([{ header, body: bodyOf(dockerfile) }]),
      dockerfile: 'Dockerfile',
      labels: { [workbenchLabel]: 'image', [metadataLabel]: noMetadata },
      // BuildKit cannot build from an image's id.
      buildKit: false,
      onProgress: () => undefined,
    },
    signal,
  );
  return tag;
}
