import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CastFile } from '#core/attempt/castFile.ts';
import { type LogFile, type OpenLogFile, openForWriting } from '#core/attempt/logFile.ts';
import { type ShellCommand, ShellMarks } from '#core/attempt/shellMarks.ts';
import { randoms } from './support.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-cast-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A header, then [seconds, code, data]. */
async function readCast(file: string): Promise<[Record<string, unknown>, ...[number, string, string][]]> {
  return (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line)) as never;
}

test('input, output and sizes are in an asciicast v2, in their order', async () => {
  const file = path.join(dir, 'terminals/a.cast');
  let now = 5_000;
  const cast = new CastFile(file, { cols: 80, rows: 24 }, { nowMs: () => now, utcMs: 1_700_000_000_500 });
  now += 1_500;
  cast.input('ls\r');
  cast.output('\u001b[31mrot\u001b[0m \u{1f600}\r\n');
  now += 0.25;
  cast.resize({ cols: 100, rows: 30 });
  await cast.close();
  const [header, ...events] = await readCast(file);
  expect(header).toEqual({
    version: 2,
    width: 80,
    height: 24,
    timestamp: 1_700_000_000,
    env: { TERM: 'xterm-256color' },
  });
  expect(events).toEqual([
    [1.5, 'i', 'ls\r'],
    [1.5, 'o', '\u001b[31mrot\u001b[0m \u{1f600}\r\n'],
    [1.50025, 'r', '100x30'],
  ]);
  expect(cast.omitted).toBe(0);
});

test('a flood is capped, and what is left out is marked; what comes after it is kept', async () => {
  const file = path.join(dir, 'flood.cast');
  let now = 0;
  const cast = new CastFile(file, { cols: 80, rows: 24 }, { nowMs: () => now, utcMs: 0 });
  const line = 'y'.repeat(1_000);
  for (let i = 0; i < 60_000; i++) {
    cast.output(line);
    now += 1;
  }
  now += 10_000;
  cast.output('prompt$ ');
  await cast.close();
  const [, ...events] = await readCast(file);
  const kept = events.filter(([, code]) => code === 'o').reduce((sum, [, , data]) => sum + data.length, 0);
  const marked = events
    .filter(([, code]) => code === 'm')
    .reduce((sum, [, , data]) => sum + Number.parseInt(data, 10), 0);
  // A burst, and what a minute allows.
  expect(kept).toBeLessThan(1_100_000 + 61 * 131_072);
  expect(kept).toBeGreaterThan(60 * 131_072);
  expect(kept + marked).toBe(60_000_000 + 'prompt$ '.length);
  expect([cast.omitted, events.at(-1)?.[2]]).toEqual([marked, 'prompt$ ']);
});

test('what is on the disk is told, with its hash; what a full disk did not take is marked later', async () => {
  const file = path.join(dir, 'kept.cast');
  const kept: { bytes: number; sha256: string }[] = [];
  let isFull = false;
  const openFile: OpenLogFile = async (name) => {
    const real = await openForWriting(name);
    const write = async (from: Buffer, offset: number, length: number, at: number) => {
      // Half of it is written before there is no room.
      if (isFull) await real.write(from, offset, length >> 1, at);
      if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      return real.write(from, offset, length, at);
    };
    return Object.assign(Object.create(real) as LogFile, {
      write,
      datasync: () => real.datasync(),
      close: () => real.close(),
    });
  };
  const cast = new CastFile(
    file,
    { cols: 80, rows: 24 },
    { nowMs: () => 0, utcMs: 0, openFile, onKept: (one) => kept.push(one) },
  );
  const flushed = () => new Promise((resolve) => setTimeout(resolve, 600));
  cast.output('before\r\n');
  await flushed();
  isFull = true;
  cast.output(`lost ${'x'.repeat(500)}\r\n`);
  await flushed();
  isFull = false;
  cast.output(`after ${'y'.repeat(600)}\r\n`);
  await cast.close();
  const bytes = await readFile(file);
  expect(kept.map((one) => one.bytes)).toEqual([expect.any(Number), bytes.length]);
  for (const one of kept)
    expect(createHash('sha256').update(bytes.subarray(0, one.bytes)).digest('hex')).toBe(one.sha256);
  const [, ...events] = await readCast(file);
  expect(events.map(([, code, data]) => `${code} ${data.slice(0, 6)}`)).toEqual([
    'o before',
    `m ${`${cast.omitted} characters`.slice(0, 6)}`,
    'o after ',
  ]);
  expect(cast.omitted).toBeGreaterThan(500);
});

const mark = (text: string): string => `\u001b]633;${text}\u0007`;
const encoded = (command: string): string => Buffer.from(command).toString('base64');

function makeMarks() {
  const told: string[] = [];
  const marks = new ShellMarks(({ text, cwd }: ShellCommand) => {
    told.push(`${text} in ${cwd.cwd}`);
    return (exitCode) => told.push(`${text}: ${exitCode}`);
  });
  return { marks, told };
}

test('commands are told by the marks of the shell, which are not shown, however the output is cut', () => {
  const output = `${mark('D;0')}$ make; x\r\n${mark(`E;${encoded('   12  make; echo "é"\n')}`)}${mark('P;Cwd=/app;b')}${mark('C')}built\u001b]0;title\u0007${mark('D;2')}$ `;
  const shown = '$ make; x\r\nbuilt\u001b]0;title\u0007$ ';
  for (let seed = 0; seed < 200; seed++) {
    const random = randoms(seed);
    const { marks, told } = makeMarks();
    let text = '';
    for (let at = 0; at < output.length; ) {
      const length = 1 + Math.floor(random() * 12);
      text += marks.take(output.slice(at, at + length));
      at += length;
    }
    expect(text).toBe(shown);
    expect(told).toEqual(['make; echo "é" in /app;b', 'make; echo "é": 2']);
  }
});

test('a command that the terminal outlives has no exit code; a mark that never ends is shown in the end', () => {
  const { marks, told } = makeMarks();
  marks.take(`${mark(`E;${encoded(' 1  sleep 9')}`)}${mark('C')}`);
  marks.end();
  expect(told).toEqual(['sleep 9 in undefined', 'sleep 9: null']);
  const endless = `\u001b]633;${'z'.repeat(80_000)}`;
  expect(marks.take(endless)).toBe(endless);
});
