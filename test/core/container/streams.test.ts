import { describe, expect, test } from 'vitest';
import { coalesce, readLines, Tail, toReadable } from '#core/container/streams.ts';
import { bytesOf, chunksOf } from './tarTools.ts';

async function* of(...parts: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part);
}

async function linesOf(source: AsyncIterable<Buffer>, maxChars?: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(source, maxChars)) lines.push(line);
  return lines;
}

describe('coalesce', () => {
  test('joins small pieces in order and passes large ones on', async () => {
    const sizes: number[] = [];
    const all: Buffer[] = [];
    for await (const chunk of coalesce(of('ab', 'cd', 'e', 'x'.repeat(50), 'f'), 4)) {
      sizes.push(chunk.length);
      all.push(chunk);
    }
    expect(sizes).toEqual([4, 51, 1]);
    expect(Buffer.concat(all).toString()).toBe(`abcde${'x'.repeat(50)}f`);
  });

  test('gives nothing for nothing', async () => {
    expect((await bytesOf(coalesce(of()))).length).toBe(0);
  });
});

test("a readable is destroyed with its source's own error", async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('a');
    throw new Error('the disk is gone');
  }
  await expect(bytesOf(toReadable(broken()))).rejects.toThrow('the disk is gone');
});

describe('readLines', () => {
  test('knows LF and CRLF, and a last line without an end', async () => {
    expect(await linesOf(of('one\r\ntwo\n\nth', 'ree'))).toEqual(['one', 'two', '', 'three']);
    expect(await linesOf(of('one\n'))).toEqual(['one']);
  });

  test('keeps characters that chunks split, and does not choke on what is no UTF-8', async () => {
    expect(await linesOf(chunksOf(Buffer.from('🚀é\nx'), [1]))).toEqual(['🚀é', 'x']);
    expect(await linesOf(of(Buffer.from([0xff, 0x0a, 0x62])))).toEqual(['\uFFFD', 'b']);
  });

  test('cuts a line that does not end', async () => {
    expect(await linesOf(chunksOf(Buffer.from(`${'x'.repeat(5000)}\ny`), [100]), 1000)).toEqual([
      'x'.repeat(1000),
      'y',
    ]);
  });
});

describe('Tail', () => {
  test('keeps the last bytes and counts all', () => {
    const tail = new Tail(5);
    for (const text of ['ab', 'cd', 'ef', 'ghij']) tail.write(Buffer.from(text));
    expect(tail.bytes().toString()).toBe('fghij');
    expect(tail.total).toBe(10);
  });

  test('is the end of what was written, in whatever pieces', () => {
    const all = Buffer.from(Array.from({ length: 500 }, (_, i) => i % 251));
    for (const cap of [1, 7, 64, 499, 500, 501])
      for (const piece of [1, 3, 7, 64, 100, 500]) {
        const tail = new Tail(cap);
        for (let at = 0; at < all.length; at += piece) {
          tail.write(all.subarray(at, at + piece));
          const written = all.subarray(0, Math.min(at + piece, all.length));
          expect(tail.bytes().equals(written.subarray(Math.max(0, written.length - cap)))).toBe(true);
        }
      }
  });

  test('keeps nothing with a cap of nothing, and its own copy of what it keeps', () => {
    const none = new Tail(0);
    none.write(Buffer.from('abc'));
    expect(none.bytes().length).toBe(0);
    const reused = Buffer.from('abc');
    const tail = new Tail(10);
    tail.write(reused);
    reused.fill(0);
    expect(tail.bytes().toString()).toBe('abc');
  });
});
