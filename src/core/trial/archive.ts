/** An archive as this room sees it: the entries of a submission's tar, in order, whoever reads them. */

export interface ArchiveHeader {
  /** Container path without the slash in front, as bytes (one character a byte). */
  readonly name: string;
  /** `file`, `directory`, `symlink`, `hardlink`; anything else cannot be kept on a host and is noted. */
  readonly type: string;
  /** Permission bits, setuid, setgid and sticky included (0o7777). */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Whole seconds since the epoch. */
  readonly mtime: number;
  /** Target of a symbolic link, or name of the earlier entry that a hard link repeats; bytes. */
  readonly linkName: string;
}

/** One entry on its way: the body must be read before the next entry is asked for, or it is skipped. */
export interface ArchiveEntry {
  readonly header: ArchiveHeader;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Text as bytes, one character a byte. */
export function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Bytes for people; what is no UTF-8 shows as U+FFFD. */
export function fromBytes(name: string): string {
  return Buffer.from(name, 'latin1').toString('utf8');
}

/** True for a path at or below another one, both without slashes at the ends. */
export function isBelow(name: string, root: string): boolean {
  return root === '' || name === root || name.startsWith(`${root}/`);
}
