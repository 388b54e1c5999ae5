import { Readable } from 'node:stream';

/** Joins small pieces into chunks of about `size` bytes: one write a chunk instead of one a tar header. */
export async function* coalesce(source: AsyncIterable<Buffer>, size = 65_536): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const piece of source) {
    if (piece.length >= size && length === 0) {
      yield piece;
      continue;
    }
    parts.push(piece);
    length += piece.length;
    if (length >= size) {
      yield Buffer.concat(parts, length);
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(parts, length);
}

/** A byte stream of the chunks; it is destroyed with the source's own error. */
export function toReadable(source: AsyncIterable<Buffer>): Readable {
  return Readable.from(coalesce(source), { objectMode: false, highWaterMark: 262_144 });
}

/** Lines of a stream of text, without their ends; a last line without one counts. Lines over `maxChars` are cut. */
export async function* readLines(
  source: AsyncIterable<Buffer | Uint8Array>,
  maxChars = 1_000_000,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  for await (const chunk of source) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = (lines.pop() ?? '').slice(0, maxChars);
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
  rest += decoder.decode();
  if (rest) yield rest;
}

/** Keeps the last `cap` bytes of what is written, and how much there was. Of a flood it makes no garbage. */
export class Tail {
  readonly #cap: number;
  /** Grows up to the cap; from then on it is written round and round. */
  #buffer = Buffer.alloc(0);
  #length = 0;
  /** Where the oldest byte is, and the next one goes. */
  #start = 0;
  total = 0;

  constructor(cap: number) {
    this.#cap = cap;
  }

  write(chunk: Buffer): void {
    this.total += chunk.length;
    const last = chunk.subarray(Math.max(0, chunk.length - this.#cap));
    const fits = Math.min(last.length, this.#cap - this.#length);
    this.#grow(this.#length + fits);
    last.copy(this.#buffer, this.#length, 0, fits);
    this.#length += fits;
    for (let at = fits; at < last.length; ) {
      const size = last.copy(this.#buffer, this.#start, at);
      at += size;
      this.#start = (this.#start + size) % this.#cap;
    }
  }

  bytes(): Buffer {
    const held = this.#buffer.subarray(0, this.#length);
    return Buffer.concat([held.subarray(this.#start), held.subarray(0, this.#start)]);
  }

  #grow(size: number): void {
    if (size <= this.#buffer.length) return;
    const larger = Buffer.alloc(Math.min(this.#cap, Math.max(size, 2 * this.#buffer.length)));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
