import { constants, type PathLike } from 'node:fs';
import {
  chmod,
  type FileHandle,
  link,
  lstat,
  lutimes,
  mkdir,
  open,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import path from 'node:path';
import { errorCode, UserError } from '#core/base/errors.ts';
import type { Mark } from '#core/report/types.ts';
import { type ArchiveEntry, type ArchiveHeader, fromBytes } from './archive.ts';
import { Losses } from './losses.ts';

/** What lies where after unpacking: names below the folder, as bytes. */
export type Unpacked = ReadonlyMap<string, 'file' | 'directory' | 'symlink'>;

/** Codes with which a host says that it cannot hold a name or kind of entry. */
const unable = [
  'EILSEQ',
  'EINVAL',
  'ENAMETOOLONG',
  'EPERM',
  'ENOSYS',
  'ENOTSUP',
  'ENOENT',
  'EMLINK',
  'EXDEV',
];
const isWindows = process.platform === 'win32';
/** Characters that Windows allows in no name. */
const oddOnWindows = /[<>:"|?*\\]|[. ]$/;

/**
 * Unpacks entries into a folder that is there and empty. Nothing is ever written through a link: every parent is a
 * folder that was made here (looked at again by lstat), files are made by O_EXCL and O_NOFOLLOW. Set-user-ID bits are
 * not put on a host, owners become the running user's; that and all else that is lost is returned as marks.
 */
export async function unpackEntries(
  folder: string,
  entries: AsyncIterable<ArchiveEntry>,
): Promise<{ readonly unpacked: Unpacked; readonly losses: readonly Mark[] }> {
  const unpacker = new Unpacker(folder);
  for await (const entry of entries) await unpacker.add(entry);
  await unpacker.finish();
  return { unpacked: unpacker.kinds, losses: unpacker.losses.marks() };
}

class Unpacker {
  readonly kinds = new Map<string, 'file' | 'directory' | 'symlink'>();
  readonly losses = new Losses();
  readonly #folder: Buffer;
  readonly #folders = new Map<string, ArchiveHeader>();
  #looked: string | undefined;

  constructor(folder: string) {
    this.#folder = Buffer.from(path.resolve(folder));
  }

  async add({ header, body }: ArchiveEntry): Promise<void> {
    const { name } = header;
    checkName(name);
    if (isWindows && name.split('/').some((part) => oddOnWindows.test(part)))
      return this.losses.add('name-not-held', name);
    if (header.uid !== (process.getuid?.() ?? 0) || header.gid !== (process.getgid?.() ?? 0))
      this.losses.add('owner-lost', name);
    try {
      await this.#prepareParents(name);
      await this.#write(header, body);
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (code === 'EEXIST') return this.losses.add('name-taken', name);
      if (!unable.includes(code)) throw error;
      this.losses.add('name-not-held', name);
    }
  }

  /** Modes and times of folders come last: a read-only one could not be filled, and filling changes its time. */
  async finish(): Promise<void> {
    for (const [name, header] of [...this.#folders].reverse()) {
      const place = this.#place(name);
      if (!(await lstat(place)).isDirectory()) throw refused(name, 'it is no folder any more');
      await chmod(place, this.#hostMode(header, 0o700));
      await utimes(place, header.mtime, header.mtime);
    }
  }

  async #write(header: ArchiveHeader, body: AsyncIterable<Uint8Array>): Promise<void> {
    const { name } = header;
    const place = this.#place(name);
    const earlier = this.kinds.get(name);
    switch (header.type) {
      case 'directory':
        if (earlier !== undefined && earlier !== 'directory')
          throw refused(name, `it was a ${earlier} before`);
        if (earlier === undefined) await mkdir(place, { mode: 0o700 });
        this.kinds.set(name, 'directory');
        this.#folders.set(name, header);
        return;
      case 'file': {
        await this.#makeRoom(name, place);
        const handle = await createFile(place);
        try {
          for await (const chunk of body) await handle.writeFile(chunk);
          await handle.chmod(this.#hostMode(header, 0o400));
          await handle.utimes(header.mtime, header.mtime);
        } finally {
          await handle.close();
        }
        this.kinds.set(name, 'file');
        return;
      }
      case 'symlink':
        await this.#makeRoom(name, place);
        await symlink(Buffer.from(header.linkName, 'latin1'), place);
        await lutimes(place, header.mtime, header.mtime);
        this.kinds.set(name, 'symlink');
        return;
      case 'hardlink':
        if (this.kinds.get(header.linkName) !== 'file') return this.losses.add('link-target-missing', name);
        await this.#makeRoom(name, place);
        await link(this.#place(header.linkName), place);
        this.kinds.set(name, 'file');
        return;
      default:
        this.losses.add('not-a-file', `${name} (${header.type})`);
    }
  }

  /** A name that comes twice in an archive counts as it was last. */
  async #makeRoom(name: string, place: PathLike): Promise<void> {
    const earlier = this.kinds.get(name);
    if (earlier === undefined) return;
    if (earlier === 'directory') throw refused(name, 'it was a folder before');
    await unlink(place);
    this.kinds.delete(name);
  }

  async #prepareParents(name: string): Promise<void> {
    const parent = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    if (parent === this.#looked) return;
    const parts = parent === '' ? [] : parent.split('/');
    for (let depth = 1; depth <= parts.length; depth++) {
      const ancestor = parts.slice(0, depth).join('/');
      const kind = this.kinds.get(ancestor);
      if (kind !== undefined && kind !== 'directory') throw refused(name, `its parent is a ${kind}`);
      if (kind === undefined) {
        await mkdir(this.#place(ancestor), { mode: 0o755 });
        this.kinds.set(ancestor, 'directory');
      } else if (!(await lstat(this.#place(ancestor))).isDirectory()) {
        throw refused(name, 'its parent is no folder any more');
      }
    }
    this.#looked = parent;
  }

  /** Never set-user-ID or set-group-ID on a host; the owner must be able to look in and to remove it. */
  #hostMode({ mode, name }: ArchiveHeader, owner: number): number {
    if (mode & 0o6000) this.losses.add('setuid-dropped', name);
    const plain = mode & 0o1777;
    if (process.getuid?.() === 0 || (plain & owner) === owner) return plain;
    this.losses.add('mode-widened', name);
    return plain | owner;
  }

  #place(name: string): PathLike {
    if (isWindows) return path.join(this.#folder.toString(), ...fromBytes(name).split('/'));
    return Buffer.concat([this.#folder, Buffer.from(`/${name}`, 'latin1')]);
  }
}

function createFile(place: PathLike): Promise<FileHandle> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants;
  return open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}

/** The archive was made safe when it was taken; this room trusts nobody's word for that. */
function checkName(name: string): void {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..') || name.includes('\0'))
    throw refused(name, 'its name is not plain');
}

function refused(name: string, why: string): UserError {
  return new UserError(`The entry "${fromBytes(name).slice(0, 200)}" is not unpacked: ${why}.`, {
    nextStep: 'Remove the entry from the submission and take it again.',
  });
}
