/**
 * One tar header, byte-faithful: names and link targets are *binary strings* (one character per byte, latin1), since
 * a file name is bytes and need not be UTF-8. Reads ustar, GNU and PAX (POSIX.1-2001, "pax Interchange Format");
 * writes ustar with GNU long names, which every engine reads and which keep any byte.
 */

export type TarType = 'file' | 'hardlink' | 'symlink' | 'char' | 'block' | 'directory' | 'fifo' | 'unknown';

export interface TarHeader {
  /** Path as bytes (binary string), without a trailing slash. */
  readonly name: string;
  readonly type: TarType;
  /** Permission bits, setuid, setgid and sticky included (0o7777). */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Bytes of content; 0 for all but files. */
  readonly size: number;
  /** Whole seconds since the epoch. */
  readonly mtime: number;
  /** Target of a symbolic or hard link, as bytes (binary string). */
  readonly linkName: string;
  readonly devMajor: number;
  readonly devMinor: number;
  /** The type flag as written, for messages about `unknown`. */
  readonly flag: string;
}

export const tarBlock = 512;

const flags: Readonly<Record<string, TarType>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '3': 'char',
  '4': 'block',
  '5': 'directory',
  '6': 'fifo',
};

const flagOf: Readonly<Record<Exclude<TarType, 'unknown'>, string>> = {
  file: '0',
  hardlink: '1',
  symlink: '2',
  char: '3',
  block: '4',
  directory: '5',
  fifo: '6',
};

/** Thrown for bytes that are no tar archive. */
export class TarFormatError extends Error {
  override readonly name = 'TarFormatError';
}

const maxOctal8 = 0o7777777;
const maxOctal12 = 0o77777777777;

/** Bytes of a JavaScript string as a binary string. */
export function toBinary(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A binary string for people: UTF-8 where it is, with `\xNN` for the bytes that are not. */
export function fromBinary(name: string): string {
  const bytes = Buffer.from(name, 'latin1');
  const text = bytes.toString('utf8');
  if (!text.includes('\uFFFD')) return text;
  return name.replace(/[\x80-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
}

/** The last second that Go's nanoseconds reach, in 2262. */
const lastSecond = 9_223_372_036;

/** Seconds as a file has them after an engine unpacked it: a time before 1970, or after 2262, becomes another there. */
export function keptTime(mtime: number): number {
  return Math.min(Math.max(mtime, 0), lastSecond);
}

/** True for the all-zero block that ends an archive. */
export function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** Decodes one 512-byte header; `TarFormatError` when its checksum is wrong. */
export function decodeHeader(block: Buffer): TarHeader {
  const stored = readNumber(block, 148, 8);
  if (stored !== checksum(block))
    throw new TarFormatError('A tar header has a wrong checksum: the archive is damaged or no tar.');
  const magic = block.toString('latin1', 257, 263);
  const prefix = magic.startsWith('ustar\0') ? readText(block, 345, 155) : '';
  const base = readText(block, 0, 100);
  const size = readNumber(block, 124, 12);
  if (size < 0 || !Number.isSafeInteger(size))
    throw new TarFormatError(`A tar header gives the size ${size}.`);
  const flag = String.fromCharCode(block[156] ?? 0);
  // Before ustar a folder was a file whose name ended in a slash.
  const type =
    (flag === '0' || flag === '\0') && base.endsWith('/') ? 'directory' : (flags[flag] ?? 'unknown');
  return {
    name: trimSlash(prefix ? `${prefix}/${base}` : base),
    type,
    mode: readNumber(block, 100, 8) & 0o7777,
    uid: readNumber(block, 108, 8),
    gid: readNumber(block, 116, 8),
    size,
    mtime: readNumber(block, 136, 12),
    linkName: readText(block, 157, 100),
    devMajor: readNumber(block, 329, 8),
    devMinor: readNumber(block, 337, 8),
    flag,
  };
}

/** Encodes a header with the long-name records it needs; content and padding are the caller's. */
export function encodeHeader(header: TarHeader): Buffer {
  if (header.type === 'unknown')
    throw new TarFormatError(`Cannot write a tar entry of type ${JSON.stringify(header.flag)}.`);
  const name = header.type === 'directory' ? `${header.name}/` : header.name;
  const parts: Buffer[] = [];
  if (header.linkName.length > 100) parts.push(longRecord('K', header.linkName));
  if (name.length > 100) parts.push(longRecord('L', name));
  parts.push(encodeBlock({ ...header, name }, flagOf[header.type]));
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

/** Zero bytes that follow `size` bytes of content. */
export function padding(size: number): number {
  return (tarBlock - (size % tarBlock)) % tarBlock;
}

function longRecord(flag: string, value: string): Buffer {
  const content = Buffer.from(`${value}\0`, 'latin1');
  const block = encodeBlock(
    {
      name: '././@LongLink',
      mode: 0,
      uid: 0,
      gid: 0,
      size: content.length,
      mtime: 0,
      linkName: '',
      devMajor: 0,
      devMinor: 0,
    },
    flag,
  );
  return Buffer.concat([block, content, Buffer.alloc(padding(content.length))]);
}

function encodeBlock(header: Omit<TarHeader, 'type' | 'flag'>, flag: string): Buffer {
  const block = Buffer.alloc(tarBlock);
  block.write(header.name.slice(0, 100), 0, 'latin1');
  writeNumber(block, 100, 8, header.mode);
  writeNumber(block, 108, 8, header.uid);
  writeNumber(block, 116, 8, header.gid);
  writeNumber(block, 124, 12, header.size);
  writeNumber(block, 136, 12, header.mtime);
  block.write(flag, 156, 'latin1');
  block.write(header.linkName.slice(0, 100), 157, 'latin1');
  block.write('ustar  \0', 257, 'latin1');
  writeNumber(block, 329, 8, header.devMajor);
  writeNumber(block, 337, 8, header.devMinor);
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function checksum(block: Buffer): number {
  let sum = 8 * 32;
  for (let i = 0; i < tarBlock; i++) if (i < 148 || i >= 156) sum += block[i] as number;
  return sum;
}

function readText(block: Buffer, start: number, length: number): string {
  const end = block.indexOf(0, start);
  return block.toString('latin1', start, end === -1 || end > start + length ? start + length : end);
}

/** Octal text, or GNU's base-256 when the top bit is set. */
function readNumber(block: Buffer, start: number, length: number): number {
  const first = block[start] as number;
  if (first & 0x80) {
    let value = first === 0xff ? -1n : BigInt(first & 0x7f);
    for (let i = start + 1; i < start + length; i++) value = value * 256n + BigInt(block[i] as number);
    return Number(value);
  }
  const text = block
    .toString('latin1', start, start + length)
    .replace(/[\0 ]+$/, '')
    .trim();
  if (text === '') return 0;
  if (!/^[0-7]+$/.test(text))
    throw new TarFormatError(
      'A tar header holds something that is no number: the archive is damaged or no tar.',
    );
  return Number.parseInt(text, 8);
}

function writeNumber(block: Buffer, start: number, length: number, value: number): void {
  const whole = Math.trunc(value);
  if (whole >= 0 && whole <= (length === 8 ? maxOctal8 : maxOctal12)) {
    block.write(`${whole.toString(8).padStart(length - 1, '0')}\0`, start, 'latin1');
    return;
  }
  let rest = BigInt.asUintN(length * 8, BigInt(whole));
  for (let i = start + length - 1; i >= start; i--) {
    block[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  block[start] = ((block[start] as number) & 0x7f) | 0x80;
  if (whole < 0) block[start] = 0xff;
}

function trimSlash(name: string): string {
  return name.length > 1 ? name.replace(/\/+$/, '') || '/' : name;
}
