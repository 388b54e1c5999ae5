import { throwIfCancelled } from '#core/base/errors.ts';
import type { FsChannel } from '#core/container/fsChannel.ts';
import { FsError } from '#core/container/fsChannelErrors.ts';
import type { FsTree, FsTreeEntry } from '#core/container/fsChannelTree.ts';
import { keptTime, toBinary } from '#core/container/tarHeader.ts';
import { type ReadResult, readFiles } from './readFiles.ts';
import { type KnownFile, StampIndex } from './stampIndex.ts';
import type { SnapshotStore, TakenSnapshot, TakenTree } from './store.ts';
import type { SkippedPath, SnapshotEntry, SnapshotReason } from './types.ts';
import { compareBytes } from './view.ts';
import type { BlobWriter } from './writer.ts';

/** Larger files are listed as skipped, and the snapshot is for viewing only. */
export const maxFileBytes = 256 << 20;
/** Two writes in one tick of the kernel's clock leave the same stamp (fs-channel.md §3). */
const tickMs = 20;
/** What two ways of reading the same time may differ in. */
const roundingMs = 0.002;
const fewFiles = 200;
/** How often a file that keeps changing is read. */
const maxRounds = 3;

/** A file of one root on its way into a snapshot. */
interface Found {
  readonly root: string;
  entry: FsTreeEntry;
}

/**
 * Snapshots by the container's own tools while it runs: one listing, and only what changed since the last one is read
 * (by size, times and inode; nobody inside can set the ctime). Over a channel of its own, so that nobody waits for it.
 */
export class ChannelTaker {
  readonly #store: SnapshotStore;
  readonly #files: FsChannel;
  readonly #roots: readonly string[];
  readonly #maxBytes: number;
  readonly #index: StampIndex;

  constructor(
    store: SnapshotStore,
    files: FsChannel,
    options: { readonly roots: readonly string[]; readonly maxFileBytes?: number },
  ) {
    this.#store = store;
    this.#files = files;
    this.#roots = options.roots;
    this.#maxBytes = options.maxFileBytes ?? maxFileBytes;
    this.#index = new StampIndex(store.dir);
  }

  /** True where not all files have to be read: not for the first one of a workspace. */
  async isQuick(): Promise<boolean> {
    return (await this.#index.load()).size > 0;
  }

  /**
   * One bad file spoils nothing: it is listed as skipped. Errors: `FsError` where the container or its listing cannot be
   * had; `CancelledError`; those of the disk. Nothing is kept then. `startMs`: when it began, by the container's clock.
   */
  async take(
    reason: SnapshotReason,
    signal?: AbortSignal,
  ): Promise<TakenSnapshot & { readonly startMs: number }> {
    let startMs = Number.POSITIVE_INFINITY;
    let known: Map<string, KnownFile> | undefined;
    const taken = await this.#store.take(
      { reason, source: 'container', roots: this.#roots },
      async (writer) => {
        const tree = await this.#tree(writer, signal);
        ({ known, startMs } = tree);
        return tree;
      },
    );
    if (known) await this.#index.replace(known);
    return { ...taken, startMs };
  }

  async #tree(
    writer: BlobWriter,
    signal: AbortSignal | undefined,
  ): Promise<TakenTree & { known: Map<string, KnownFile> | undefined; startMs: number }> {
    const index = await this.#index.load();
    const found = new Map<string, Found>();
    const skipped: SkippedPath[] = [];
    /** By root and inode, since a file may have several names. */
    const contents = new Map<string, ReadResult>();
    const racyFrom = new Map<string, number>();
    for (const root of this.#roots) {
      const tree = await this.#list(root, signal);
      if (!tree) continue;
      racyFrom.set(root, tree.startMs - tickMs);
      for (const entry of tree.entries) found.set(entry.path, { root, entry });
      skipped.push(...tree.errors.map((line) => lookFailure(line, root)));
    }
    const wanted: Found[] = [];
    const claimed = new Set<string>();
    for (const file of found.values()) {
      const { entry } = file;
      if (entry.kind !== 'file' || claimed.has(inodeOf(file))) continue;
      claimed.add(inodeOf(file));
      const known = index.get(entry.path);
      if (known && known.stamp === entry.stamp && !known.isRacy && writer.has(known.sha256))
        contents.set(inodeOf(file), { kind: 'content', sha256: known.sha256, size: entry.size });
      else wanted.push(file);
    }
    const unstable = await this.#read(writer, wanted, found, contents, signal);
    const links = await this.#targets([...found.values()], signal);
    const built = build(found, contents, links);
    const known = new Map<string, KnownFile>();
    for (const { root, entry } of found.values()) {
      const content = entry.kind === 'file' ? contents.get(`${root}\0${entry.inode}`) : undefined;
      if (content?.kind !== 'content' || unstable.has(entry.path)) continue;
      const isRacy = entry.ctimeMs >= (racyFrom.get(root) ?? 0);
      known.set(entry.path, { stamp: entry.stamp, sha256: content.sha256, isRacy });
    }
    return {
      entries: built.entries,
      skipped: [...skipped, ...built.skipped],
      unstable: built.entries.map(({ name }) => name).filter((name) => unstable.has(`/${name}`)),
      startMs: Math.min(...racyFrom.values()) + tickMs,
      known: wanted.length === 0 && known.size === index.size ? undefined : known,
    };
  }

  /** Reads files until their stamps before and after agree; the result is the paths of those that never did. */
  async #read(
    writer: BlobWriter,
    wanted: readonly Found[],
    found: Map<string, Found>,
    contents: Map<string, ReadResult>,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlySet<string>> {
    let left: readonly Found[] = wanted;
    for (let round = 0; left.length > 0 && round < maxRounds; round++) {
      throwIfCancelled(signal);
      const small: Found[] = [];
      for (const file of left) {
        if (file.entry.size <= this.#maxBytes) small.push(file);
        else contents.set(inodeOf(file), tooLarge(file.entry.size, this.#maxBytes));
      }
      const byEntry = new Map(small.map((file) => [file.entry, file]));
      const options = { maxBytes: this.#maxBytes, alone: round > 0, signal };
      const batches = await readFiles(this.#files, writer, [...byEntry.keys()], options);
      const now = await this.#lookAgain(small, signal);
      const again: Found[] = [];
      for (const batch of batches) {
        const isCertain = [...batch.keys()].every(({ path, stamp }) => now.get(path)?.stamp === stamp);
        for (const [entry, result] of batch) {
          const file = byEntry.get(entry) as Found;
          contents.set(inodeOf(file), result);
          const current = now.get(entry.path);
          if (!current) found.delete(entry.path);
          else file.entry = current;
          if (current?.kind !== 'file') continue;
          // The name may lead to another file by now.
          contents.set(inodeOf(file), result);
          if (!isCertain) again.push(file);
        }
      }
      left = again;
    }
    return new Set(left.map(({ entry }) => entry.path));
  }

  async #lookAgain(
    files: readonly Found[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, FsTreeEntry>> {
    if (await this.#areUnchanged(files, signal))
      return new Map(files.map(({ entry }): [string, FsTreeEntry] => [entry.path, entry]));
    const now = new Map<string, FsTreeEntry>();
    for (const root of new Set(files.map(({ root }) => root)))
      for (const entry of (await this.#list(root, signal))?.entries ?? []) now.set(entry.path, entry);
    return now;
  }

  /** Of a few files, which is cheaper to see than by another listing; false where it is not certain. */
  async #areUnchanged(files: readonly Found[], signal: AbortSignal | undefined): Promise<boolean> {
    if (files.length > fewFiles) return false;
    const stats = await this.#files.statMany(
      files.map(({ entry }) => entry.path),
      { signal },
    );
    return files.every(({ entry }, index) => {
      const stat = stats[index];
      return (
        stat?.kind === 'file' &&
        !stat.symbolicLink &&
        stat.size === entry.size &&
        stat.inode === Number(entry.inode) &&
        // busybox's stat knows whole seconds only.
        stat.ctimeMs % 1_000 !== 0 &&
        Math.abs(stat.ctimeMs - entry.ctimeMs) < roundingMs
      );
    });
  }

  async #list(root: string, signal: AbortSignal | undefined): Promise<FsTree | undefined> {
    try {
      return await this.#files.listTree(toBinary(root), { signal });
    } catch (error) {
      if (error instanceof FsError && error.failure === 'not-found') return undefined;
      throw error;
    }
  }

  /** Of links whose target the listing does not have. */
  async #targets(
    found: readonly Found[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, string | undefined>> {
    const links = found
      .map(({ entry }) => entry)
      .filter(({ kind, target }) => kind === 'symlink' && target === undefined);
    const targets = await Promise.all(
      links.map(async ({ path }): Promise<[string, string | undefined]> => {
        try {
          return [path, await this.#files.readLink(path, { signal })];
        } catch (error) {
          if (!(error instanceof FsError) || error.failure === 'unavailable') throw error;
          return [path, undefined];
        }
      }),
    );
    return new Map(targets);
  }
}

/** In the order of the engine's archives: root by root, a folder before what is in it, names by their bytes. */
function build(
  found: ReadonlyMap<string, Found>,
  contents: ReadonlyMap<string, ReadResult>,
  links: ReadonlyMap<string, string | undefined>,
): { readonly entries: SnapshotEntry[]; readonly skipped: SkippedPath[] } {
  const entries: SnapshotEntry[] = [];
  const skipped: SkippedPath[] = [];
  const first = new Map<string, string>();
  const roots = [...new Set([...found.values()].map(({ root }) => root))];
  const sorted = [...found.values()]
    .map((file) => ({ file, order: roots.indexOf(file.root), key: file.entry.path.replaceAll('/', '\0') }))
    .sort((a, b) => a.order - b.order || compareBytes(a.key, b.key));
  for (const { file } of sorted) {
    const { kind, path, mode, uid, gid, mtime, target } = file.entry;
    const name = path.slice(1);
    const plain = { name, mode, uid, gid, mtime: keptTime(mtime), size: 0, linkName: '', sha256: '' };
    const skip = (what: SkippedPath['what'], detail: string): void =>
      void skipped.push({ name, what, detail });
    if (kind === 'directory') entries.push({ ...plain, type: kind });
    else if (kind === 'symlink') {
      const linkName = target ?? links.get(path);
      if (linkName !== undefined) entries.push({ ...plain, type: kind, linkName });
    } else if (kind === 'file') {
      const content = contents.get(inodeOf(file));
      const linkName = first.get(inodeOf(file));
      if (linkName !== undefined) entries.push({ ...plain, type: 'hardlink', linkName });
      else if (content?.kind === 'content') {
        const { sha256, size } = content;
        entries.push({ ...plain, type: kind, sha256, size });
        if (file.entry.links > 1) first.set(inodeOf(file), name);
      } else if (content?.kind === 'skipped') skip(content.what, content.detail);
      else skip('unreadable', 'it was replaced while it was read');
    } else skip(kind === 'other' ? 'other' : 'special', kind);
  }
  return { entries, skipped };
}

function inodeOf({ root, entry }: Found): string {
  return `${root}\0${entry.inode}`;
}

function tooLarge(size: number, maxBytes: number): ReadResult {
  return { kind: 'skipped', what: 'too-large', detail: `${size} bytes, more than ${maxBytes}` };
}

/** `find: '/app/secret': Permission denied` */
function lookFailure(line: string, root: string): SkippedPath {
  const [, path = root, detail = line] = /^\S+: [‘'"]?(\/.*?)['’"]?: ([^:]*)$/s.exec(line) ?? [];
  return { name: path.slice(1), what: 'unreadable', detail };
}
