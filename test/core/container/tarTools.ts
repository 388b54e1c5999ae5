import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeHeader, type TarHeader, tarBlock } from '#core/container/tarHeader.ts';
import { bodyOf, readTar, type TarEntry, writeTar } from '#core/container/tarStream.ts';

/** A header with what a test does not care about filled in. */
export function header(part: Partial<TarHeader>): TarHeader {
  return {
    name: 'a',
    type: 'file',
    mode: 0o644,
    uid: 0,
    gid: 0,
    size: 0,
    mtime: 1_700_000_000,
    linkName: '',
    devMajor: 0,
    devMinor: 0,
    flag: '',
    ...part,
  };
}

/** A file entry of some text. */
export function fileEntry(name: string, text: string | Buffer, part: Partial<TarHeader> = {}): TarEntry {
  const data = Buffer.from(text);
  return { header: header({ ...part, name, size: data.length }), body: bodyOf(data) };
}

/** An entry without a body. */
export function plainEntry(part: Partial<TarHeader>): TarEntry {
  return { header: header(part), body: bodyOf(Buffer.alloc(0)) };
}

export async function bytesOf(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The archive of some entries as one buffer. */
export function pack(entries: Iterable<TarEntry> | AsyncIterable<TarEntry>): Promise<Buffer> {
  return bytesOf(writeTar(entries));
}

export interface ReadEntry {
  readonly header: TarHeader;
  readonly data: Buffer;
}

/** Every entry of an archive with its content; `cut` gives the sizes of the chunks that it comes in, repeated. */
export async function unpack(archive: Buffer, cut: readonly number[] = [65_536]): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  for await (const entry of readTar(chunksOf(archive, cut)))
    entries.push({ header: entry.header, data: await bytesOf(entry.body) });
  return entries;
}

export async function* chunksOf(data: Buffer, cut: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let i = 0; at < data.length; i++) {
    const size = cut[i % cut.length] as number;
    yield data.subarray(at, at + size);
    at += size;
  }
}

/** A hand-made 512-byte header: what our writer never writes. Fields are written as they are given. */
export function rawBlock(fields: {
  readonly name?: string;
  readonly mode?: string;
  readonly uid?: string;
  readonly size?: string | Buffer;
  readonly mtime?: string | Buffer;
  readonly flag?: string;
  readonly linkName?: string;
  readonly magic?: string;
  readonly prefix?: string;
}): Buffer {
  const block = Buffer.alloc(tarBlock);
  const put = (at: number, value: string | Buffer): void => {
    (typeof value === 'string' ? Buffer.from(value, 'latin1') : value).copy(block, at);
  };
  put(0, fields.name ?? 'a');
  put(100, fields.mode ?? '0000644\0');
  put(108, fields.uid ?? '0000000\0');
  put(116, '0000000\0');
  put(124, fields.size ?? '00000000000\0');
  put(136, fields.mtime ?? '00000000000\0');
  put(156, fields.flag ?? '0');
  put(157, fields.linkName ?? '');
  put(257, fields.magic ?? 'ustar\x0000');
  put(345, fields.prefix ?? '');
  return seal(block);
}

/** Writes the right checksum into a header that was made or changed by hand. */
export function seal(block: Buffer): Buffer {
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  decodeHeader(block);
  return block;
}

/** Content padded to whole blocks. */
export function padded(data: Buffer | string): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([bytes, Buffer.alloc((tarBlock - (bytes.length % tarBlock)) % tarBlock)]);
}

export const endOfArchive = Buffer.alloc(2 * tarBlock);

/** A PAX header block with its records. */
export function pax(flag: 'x' | 'g', records: Readonly<Record<string, string>>): Buffer {
  const content = Buffer.concat(
    Object.entries(records).map(([key, value]) => {
      const rest = Buffer.from(` ${key}=${value}\n`, 'latin1');
      let length = rest.length + 1;
      while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
      return Buffer.concat([Buffer.from(String(length)), rest]);
    }),
  );
  return Buffer.concat([
    rawBlock({ name: 'pax', flag, size: `${content.length.toString(8).padStart(11, '0')}\0` }),
    padded(content),
  ]);
}

/** A temporary folder and what removes it. */
export async function tempFolder(): Promise<{ dir: string; remove: () => Promise<void> }> {
  const dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-test-'));
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}
