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

/** Keeps the last `cap` bytes of what is written, and how much there was. */
export class Tail {
  readonly #cap: number;
  #chunks: Buffer[] = [];
  #kept = 0;
  total = 0;

  constructor(cap: number) {
    this.#cap = cap;
  }

  write(chunk: Buffer): void {
    this.total += chunk.length;
    this.#chunks.push(Buffer.from(chunk));
    this.#kept += chunk.length;
    while (this.#chunks.length > 0 && this.#kept - (this.#chunks[0]?.length ?? 0) >= this.#cap) {
      this.#kept -= this.#chunks.shift()?.length ?? 0;
    }
  }

  bytes(): Buffer {
    const all = Buffer.concat(this.#chunks);
    return all.length > this.#cap ? all.subarray(all.length - this.#cap) : all;
  }
}
