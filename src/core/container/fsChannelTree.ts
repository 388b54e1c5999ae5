import { FsError } from './fsChannelErrors.ts';
import { tempPrefix } from './fsScript.ts';

export type FsTreeKind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'char' | 'block' | 'other';

/** A path itself, never what a link leads to. */
export interface FsTreeEntry {
  /** Absolute; binary string. */
  readonly path: string;
  readonly kind: FsTreeKind;
  /** Permission bits, setuid, setgid and sticky included (0o7777). */
  readonly mode: number;
  readonly size: number;
  readonly inode: string;
  /** How many names it has. */
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  /** Whole seconds since the epoch. */
  readonly mtime: number;
  /** Milliseconds, of the last change of content, owner or mode: nobody inside can set it. */
  readonly ctimeMs: number;
  /** Equal as long as size, inode and both times are. */
  readonly stamp: string;
  /** Of a link, binary string; undefined where it must be asked for (`readLink`). */
  readonly target?: string;
}

export interface FsTree {
  /** When the listing began, by the container's clock; milliseconds. */
  readonly startMs: number;
  readonly entries: readonly FsTreeEntry[];
  /** What could not be looked at, as the tool said it; what went away meanwhile is none. */
  readonly errors: readonly string[];
}

/** find's letters. */
const letters: Readonly<Record<string, FsTreeKind>> = {
  f: 'file',
  d: 'directory',
  l: 'symlink',
  p: 'fifo',
  s: 'socket',
  c: 'char',
  b: 'block',
};
/** By the mode's type bits (inode(7)), without the zeros. */
const kinds: Readonly<Record<number, FsTreeKind>> = {
  8: 'file',
  4: 'directory',
  10: 'symlink',
  1: 'fifo',
  12: 'socket',
  2: 'char',
  6: 'block',
};

/**
 * The reply to `tree`: a line `how start`, the records, and at the end `//= code`, with what was said about failures.
 * Errors: `FsError`, where the listing was broken off too.
 */
export function parseTree(output: Buffer, root: string): FsTree {
  const text = output.toString('latin1');
  const [how, seconds, nanos = '0'] = /^([pew]) (\d+)(?:\.(\d+))?.*\n/.exec(text)?.slice(1) ?? [];
  const body = text.slice(text.indexOf('\n') + 1);
  const { records, end } = how === 'p' ? splitAtNuls(body) : splitAtSlashes(body);
  const [, code, said = ''] = /^\/\/= (\d+) (.*)$/s.exec(end) ?? [];
  // find says 1 when it could not look at something, 126 and more when it was killed itself.
  if (seconds === undefined || code === undefined || Number(code) >= 126)
    throw new FsError('other', root, 'The listing was broken off.');
  const entries = records
    .map(how === 'p' ? parseFindRecord : parseStatRecord)
    .filter((entry): entry is FsTreeEntry => entry !== undefined && !entry.path.includes(`/${tempPrefix}`));
  if (entries.length === 0) throw new FsError('not-found', root, 'No such file or directory');
  const errors = said.split('\n').filter((line) => line && !line.endsWith('No such file or directory'));
  return { startMs: Number(seconds) * 1e3 + Number(`0.${nanos}`) * 1e3, entries, errors };
}

/** `record\0target\0` each. */
function splitAtNuls(body: string): { records: [string, string][]; end: string } {
  const parts = body.split('\0');
  const records: [string, string][] = [];
  for (let at = 0; at + 1 < parts.length; at += 2)
    records.push([parts[at] as string, parts[at + 1] as string]);
  return { records, end: parts.length % 2 === 1 ? (parts.at(-1) ?? '') : '' };
}

/** `//record\n` each; a path holds no `//`, so a newline in a name ends no record. */
function splitAtSlashes(body: string): { records: [string, string][]; end: string } {
  const at = body.startsWith('//= ') ? 0 : body.indexOf('\n//= ') + 1;
  if (at === 0 && !body.startsWith('//= ')) return { records: [], end: '' };
  const records = body
    .slice(0, Math.max(0, at - 1))
    .split(/(?:^|\n)\/\//)
    .filter(Boolean)
    .map((record): [string, string] => [record, '']);
  return { records, end: body.slice(at) };
}

function parseFindRecord([record, target]: [string, string]): FsTreeEntry | undefined {
  const match = /^(\S) ([0-7]+) (\d+) (\d+) (\d+) (\d+) (\d+) (-?[\d.]+) (-?[\d.]+) (\/.*)$/s.exec(record);
  if (!match) return undefined;
  const [, letter, mode, size, inode, links, uid, gid, mtime, ctime, path] = match as unknown as string[];
  const kind = letters[letter as string] ?? 'other';
  return {
    path: path as string,
    kind,
    mode: Number.parseInt(mode as string, 8),
    size: Number(size),
    inode: inode as string,
    links: Number(links),
    uid: Number(uid),
    gid: Number(gid),
    mtime: wholeSeconds(mtime as string),
    ctimeMs: Number(ctime) * 1e3,
    stamp: `${size} ${inode} ${mtime} ${ctime}`,
    ...(kind === 'symlink' ? { target: target as string } : {}),
  };
}

/** Rounded down, as a tar has it; by its text, for a number cannot tell .9999999999 from the next second. */
function wholeSeconds(time: string): number {
  const [whole = '0', fraction = '0'] = time.split('.');
  return Number(whole) - (whole.startsWith('-') && Number(fraction) > 0 ? 1 : 0);
}

function parseStatRecord([record]: [string, string]): FsTreeEntry | undefined {
  const match =
    /^([0-9a-f]+) (\d+) (\d+) (\d+) (\d+) (\d+) (-?\d+) (\S+ \d\d:\d\d:\d\d[.\d]* \S+) (\/.*)$/s.exec(record);
  if (!match) return undefined;
  const [, hex, size, inode, links, uid, gid, mtime, ctime, path] = match as unknown as string[];
  const raw = Number.parseInt(hex as string, 16);
  const kind = kinds[raw >> 12] ?? 'other';
  return {
    path: path as string,
    kind,
    mode: raw & 0o7777,
    size: Number(size),
    inode: inode as string,
    links: Number(links),
    uid: Number(uid),
    gid: Number(gid),
    mtime: Number(mtime),
    ctimeMs: Date.parse((ctime as string).replace(/(\.\d{3})\d*/, '$1')),
    stamp: `${size} ${inode} ${mtime} ${ctime}`,
  };
}
