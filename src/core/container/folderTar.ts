import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { errorCode, throwIfCancelled, UserError } from '#core/base/errors.ts';
import { fromBinary, type TarHeader } from './tarHeader.ts';
import { noBody, type TarEntry } from './tarStream.ts';

/** A file that changed, vanished or appeared while the folder was read: the copy would be of no single moment. */
export class FolderChangedError extends Error {
  override readonly name = 'FolderChangedError';
}

export interface WalkOptions {
  /** Where the folder's content goes in the archive, as bytes, without slashes at the ends; `''` for the root. */
  readonly prefix: string;
  /** Include an entry for the folder itself (when there is a prefix). */
  readonly includeRoot?: boolean;
  /** Leave an entry out (and, for a folder, all below it); the path is relative, as bytes. */
  readonly exclude?: (relative: string, isFolder: boolean) => boolean;
  /** Told of sockets, FIFOs and devices, which are not copied. */
  readonly onSkipped?: (relative: string, what: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Walks a folder of the host as tar entries, sorted by bytes, system-faithful: names as bytes, modes, owners, times
 * to the second, symbolic links as links (never followed), hard links as links, empty folders.
 * Errors: `FolderChangedError`; `UserError` for a file that cannot be read.
 */
export async function* walkFolder(root: string, options: WalkOptions): AsyncGenerator<TarEntry> {
  const links = new Map<string, string>();
  const rootBytes = Buffer.from(path.resolve(root));
  // The folder itself may be given by a link.
  const rootStats = guarded('', () => statSync(rootBytes, { bigint: true }));
  if (options.includeRoot && options.prefix)
    yield { header: headerOf(options.prefix, 'directory', rootStats), body: noBody };
  yield* walk(rootBytes, '', rootStats);

  async function* walk(folder: Buffer, relative: string, listed: BigIntStats): AsyncGenerator<TarEntry> {
    throwIfCancelled(options.signal);
    const names = guarded(relative, () => readdirSync(folder, { encoding: 'buffer' })).sort(Buffer.compare);
    for (const nameBytes of names) {
      const name = nameBytes.toString('latin1');
      const childRelative = relative ? `${relative}/${name}` : name;
      const child = Buffer.concat([folder, Buffer.from('/'), nameBytes]);
      const stats = guarded(childRelative, () => lstatSync(child, { bigint: true }));
      if (options.exclude?.(childRelative, stats.isDirectory())) continue;
      const target = options.prefix ? `${options.prefix}/${childRelative}` : childRelative;
      if (stats.isDirectory()) {
        yield { header: headerOf(target, 'directory', stats), body: noBody };
        yield* walk(child, childRelative, stats);
      } else if (stats.isSymbolicLink()) {
        const link = guarded(childRelative, () => readlinkSync(child, { encoding: 'buffer' }));
        yield {
          header: { ...headerOf(target, 'symlink', stats), linkName: link.toString('latin1') },
          body: noBody,
        };
      } else if (stats.isFile()) {
        const key = `${stats.dev}:${stats.ino}`;
        const first = stats.nlink > 1n ? links.get(key) : undefined;
        if (first !== undefined) {
          yield { header: { ...headerOf(target, 'hardlink', stats), linkName: first }, body: noBody };
          continue;
        }
        if (stats.nlink > 1n) links.set(key, target);
        yield {
          header: { ...headerOf(target, 'file', stats), size: Number(stats.size) },
          body: fileBody(child, childRelative, stats),
        };
      } else {
        options.onSkipped?.(childRelative, kindOf(stats));
      }
    }
    const now = guarded(relative, () => statSync(folder, { bigint: true }));
    if (now.mtimeNs !== listed.mtimeNs || now.ino !== listed.ino) throw changed(relative);
  }
}

const chunkBytes = 262_144;

function readAsync(descriptor: number, chunk: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, chunk, 0, chunk.length, null, (error, size) => (error ? reject(error) : resolve(size)));
  });
}

/** What was listed as a file is opened as one: a link or FIFO that took its place is neither followed nor waited for. */
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Streams one file, and says so when it is not the file that was listed. Small files are read in one go: five trips
 * through the thread pool a file are most of the time that a folder of thousands takes.
 */
async function* fileBody(file: Buffer, relative: string, listed: BigIntStats): AsyncGenerator<Buffer> {
  const check = (now: BigIntStats): void => {
    if (now.size !== listed.size || now.mtimeNs !== listed.mtimeNs || now.ino !== listed.ino)
      throw changed(relative);
  };
  const descriptor = guarded(relative, () => openSync(file, openFlags));
  try {
    for (let left = Number(listed.size); left > 0; ) {
      const chunk = Buffer.allocUnsafe(Math.min(left, chunkBytes));
      const size =
        listed.size <= chunkBytes ? readSync(descriptor, chunk) : await readAsync(descriptor, chunk);
      if (size === 0) throw changed(relative);
      left -= size;
      yield chunk.subarray(0, size);
    }
    check(fstatSync(descriptor, { bigint: true }));
  } finally {
    closeSync(descriptor);
  }
}

function guarded<T>(relative: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') throw changed(relative);
    if (code === 'ENAMETOOLONG') {
      const start = fromBinary(relative.slice(0, 100));
      throw new UserError(`A path below "${start}…" is too long for this system to read.`, {
        nextStep: 'Make the path shorter, or remove it, and grade again.',
        cause: error,
      });
    }
    if (code === 'EACCES' || code === 'EPERM') {
      throw new UserError(`"${fromBinary(relative) || '.'}" cannot be read.`, {
        nextStep: 'Make it readable for your user, or remove it, and grade again.',
        cause: error,
      });
    }
    throw error;
  }
}

function changed(relative: string): FolderChangedError {
  return new FolderChangedError(`"${fromBinary(relative) || '.'}" changed while it was being read.`);
}

function headerOf(name: string, type: TarHeader['type'], stats: BigIntStats): TarHeader {
  const mode = Number(stats.mode) & 0o7777;
  return {
    name,
    type,
    // Windows knows no modes: what it reports for files is never executable.
    mode: process.platform === 'win32' ? 0o755 : mode,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    size: 0,
    mtime: Number(stats.mtimeNs / 1_000_000_000n),
    linkName: '',
    devMajor: 0,
    devMinor: 0,
    flag: '',
  };
}

function kindOf(stats: BigIntStats): string {
  if (stats.isSocket()) return 'socket';
  if (stats.isFIFO()) return 'FIFO';
  return 'device';
}
