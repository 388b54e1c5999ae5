import { createHash } from 'node:crypto';
import path from 'node:path';
import type { ContainerHandle } from '#core/container/engine.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { fromBinary, type TarHeader, toBinary } from '#core/container/tarHeader.ts';
import type { TarEntry } from '#core/container/tarStream.ts';

/** Bytes beside the tests that the engine may send: an archive cannot be skipped in. */
const besideCap = 4 * 1024 ** 3;
/** Files that are looked for one by one, since they are gone or the archive ended before them. */
const maxAlone = 1_000;
/** As the kernel follows. */
const maxLinks = 40;

/** Files of the task's tests/ that /tests no longer holds as they were sent; new files there are fine (caches). */
export async function alteredTests(
  container: ContainerHandle,
  testsDir: string,
  signal: AbortSignal,
): Promise<string[]> {
  const wanted = new Map<string, string>();
  for await (const { header, body } of walkFolder(testsDir, { prefix: '', signal })) {
    const is = await contentOf(header, body, wanted);
    if (is !== undefined) wanted.set(header.name, is);
  }
  const found = await findIn(container, '/tests', wanted, signal);
  return [...wanted].flatMap(([name, value]) =>
    found.get(name) === value
      ? []
      : [`/tests/${fromBinary(name)}${found.has(name) ? ' (altered)' : ' (removed)'}`],
  );
}

/** What a folder has under the wanted names. It may be a link: the tests were put where that leads. */
async function findIn(
  container: ContainerHandle,
  folder: string,
  wanted: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let at = folder;
  for (let links = 0; links <= maxLinks; links++) {
    const entries = await container.readFolder(at, signal);
    const target = entries && (await look(entries, toBinary(path.posix.basename(at)), wanted, found));
    if (target === undefined) break;
    at = path.posix.resolve(path.posix.dirname(at), target);
  }
  for (const name of [...wanted.keys()].filter((one) => !found.has(one)).slice(0, maxAlone)) {
    const alone = await container.readFolder(path.posix.join(at, fromBinary(name)), signal);
    for await (const { header, body } of alone ?? []) {
      const is = await contentOf(header, body, wanted, name);
      if (is !== undefined) found.set(name, is);
      break;
    }
  }
  return found;
}

/** Where the folder is a link: its target. Stops where too much lies beside what is wanted. */
async function look(
  entries: AsyncIterable<TarEntry>,
  folder: string,
  wanted: ReadonlyMap<string, string>,
  found: Map<string, string>,
): Promise<string | undefined> {
  let beside = 0;
  for await (const { header, body } of entries) {
    if (header.name === folder && header.type === 'symlink') return fromBinary(header.linkName);
    const name = header.name.slice(folder.length + 1);
    const is = wanted.has(name)
      ? header.type === 'hardlink'
        ? (found.get(header.linkName.slice(folder.length + 1)) ?? '')
        : await contentOf(header, body, wanted, name)
      : undefined;
    if (is !== undefined) found.set(name, is);
    if (is === undefined || is !== wanted.get(name)) beside += header.size;
    if (beside > besideCap) break;
  }
  return undefined;
}

/** A text that is another for other content; undefined for what has none. A size that is not wanted is told unread. */
async function contentOf(
  header: TarHeader,
  body: AsyncIterable<Buffer>,
  wanted: ReadonlyMap<string, string>,
  name?: string,
): Promise<string | undefined> {
  if (header.type === 'symlink') return `link ${header.linkName}`;
  if (header.type === 'hardlink' && name === undefined) return wanted.get(header.linkName);
  if (header.type !== 'file') return undefined;
  const size = `${header.size} bytes `;
  if (name !== undefined && !wanted.get(name)?.startsWith(size)) return size;
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return size + hash.digest('hex');
}
