import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { engineError, statusCode } from './dockerErrors.ts';
import { readTar } from './tarStream.ts';
import { withSignal } from './withSignal.ts';

/** Go's `os.FileMode` bits of a folder and of a link, as the engine tells them in a path's stat. */
const modeFolder = 0x8000_0000;

/**
 * True only when it is certain, by the engine's own look, that a container holds nothing at a path but, at most, an
 * empty folder. A link on the way is not certain. For engines whose layers are not at hand; a path that is there
 * costs one archive, one that is not a millisecond.
 */
export async function isEmptyByArchive(
  container: Docker.Container,
  target: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const parts = target.split('/').filter(Boolean);
  for (let length = 1; length <= parts.length; length++) {
    const found = await kindOf(container, `/${parts.slice(0, length).join('/')}`, signal);
    if (found === 'absent') return true;
    if (found !== 'folder') return false;
  }
  const archive = (await container.getArchive(withSignal({ path: target }, signal))) as unknown as Readable;
  try {
    let seen = 0;
    for await (const { header } of readTar(archive))
      if (++seen > 1 || header.type !== 'directory') return false;
    return true;
  } catch (error) {
    throw engineError(error, `looking at ${target}`, 'other', signal);
  } finally {
    archive.destroy();
  }
}

async function kindOf(
  container: Docker.Container,
  path: string,
  signal?: AbortSignal,
): Promise<'folder' | 'absent' | 'other'> {
  let answer: { readonly headers?: Readonly<Record<string, string | undefined>> };
  try {
    answer = await container.infoArchive(withSignal({ path }, signal));
  } catch (error) {
    if (statusCode(error) === 404) return 'absent';
    throw engineError(error, `looking at ${path}`, 'other', signal);
  }
  const stat = answer.headers?.['x-docker-container-path-stat'];
  if (!stat) return 'other';
  try {
    const { mode } = JSON.parse(Buffer.from(stat, 'base64').toString('utf8')) as { mode?: unknown };
    return typeof mode === 'number' && mode >= modeFolder ? 'folder' : 'other';
  } catch {
    return 'other';
  }
}
