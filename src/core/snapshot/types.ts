/** What a snapshot keeps of one path: what a submission keeps of it (design.md §2). */
export interface SnapshotEntry {
  /** Path in the container without the slash in front; bytes as a binary string. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'hardlink';
  /** Permission bits, setuid, setgid and sticky included (0o7777). */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Whole seconds since the epoch. */
  readonly mtime: number;
  /** Bytes of content; 0 for all but files. */
  readonly size: number;
  /** Target of a symbolic link, or the entry before that a hard link is another name of; binary string. */
  readonly linkName: string;
  /** Of a file's content, hexadecimal; empty for all but files. */
  readonly sha256: string;
}

/**
 * `save`, `command` and `activity` are taken while somebody works, by the container's own tools, and are thinned out
 * with time; all others stay.
 */
export type SnapshotReason =
  | 'save'
  | 'command'
  | 'activity'
  | 'grade'
  | 'submit'
  | 'fork'
  | 'reset'
  | 'manual';

/** `engine`: its tar, which nothing inside has a hand in; `container`: what tools inside said. */
export type SnapshotSource = 'engine' | 'container';

/** A path that is in no snapshot although it was there. */
export interface SkippedPath {
  /** Binary string, as an entry's. */
  readonly name: string;
  /**
   * `special`: a socket, FIFO or device, which no submission has either; the others are content that is missing:
   * `too-large` over the cap, `unreadable` the reader was refused, `other` what the archive holds and nobody knows.
   */
  readonly what: 'special' | 'too-large' | 'unreadable' | 'other';
  readonly detail: string;
}

/** `<id>.json`: a snapshot without its entries, which are in its tree. */
export interface SnapshotHead {
  readonly schemaVersion: 1;
  /** Lower-case; later ones sort after earlier ones. */
  readonly id: string;
  /** When it was begun; ISO 8601 UTC. */
  readonly at: string;
  readonly reason: SnapshotReason;
  readonly source: SnapshotSource;
  /** Absolute container paths that it covers, the workdir first. */
  readonly roots: readonly string[];
  /** Content hash of the entries: equal trees have the same. */
  readonly tree: string;
  readonly entries: number;
  /** Of all files' content, before deduplication. */
  readonly bytes: number;
  readonly skipped: readonly SkippedPath[];
  /** Files that changed whenever they were read: their content is of no single moment. */
  readonly unstable: readonly string[];
  readonly durationMs: number;
  /** A grade or a fork refers to it: it stays. */
  readonly isPinned?: true;
}

/** What one snapshot may hold; more is a mistake or an attack. */
export const snapshotCaps = { bytes: 32 * 1024 ** 3, entries: 2_000_000 } as const;

/** True where content is missing: such a snapshot is for looking at, not for restoring. */
export function isViewOnly({ skipped }: Pick<SnapshotHead, 'skipped'>): boolean {
  return skipped.some(({ what }) => what !== 'special');
}

/** True for those that compaction may drop. */
export function isPeriodic({ reason, isPinned }: Pick<SnapshotHead, 'reason' | 'isPinned'>): boolean {
  if (isPinned) return false;
  return reason === 'save' || reason === 'command' || reason === 'activity';
}

/** Something of a snapshot on disk is torn, missing or altered. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError';
  /** The file at fault, relative to the store's folder. */
  readonly file: string;

  constructor(file: string, what: string, options?: { readonly cause?: unknown }) {
    super(`snapshots/${file} ${what}.`, options);
    this.file = file;
  }
}
