import { FsError } from './fsChannelErrors.ts';
import { tempPrefix } from './fsScript.ts';

export type FsKind = 'file' | 'directory' | 'other';

export interface FsEntry {
  /** Bytes as a binary string (`fromBinary` for people). */
  readonly name: string;
  /** Of a symbolic link: its target's; `other` when it leads nowhere. */
  readonly kind: FsKind;
  readonly symbolicLink: boolean;
}

/** Of a symbolic link all but `symbolicLink` is its target's; the link's own when it leads nowhere. */
export interface FsStat {
  readonly kind: FsKind;
  readonly symbolicLink: boolean;
  readonly size: number;
  readonly mtimeMs: number;
  /** Of the last change of content, owner or mode: nobody inside can set it. */
  readonly ctimeMs: number;
  /** Permission bits, setuid, setgid and sticky included (0o7777). */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly inode: number;
}

/** By the mode's type bits (inode(7)), without the zeros. */
const kinds: Readonly<Record<number, FsKind>> = { 8: 'file', 4: 'directory' };

/** One line of `stat -c "$F"`; undefined when it is none. */
export function parseStatLine(line: string, symbolicLink: boolean): FsStat | undefined {
  const match =
    /^([0-9a-f]+) (\d+) (-?[\d.]+) (-?[\d.]+) (\d+) (\d+) (\d+)(?: \S+ \d\d:\d\d:\d\d\.(\d+) \S+)?$/.exec(
      line,
    );
  if (!match) return undefined;
  const [, hex, size, mtime, ctime, inode, uid, gid, nanos] = match as unknown as string[];
  const raw = Number.parseInt(hex as string, 16);
  // Without GNU's `%.9Y` the fraction comes from `%y`, which is of the same moment.
  const fraction = nanos ? Number(`0.${nanos}`) : 0;
  return {
    kind: kinds[raw >> 12] ?? 'other',
    symbolicLink,
    size: Number(size),
    mtimeMs: Math.round((Number(mtime) + fraction) * 1e6) / 1e3,
    ctimeMs: Math.round(Number(ctime) * 1e6) / 1e3,
    mode: raw & 0o7777,
    uid: Number(uid),
    gid: Number(gid),
    inode: Number(inode),
  };
}

/** The reply to `stat`: a line, and a second one of the target where it is a link that leads somewhere. */
export function parseStat(output: Buffer, path: string): FsStat {
  const [first = '', second] = output.toString('latin1').split('\n').filter(Boolean);
  const own = parseStatLine(first, false);
  if (!own) throw new FsError('other', path, 'The container’s stat gave no status.');
  const isLink = Number.parseInt(first, 16) >> 12 === 10;
  if (!isLink) return own;
  return (second && parseStatLine(second, true)) || { ...own, symbolicLink: true };
}

/**
 * The reply to `stat` of many: a character a path, then a line for each that exists. `undefined`: there is none;
 * `again`: ask for it alone.
 */
export function parseStatMany(output: Buffer, count: number): (FsStat | undefined | 'again')[] {
  const [marks = '', ...lines] = output.toString('latin1').trimEnd().split('\n');
  const found = [...marks].filter((mark) => mark === 'e' || mark === 'l').length;
  if (marks.length !== count || lines.length !== found) return new Array(count).fill('again');
  let at = 0;
  return [...marks].map((mark) => {
    if (mark === '-') return undefined;
    if (mark === 'd') return 'again';
    return parseStatLine(lines[at++] ?? '', mark === 'l') ?? 'again';
  });
}

const letters: Readonly<Record<string, FsKind>> = { f: 'file', d: 'directory', u: 'other' };

/** The reply to `list`: `t[l]/name/` each; no name holds a slash. */
export function parseList(output: Buffer): FsEntry[] {
  const entries: FsEntry[] = [];
  const parts = output.toString('latin1').split('/');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [type = '', name = ''] = parts.slice(at, at + 2);
    const kind = letters[type[0] ?? ''];
    if (!kind || !name || name.startsWith(tempPrefix)) continue;
    entries.push({ name, kind, symbolicLink: type[1] === 'l' });
  }
  return entries;
}

/**
 * The reply to `scan`: `//type size inode stamp /path\n` each; a path holds no `//`, so a newline in a name ends no
 * record. The last one tells how the look ended. The result maps paths to what changes when they do; of a folder only
 * that it is one; undefined when the look was broken off and saw only a part.
 */
export function parseScan(output: Buffer, root: string): Map<string, string> | undefined {
  const found = new Map<string, string>();
  const text = output.toString('latin1');
  // find says 1 when a file went away meanwhile, 126 and more when it was killed itself.
  const end = /(?:^|\n)\/\/= (\d+) \/\n$/.exec(text)?.[1];
  if (end === undefined || Number(end) >= 126) return undefined;
  for (let at = text.startsWith('//') ? 0 : -1; at >= 0; ) {
    const next = text.indexOf('\n//', at);
    const record = text.slice(at + 2, next < 0 ? text.length - 1 : next);
    const slash = record.indexOf(' /');
    const path = record.slice(slash + 1);
    if (slash > 0 && path !== root && path !== '/' && !path.includes(`/${tempPrefix}`)) {
      const isFolder = /^(?:d|4[0-9a-f]{3}) /.test(record);
      found.set(path, isFolder ? 'folder' : record.slice(0, slash));
    }
    at = next < 0 ? -1 : next + 1;
  }
  return found;
}
