import {
  decodeHeader,
  encodeHeader,
  isZeroBlock,
  padding,
  TarFormatError,
  type TarHeader,
  tarBlock,
} from './tarHeader.ts';

/** One entry on its way: the body must be read, or left and it is skipped. */
export interface TarEntry {
  readonly header: TarHeader;
  readonly body: AsyncIterable<Buffer>;
}

/** The body of everything that is no file. */
export const noBody: AsyncIterable<Buffer> = {
  async *[Symbol.asyncIterator]() {
    // nothing
  },
};

/** A long name or PAX record larger than this is an attack, not a name. */
const maxMetaBytes = 1024 * 1024;

/**
 * Reads an archive entry by entry, in order, holding at most one chunk in memory. GNU long names and PAX records
 * are folded into the header that they describe. Throws `TarFormatError` on damage, on a cut end, and on sparse
 * files (no engine writes them).
 */
export async function* readTar(source: AsyncIterable<Buffer | Uint8Array>): AsyncGenerator<TarEntry> {
  const input = new ByteReader(source);
  try {
    yield* readEntries(input);
  } finally {
    await input.close();
  }
}

async function* readEntries(input: ByteReader): AsyncGenerator<TarEntry> {
  const global = new Map<string, string>();
  let pending = new Map<string, string>();
  for (;;) {
    const block = await input.read(tarBlock);
    if (block === undefined)
      throw new TarFormatError('The archive has no end mark: it was cut, or is no tar.');
    if (isZeroBlock(block)) {
      await input.drain();
      return;
    }
    const raw = decodeHeader(block);
    if (raw.flag === 'L' || raw.flag === 'K' || raw.flag === 'x' || raw.flag === 'g') {
      const content = await readMeta(input, raw.size);
      if (raw.flag === 'L' || raw.flag === 'K')
        pending.set(raw.flag === 'L' ? 'path' : 'linkpath', content.toString('latin1').replace(/\0.*$/s, ''));
      else
        for (const [key, value] of parsePax(content))
          if (isUsed(key)) (raw.flag === 'g' ? global : pending).set(key, value);
      continue;
    }
    const header = applyRecords(raw, new Map([...global, ...pending]));
    pending = new Map();
    const size = header.type === 'file' || header.type === 'unknown' ? header.size : 0;
    const body = new EntryBody(input, size);
    yield { header: { ...header, size }, body };
    await body.skip();
    await input.skip(padding(size));
  }
}

/** Writes entries as one archive, in order; a body that does not have its header's size is an error. */
export async function* writeTar(
  entries: AsyncIterable<TarEntry> | Iterable<TarEntry>,
): AsyncGenerator<Buffer> {
  for await (const { header, body } of entries) {
    yield encodeHeader(header);
    let sent = 0;
    if (header.size > 0) {
      for await (const chunk of body) {
        sent += chunk.length;
        yield chunk;
      }
    }
    if (sent !== header.size)
      throw new TarFormatError(`A file changed while it was read: ${sent} bytes instead of ${header.size}.`);
    const pad = padding(sent);
    if (pad) yield Buffer.alloc(pad);
  }
  yield Buffer.alloc(2 * tarBlock);
}

/** A file of root's, made now; its name is bytes. */
export function plainFile(name: string, data: Buffer): TarEntry {
  return {
    header: {
      ...{ name, type: 'file', mode: 0o644, mtime: Math.floor(Date.now() / 1000), size: data.length },
      ...{ uid: 0, gid: 0, linkName: '', devMajor: 0, devMinor: 0, flag: '' },
    },
    body: bodyOf(data),
  };
}

/** A body from bytes at hand. */
export function bodyOf(data: Buffer): AsyncIterable<Buffer> {
  return {
    async *[Symbol.asyncIterator]() {
      if (data.length) yield data;
    },
  };
}

/** Reads a whole body, at most `cap` bytes; undefined when it is larger (the rest is left). */
export async function collectBody(body: AsyncIterable<Buffer>, cap: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > cap) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readMeta(input: ByteReader, size: number): Promise<Buffer> {
  if (size > maxMetaBytes) throw new TarFormatError(`A tar name record of ${size} bytes is refused.`);
  const content = await input.mustRead(size);
  await input.skip(padding(size));
  return content;
}

/** `LENGTH KEY=VALUE\n` records (POSIX pax, "pax Extended Header"); values stay bytes. */
function* parsePax(content: Buffer): Generator<[string, string]> {
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(content.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= 0 || at + length > content.length)
      throw new TarFormatError('A PAX record has a wrong length.');
    const record = content.toString('latin1', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    if (equals > 0) yield [record.slice(0, equals), record.slice(equals + 1)];
    at += length;
  }
}

const usedRecords = new Set(['path', 'linkpath', 'size', 'uid', 'gid', 'mtime']);

/** Others are not held: an archive may have any number of them. */
function isUsed(key: string): boolean {
  return usedRecords.has(key) || key.startsWith('GNU.sparse');
}

function applyRecords(raw: TarHeader, records: ReadonlyMap<string, string>): TarHeader {
  if (raw.flag === 'S' || [...records.keys()].some((key) => key.startsWith('GNU.sparse'))) {
    throw new TarFormatError('The archive holds a sparse file; make it without -S.');
  }
  if (records.size === 0) return raw;
  const number = (key: string, fallback: number): number => {
    const value = records.get(key);
    if (value === undefined || value === '') return fallback;
    const parsed = Math.floor(Number(value));
    if (!Number.isSafeInteger(parsed) || (key === 'size' && parsed < 0))
      throw new TarFormatError(`The PAX record ${key} is no number.`);
    return parsed;
  };
  const long = records.get('path');
  const path = long || raw.name;
  return {
    ...raw,
    name: path.length > 1 ? path.replace(/\/+$/, '') || '/' : path,
    type: long ? typeOfNamed(raw, long) : raw.type,
    linkName: records.get('linkpath') || raw.linkName,
    size: number('size', raw.size),
    uid: number('uid', raw.uid),
    gid: number('gid', raw.gid),
    mtime: number('mtime', raw.mtime),
  };
}

/** A name that was cut for the header may have been cut after a slash: its record alone tells a folder. */
function typeOfNamed({ flag, type }: TarHeader, path: string): TarHeader['type'] {
  if (flag !== '0' && flag !== '\0') return type;
  return path.endsWith('/') ? 'directory' : 'file';
}

/** Pulls exact amounts out of a stream of chunks. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer | Uint8Array>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer | Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Up to `max` bytes as they come; undefined at the end. */
  async some(max: number): Promise<Buffer | undefined> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next();
      if (next.done) return undefined;
      this.#chunk = Buffer.isBuffer(next.value) ? next.value : Buffer.from(next.value);
    }
    const part = this.#chunk.subarray(0, max);
    this.#chunk = this.#chunk.subarray(part.length);
    return part;
  }

  /** Exactly `size` bytes; undefined at a clean end. */
  async read(size: number): Promise<Buffer | undefined> {
    const first = await this.some(size);
    if (first === undefined || first.length === size) return first;
    return Buffer.concat([first, await this.mustRead(size - first.length)]);
  }

  async mustRead(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = size;
    while (missing > 0) {
      const part = await this.some(missing);
      if (part === undefined) throw new TarFormatError('The archive ends in the middle of an entry.');
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  async skip(size: number): Promise<void> {
    let missing = size;
    while (missing > 0) {
      const part = await this.some(missing);
      if (part === undefined) throw new TarFormatError('The archive ends in the middle of an entry.');
      missing -= part.length;
    }
  }

  /** Lets go of the source, which a reader may leave before its end. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** Reads to the end, so that the sender is not left with a full pipe. */
  async drain(): Promise<void> {
    while ((await this.some(1 << 20)) !== undefined) {
      // padding after the end marker
    }
  }
}

/** The content of one entry, readable once; what is left over is skipped before the next header. */
class EntryBody implements AsyncIterable<Buffer> {
  #left: number;
  readonly #input: ByteReader;

  constructor(input: ByteReader, size: number) {
    this.#input = input;
    this.#left = size;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      const chunk = await this.#input.some(this.#left);
      if (chunk === undefined) throw new TarFormatError('The archive ends in the middle of an entry.');
      this.#left -= chunk.length;
      yield chunk;
    }
  }

  async skip(): Promise<void> {
    const left = this.#left;
    this.#left = 0;
    await this.#input.skip(left);
  }
}
