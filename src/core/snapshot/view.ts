import { UserError } from '#core/base/errors.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import type { SnapshotStore } from './store.ts';
import type { SnapshotEntry, SnapshotHead } from './types.ts';

/** A read-only look at a snapshot. Paths are absolute container paths as binary strings. */
export class SnapshotView {
  readonly head: SnapshotHead;
  readonly #store: SnapshotStore;
  readonly #entries = new Map<string, SnapshotEntry>();
  /** Names in each folder, those above the roots too. */
  readonly #folders = new Map<string, Set<string>>([['', new Set()]]);

  private constructor(store: SnapshotStore, head: SnapshotHead, entries: readonly SnapshotEntry[]) {
    this.#store = store;
    this.head = head;
    for (const entry of entries) {
      this.#entries.set(entry.name, entry);
      if (entry.type === 'directory') this.#folder(entry.name);
      else this.#enter(entry.name);
    }
  }

  /** Errors: `SnapshotDamagedError`. */
  static async open(store: SnapshotStore, head: SnapshotHead): Promise<SnapshotView> {
    return new SnapshotView(store, head, await store.entries(head));
  }

  /** A hard link as the file that it is; undefined where there is nothing, and for folders above the roots. */
  entry(path: string): SnapshotEntry | undefined {
    const entry = this.#entries.get(nameOf(path));
    return entry && this.#resolved(entry);
  }

  /** Everything in it, in the order of an archive; hard links as the files that they are. */
  list(): readonly SnapshotEntry[] {
    return [...this.#entries.values()].map((entry) => this.#resolved(entry));
  }

  isFolder(path: string): boolean {
    return this.#folders.has(nameOf(path));
  }

  /** Names in a folder, sorted by bytes. Errors: `UserError` where it is none. */
  listFolder(path: string): readonly string[] {
    const names = this.#folders.get(nameOf(path));
    if (!names) throw this.#absent(path, this.entry(path) ? 'is no folder' : 'is not there');
    return [...names].sort(compareBytes);
  }

  /** Of a link its target's text is not followed. Errors: `UserError` where it is no file; `SnapshotDamagedError`. */
  readFile(path: string): Promise<Buffer> {
    return this.#store.blobs.read(this.#file(path).sha256);
  }

  readStream(path: string): AsyncGenerator<Buffer> {
    return this.#store.blobs.stream(this.#file(path).sha256);
  }

  #file(path: string): SnapshotEntry {
    const entry = this.entry(path);
    if (entry?.type === 'file') return entry;
    throw this.#absent(path, entry || this.isFolder(path) ? 'is no file' : 'is not there');
  }

  #resolved(entry: SnapshotEntry): SnapshotEntry {
    let found: SnapshotEntry | undefined = entry;
    while (found?.type === 'hardlink') found = this.#entries.get(found.linkName);
    return found ? { ...found, name: entry.name } : entry;
  }

  #folder(name: string): Set<string> {
    const known = this.#folders.get(name);
    if (known) return known;
    const made = new Set<string>();
    this.#folders.set(name, made);
    this.#enter(name);
    return made;
  }

  #enter(name: string): void {
    const slash = name.lastIndexOf('/');
    this.#folder(slash < 0 ? '' : name.slice(0, slash)).add(name.slice(slash + 1));
  }

  #absent(path: string, why: string): UserError {
    return new UserError(`/${fromBinary(nameOf(path))} ${why} in the snapshot ${this.head.id}.`);
  }
}

export function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function nameOf(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
