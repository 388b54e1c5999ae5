import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { errorCode, throwIfCancelled, UserError } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { FolderChangedError, walkFolder } from '#core/container/folderTar.ts';
import { coalesce } from '#core/container/streams.ts';
import { fromBinary, TarFormatError, type TarHeader, toBinary } from '#core/container/tarHeader.ts';
import { noBody, readTar, type TarEntry, writeTar } from '#core/container/tarStream.ts';
import { Amount, normaliseEntries, refuseBomb } from './normalise.ts';
import { NotGradedError } from './reasons.ts';
import type { Tee } from './tee.ts';
import type { AttemptSource, SubmissionSource } from './types.ts';

/** An immutable tar of the workdir and the artifacts, kept on the host: what is graded. */
export interface Submission {
  /** Gzipped tar; names are container paths without the slash in front. */
  readonly file: string;
  /** Of the tar before compression. */
  readonly sha256: string;
  /** Of the tar before compression. */
  readonly bytes: number;
  readonly entries: readonly TarHeader[];
  /** What was not taken, with what it is. */
  readonly skipped: readonly string[];
  /** The one folder that holds everything, of a tar that may have been meant to be that folder's content. */
  readonly wrappedIn?: string;
}

export interface TakeOptions {
  /** Absolute container paths that the submission covers, the workdir first. */
  readonly roots: readonly string[];
  /** Folder that the file is kept in. */
  readonly dir: string;
  /** Entries that the task leaves out of its artifacts; the name has no slash in front. */
  readonly exclude?: ((name: string) => boolean) | undefined;
  /** Gets the tar while it is kept, and its failure. */
  readonly tee?: Tee | undefined;
  readonly signal: AbortSignal;
}

const gzipLevel = 1;

/** Looks at a source before anything is done. Errors: `UserError` for a path that does not hold what was said. */
export async function checkSource(source: SubmissionSource): Promise<void> {
  if (source.kind === 'folder' && !(await isFolder(source.path))) {
    throw new UserError(`The workspace "${source.path}" is not a folder.`, {
      nextStep: 'Choose a folder, or a .tar file of one.',
    });
  }
  if (source.kind !== 'tar' && source.kind !== 'attempt') return;
  // It is read twice, which a FIFO or a device cannot be: opening one would wait for ever.
  const found = await stat(source.path).catch(() => undefined);
  if (found && !found.isFile())
    throw new UserError(`The workspace "${source.path}" is neither a folder nor a file.`, {
      nextStep: 'Choose a folder, or a .tar or .tar.gz file of one.',
    });
  try {
    await (await open(source.path, 'r')).close();
  } catch (error) {
    throw new UserError(`The tar "${source.path}" cannot be opened (${errorCode(error) ?? 'error'}).`, {
      nextStep: 'Check the path.',
      cause: error,
    });
  }
}

/** A host folder becomes the workdir's content. */
export async function submissionFromFolder(folder: string, options: TakeOptions): Promise<Submission> {
  const skipped: string[] = [];
  const walk = walkFolder(folder, {
    prefix: rootName(options.roots[0] ?? '/'),
    includeRoot: true,
    // Here too, so that of a file with several names the first that is taken has the content.
    exclude: (relative) =>
      options.exclude?.(fromBinary(`${rootName(options.roots[0] ?? '/')}/${relative}`)) ?? false,
    onSkipped: (relative, what) => skipped.push(`${fromBinary(relative)} (${what})`),
    signal: options.signal,
  });
  try {
    return await keep(walk, (name) => name, skipped, options);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new NotGradedError('submission-unreadable', error.message, {
      cause: error,
      ...(error.nextStep ? { nextStep: error.nextStep } : {}),
    });
  }
}

/**
 * A tar (or .tar.gz): either of the workdir's content (`./setup.sh`), or with the workdir's own name or path in front
 * (`app/setup.sh`, as "docker cp C:/app -" and our kept submissions have it).
 */
export async function submissionFromTar(file: string, options: TakeOptions): Promise<Submission> {
  try {
    const names = await listNames(file, options.signal);
    // An archive of nothing is an empty workdir.
    if (names.length === 0) return await emptySubmission(options);
    const { rename, wrappedIn } = layoutOf(names, options.roots);
    const submission = await keep(readTar(await openTar(file)), rename, [], options);
    return wrappedIn === undefined ? submission : { ...submission, wrappedIn };
  } catch (error) {
    throw unreadable(file, error) ?? error;
  }
}

/** What an attempt keeps, as it is. */
export async function submissionFromAttempt(
  { path: file, skipped }: AttemptSource,
  options: TakeOptions,
): Promise<Submission> {
  try {
    const submission = await keep(readTar(await openTar(file)), (name) => name, [...skipped], options);
    if (path.basename(file) === `${submission.sha256}.tar.gz`) await shareFile(file, submission.file);
    return submission;
  } catch (error) {
    throw unreadable(file, error) ?? error;
  }
}

/** One copy on disk of what is the same, where the file system can. */
async function shareFile(file: string, copy: string): Promise<void> {
  const temp = `${copy}.tmp`;
  try {
    await link(file, temp);
    await rename(temp, copy);
  } catch {
    await rm(temp, { force: true });
  }
}

/** A workdir with nothing in it. */
export function emptySubmission(options: TakeOptions): Promise<Submission> {
  const header: TarHeader = {
    name: rootName(options.roots[0] ?? '/'),
    type: 'directory',
    mode: 0o755,
    uid: 0,
    gid: 0,
    size: 0,
    mtime: 0,
    linkName: '',
    devMajor: 0,
    devMinor: 0,
    flag: '',
  };
  return keep([{ header, body: noBody }], (name) => name, [], options);
}

export interface RootArchive {
  readonly root: string;
  readonly archive: AsyncIterable<Buffer>;
}

/**
 * The archives of those roots that exist in a container, each to be read before the next is asked for: the engine
 * locks the container until an archive is read (20.10), and two that are open at once wait for each other.
 */
export async function* archivesOf(
  container: ContainerHandle,
  roots: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<RootArchive> {
  for (const root of roots) {
    const archive = await container.getArchive(root, signal);
    if (archive) yield { root, archive };
  }
}

/** What an engine's archives of each root hold. */
export function submissionFromArchives(
  archives: AsyncIterable<RootArchive> | Iterable<RootArchive>,
  options: TakeOptions,
): Promise<Submission> {
  return submissionFromEntries(archiveEntries(archives), options);
}

/** The entries of each root, with their names in the container. */
export async function* archiveEntries(
  archives: AsyncIterable<RootArchive> | Iterable<RootArchive>,
): AsyncGenerator<TarEntry> {
  for await (const { root, archive } of archives) yield* movedTo(root, readTar(archive));
}

/** Entries that already have their names in the container. */
export function submissionFromEntries(
  entries: AsyncIterable<TarEntry>,
  options: TakeOptions,
): Promise<Submission> {
  return keep(entries, (name) => name, [], options);
}

/** An engine's archive names its entries from the last part of its folder on; here from the container's root on. */
export async function* movedTo(folder: string, entries: AsyncIterable<TarEntry>): AsyncGenerator<TarEntry> {
  const [first, target] = [toBinary(path.posix.basename(folder)), rootName(folder)];
  const move = (name: string): string =>
    name === first || name.startsWith(`${first}/`) ? `${target}${name.slice(first.length)}` : name;
  for await (const { header, body } of entries)
    yield {
      header: {
        ...header,
        name: move(header.name),
        linkName: header.type === 'hardlink' ? move(header.linkName) : header.linkName,
      },
      body,
    };
}

/** The kept submission's entries, to be put into a container. */
export async function* readSubmission(submission: Submission): AsyncGenerator<TarEntry> {
  yield* readTar(await openTar(submission.file));
}

/** `/srv/app` as an archive name, in bytes. */
export function rootName(root: string): string {
  return toBinary(root.replace(/^\/+/, ''));
}

async function keep(
  source: AsyncIterable<TarEntry> | Iterable<TarEntry>,
  renameEntry: (name: string) => string | undefined,
  skipped: string[],
  options: TakeOptions,
): Promise<Submission> {
  const entries: TarHeader[] = [];
  const hash = createHash('sha256');
  let bytes = 0;
  const normal = normaliseEntries(toAsync(source), {
    roots: options.roots.map((root) => root.replace(/^\/+/, '')),
    rename: (name) => {
      const renamed = renameEntry(name);
      return renamed !== undefined && options.exclude?.(fromBinary(renamed)) ? undefined : renamed;
    },
    onSkipped: (name, what) => skipped.push(`${fromBinary(name)} (${what})`),
  });
  async function* recorded(): AsyncGenerator<TarEntry> {
    for await (const entry of normal) {
      throwIfCancelled(options.signal);
      entries.push(entry.header);
      yield entry;
    }
  }
  const temp = path.join(options.dir, '.submission.tmp');
  // Opened first: a stream that is destroyed while it opens its file may still make it afterwards.
  const sink = (await open(temp, 'w')).createWriteStream();
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of coalesce(writeTar(recorded()))) {
      hash.update(chunk);
      bytes += chunk.length;
      refuseBomb(entries.at(-1)?.name ?? '', bytes, sink.bytesWritten);
      if (options.tee) await options.tee.write(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(Readable.from(hashed(), { objectMode: false }), createGzip({ level: gzipLevel }), sink, {
      signal: options.signal,
    });
  } catch (error) {
    await rm(temp, { force: true });
    if (error instanceof FolderChangedError)
      throw new NotGradedError('submission-changed', error.message, { cause: error });
    throw error;
  }
  const file = path.join(options.dir, 'submission.tar.gz');
  await rename(temp, file);
  return { file, sha256: hash.digest('hex'), bytes, entries, skipped };
}

function unreadable(file: string, error: unknown): NotGradedError | undefined {
  if (!(error instanceof TarFormatError) && !errorCode(error)?.startsWith('Z_')) return undefined;
  return new NotGradedError(
    'submission-unreadable',
    `"${path.basename(file)}" cannot be read as a tar: ${(error as Error).message}`,
    { cause: error, nextStep: 'Give a folder, or a whole .tar or .tar.gz file of one.' },
  );
}

/** Where a user's tar puts the workdir; decided over all names, so that both layouts work. */
function layoutOf(
  names: readonly string[],
  roots: readonly string[],
): { readonly rename: (name: string) => string; readonly wrappedIn?: string } {
  const workdir = rootName(roots[0] ?? '/');
  const base = toBinary(path.posix.basename(roots[0] ?? '/'));
  const all = (test: (name: string) => boolean): boolean => names.every(test);
  // "tar -C workspace ." has the workspace itself as an entry, whatever its only folder is called.
  const content = { rename: (name: string) => `${workdir}/${name}` };
  if (names.includes('.')) return content;
  const below = (root: string) => (name: string) => name === root || name.startsWith(`${root}/`);
  if (all((name) => roots.map(rootName).some((root) => below(root)(name)))) return { rename: (name) => name };
  if (all(below(base))) return { rename: (name) => `${workdir}${name.slice(base.length)}` };
  const first = names[0]?.split('/')[0] ?? '';
  return all(below(first)) && names.length > 1 ? { ...content, wrappedIn: fromBinary(first) } : content;
}

async function listNames(file: string, signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  const amount = new Amount();
  const { size } = await stat(file);
  let bytes = 0;
  for await (const { header, body } of readTar(await openTar(file))) {
    throwIfCancelled(signal);
    amount.add(header);
    for await (const chunk of body) {
      bytes += chunk.length;
      refuseBomb(header.name, bytes, size);
      throwIfCancelled(signal);
    }
    const name = header.name
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/');
    names.push(name || '.');
  }
  return names.every((name) => name === '.') ? [] : names;
}

async function openTar(file: string): Promise<AsyncIterable<Buffer>> {
  const handle = await open(file, 'r');
  const magic = Buffer.alloc(2);
  try {
    await handle.read(magic, 0, 2, 0);
  } finally {
    await handle.close();
  }
  const raw = createReadStream(file, { highWaterMark: 262_144 });
  if (magic[0] !== 0x1f || magic[1] !== 0x8b) return raw;
  const unzipped = createGunzip();
  raw.on('error', (error) => unzipped.destroy(error));
  unzipped.on('close', () => raw.destroy());
  return raw.pipe(unzipped);
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}

async function* toAsync<T>(source: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
  yield* source;
}
