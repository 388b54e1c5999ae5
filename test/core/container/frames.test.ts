import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Frame, readFrames } from '#core/container/frames.ts';
import { chunksOf } from './tarTools.ts';

interface FrameCase {
  readonly chunks: readonly string[];
  readonly expect_stdout: string;
  readonly expect_stderr: string;
  readonly tty_chunk: string;
  readonly expect_tty: string;
}

const recorded: FrameCase = JSON.parse(
  readFileSync(new URL('../../fixtures/container/stream-frames.json', import.meta.url), 'utf8'),
);

function frame(stream: number, text: string | Buffer): Buffer {
  const data = Buffer.from(text);
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(data.length, 4);
  return Buffer.concat([head, data]);
}

async function demultiplex(
  source: AsyncIterable<Buffer | Uint8Array>,
): Promise<{ stdout: Buffer; stderr: Buffer }> {
  const out = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  for await (const { stream, data } of readFrames(source)) out[stream].push(Buffer.from(data));
  return { stdout: Buffer.concat(out.stdout), stderr: Buffer.concat(out.stderr) };
}

async function* each(chunks: readonly string[]): AsyncGenerator<Buffer> {
  for (const hex of chunks) yield Buffer.from(hex, 'hex');
}

describe('the recorded stream', () => {
  test('comes out per stream, its cut tail flushed, no header byte in it', async () => {
    const { stdout, stderr } = await demultiplex(each(recorded.chunks));
    expect(stdout.toString()).toBe(recorded.expect_stdout);
    expect(stderr.toString()).toBe(recorded.expect_stderr);
  });

  test('a decoder per stream puts a character together that two frames split', async () => {
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    const text = { stdout: '', stderr: '' };
    for await (const { stream, data } of readFrames(each(recorded.chunks)))
      text[stream] += decoders[stream].decode(data, { stream: true });
    expect(text).toEqual({ stdout: recorded.expect_stdout, stderr: recorded.expect_stderr });
  });

  test('a TTY stream passes unchanged, whole or byte by byte', async () => {
    const bytes = Buffer.from(recorded.tty_chunk, 'hex');
    for (const size of [1, 3, 100])
      expect((await demultiplex(chunksOf(bytes, [size]))).stdout.toString()).toBe(recorded.expect_tty);
  });
});

test('every way to cut a stream gives the same bytes', async () => {
  const whole = Buffer.concat([
    frame(1, 'one'),
    frame(2, 'two'),
    frame(1, ''),
    frame(1, Buffer.alloc(300, 7)),
  ]);
  const expected = await demultiplex(chunksOf(whole, [whole.length]));
  expect(expected.stdout.length).toBe(303);
  for (let size = 1; size < 40; size++) expect(await demultiplex(chunksOf(whole, [size]))).toEqual(expected);
  for (let at = 1; at < whole.length; at++)
    expect(await demultiplex(chunksOf(whole, [at, whole.length]))).toEqual(expected);
});

test('a header that is cut is no output; bytes that never were a header are', async () => {
  const cut = Buffer.concat([frame(1, 'text'), Buffer.from([1, 0, 0])]);
  expect((await demultiplex(chunksOf(cut, [100]))).stdout.toString()).toBe('text');
  expect((await demultiplex(chunksOf(Buffer.from('ok\n'), [100]))).stdout.toString()).toBe('ok\n');
  expect((await demultiplex(chunksOf(Buffer.alloc(0), [100]))).stdout.length).toBe(0);
});

test('Uint8Array chunks are taken as they are', async () => {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(frame(2, 'err'));
  }
  expect((await demultiplex(source())).stderr.toString()).toBe('err');
});

test('the reader pulls: a slow one holds the source back', async () => {
  let produced = 0;
  async function* source(): AsyncGenerator<Buffer> {
    for (let i = 0; i < 1000; i++) {
      produced++;
      yield frame(1, Buffer.alloc(1024));
    }
  }
  const frames = readFrames(source());
  const seen: Frame[] = [];
  for (let i = 0; i < 3; i++) seen.push((await frames.next()).value as Frame);
  expect(produced).toBe(3);
  await frames.return(undefined);
  expect(seen.every(({ data }) => data.length === 1024)).toBe(true);
});
