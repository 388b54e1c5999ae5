import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LogFile } from '#core/attempt/logFile.ts';
import { type ReadRecord, readRecordLog } from '#core/attempt/readRecordLog.ts';
import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { RecordLog } from '#core/attempt/recordLog.ts';
import { nullLog } from '#core/base/log.ts';
import { randoms } from './support.ts';

let dir: string;
let made = 0;
const newFile = (): string => path.join(dir, `${made++}.jsonl`);
const deps = { log: nullLog, reserveBytes: 1 << 12 };
const note = (text: string) => ({ kind: 'note', text }) as const;

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-record-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function readAll(file: string): Promise<{ lines: RecordLine[]; damages: string[] }> {
  const read: ReadRecord[] = [];
  for await (const one of readRecordLog(file)) read.push(one);
  return {
    lines: read.flatMap((one) => ('line' in one ? [one.line] : [])),
    damages: read.flatMap((one) => ('damage' in one ? [`${one.damage.line}: ${one.damage.what}`] : [])),
  };
}

const texts = (lines: readonly RecordLine[]): string[] =>
  lines.flatMap((line) => (line.kind === 'note' ? [line.text] : [line.kind]));

test('what is appended is read again, session after session, and is on the disk within a second', async () => {
  const file = newFile();
  const log = await RecordLog.open(file, deps);
  log.append(note('tränen \ud83d\ude00\u2028\n'));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await readFile(file, 'utf8')).toContain('tränen');
  log.append(note('two'));
  await log.flush();
  expect(texts((await readAll(file)).lines)).toEqual(['opened', 'tränen \ud83d\ude00\u2028\n', 'two']);
  await log.close();
  log.append(note('too late'));
  await log.close();
  const again = await RecordLog.open(file, deps);
  await again.close();
  const { lines, damages } = await readAll(file);
  expect(texts(lines)).toEqual([
    'opened',
    'tränen \ud83d\ude00\u2028\n',
    'two',
    'closed',
    'opened',
    'closed',
  ]);
  expect([damages, lines.map(({ n }) => n)]).toEqual([[], [0, 1, 2, 3, 4, 5]]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readAll(newFile())).toEqual({ lines: [], damages: [] });
});

test('a torn last line is told, and cut off by the next session', async () => {
  const file = newFile();
  const log = await RecordLog.open(file, deps);
  // Longer than a piece that is read from the end.
  log.append(note('y'.repeat(200_000)));
  log.append(note('torn'));
  await log.close();
  const whole = await readFile(file);
  for (const cut of [1, 40, 200]) {
    const text = whole.subarray(0, whole.length - cut);
    await writeFile(file, text);
    expect((await readAll(file)).damages).toEqual([
      expect.stringMatching(/^\d: The last line is torn: \d+ bytes\.$/),
    ]);
    const again = await RecordLog.open(file, deps);
    await again.close();
    const { lines, damages } = await readAll(file);
    expect(damages).toEqual([]);
    expect(lines.at(-2)).toMatchObject({ kind: 'opened', tornBytes: text.length - text.lastIndexOf(10) - 1 });
  }
});

test('damage in the middle is located, and the rest is read', async () => {
  const file = newFile();
  const log = await RecordLog.open(file, deps);
  for (let i = 0; i < 5; i++) log.append(note(`number ${i}`));
  await log.close();
  const lines = (await readFile(file, 'utf8')).split('\n');
  const damaged = async (change: (all: string[]) => void) => {
    const all = [...lines];
    change(all);
    await writeFile(file, all.join('\n'));
    return readAll(file);
  };
  expect(lines).toHaveLength(8);
  const broken = 'The line before is not the one that this one was written after.';
  const changed = await damaged((all) => all.splice(2, 1, all[2]?.replace('number 1', 'number 9') ?? ''));
  expect(changed.damages).toEqual([`4: ${broken}`]);
  expect(changed.lines).toHaveLength(7);
  expect((await damaged((all) => all.splice(3, 1))).damages).toEqual([`4: ${broken}`]);
  expect((await damaged((all) => all.splice(0, 1))).damages).toEqual([`1: ${broken}`]);
  expect((await damaged((all) => all.splice(1, 1, '{"kind'))).damages).toEqual([
    '2: The line is no JSON.',
    `3: ${broken}`,
  ]);
  expect((await damaged((all) => all.splice(1, 1, all[1]?.replace('"v":1', '"v":7') ?? ''))).damages).toEqual(
    ['2: The line is of version 7, not 1.', `3: ${broken}`],
  );
  expect(
    (await damaged((all) => all.splice(1, 1, all[1]?.replace('"note"', '"dance"') ?? ''))).damages[0],
  ).toBe('2: The line is no event (kind).');
});

test('on a disk that is slower than the timer, what comes meanwhile is written right after', async () => {
  const file = newFile();
  const handle = await open(file, 'wx+');
  const slow = {
    ...{ read: handle.read.bind(handle), stat: handle.stat.bind(handle), write: handle.write.bind(handle) },
    ...{ truncate: handle.truncate.bind(handle), close: handle.close.bind(handle) },
    datasync: () => new Promise((resolve) => setTimeout(resolve, 900)),
  } as unknown as LogFile;
  const log = await RecordLog.open(file, { ...deps, openFile: async () => slow });
  await new Promise((resolve) => setTimeout(resolve, 450));
  log.append(note('meanwhile'));
  await expect.poll(() => readFile(file, 'utf8'), { timeout: 3_000 }).toContain('meanwhile');
  await log.close();
});

/** A file on a disk that keeps what was not synced only in part. */
class VolatileFile {
  #kept: Buffer = Buffer.alloc(0);
  #pending: { at: number; bytes: Buffer }[] = [];

  get content(): Buffer {
    return this.#pending.reduce(place, this.#kept);
  }

  /** The power fails: of the writes since the last sync some are there, and the last of these is torn. */
  crash(random: () => number): { content: Buffer; synced: Buffer } {
    const synced = this.#kept;
    const some = this.#pending.slice(0, Math.floor(random() * (this.#pending.length + 1)));
    const last = some.at(-1);
    if (last)
      some[some.length - 1] = {
        ...last,
        bytes: last.bytes.subarray(0, Math.floor(random() * last.bytes.length)),
      };
    this.#kept = some.reduce(place, this.#kept);
    this.#pending = [];
    return { content: this.#kept, synced };
  }

  readonly handle = {
    read: async (into: Buffer, offset: number, length: number, position: number) => ({
      bytesRead: this.content.copy(into, offset, position, position + length),
      buffer: into,
    }),
    write: async (from: Buffer, offset: number, length: number, position: number) => {
      this.#pending.push({ at: position, bytes: Buffer.from(from.subarray(offset, offset + length)) });
      return { bytesWritten: length, buffer: from };
    },
    stat: async () => ({ size: this.content.length }),
    truncate: async (length: number) => {
      this.#kept = this.content.subarray(0, length);
      this.#pending = [];
    },
    datasync: async () => {
      this.#kept = this.content;
      this.#pending = [];
    },
    close: async () => undefined,
  } as unknown as LogFile;
}

function place(content: Buffer, { at, bytes }: { at: number; bytes: Buffer }): Buffer {
  const size = Math.max(content.length, at + bytes.length);
  const next = Buffer.alloc(size);
  content.copy(next);
  bytes.copy(next, at);
  return next;
}

test('a power failure loses what was not synced, and nothing else', async () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = randoms(seed);
    const disk = new VolatileFile();
    const withDisk = { ...deps, openFile: async () => disk.handle };
    const file = newFile();
    for (let session = 0; session < 4; session++) {
      const log = await RecordLog.open(file, withDisk);
      for (let i = 0; i < 6; i++) {
        for (let j = random() * 5; j > 0; j--) log.append(note('z'.repeat(Math.floor(random() * 400))));
        if (random() < 0.6) await log.flush();
      }
      const writing = log.flush();
      if (random() < 0.5) await writing;
      const { content, synced } = disk.crash(random);
      await writing.catch(() => undefined);
      expect(content.subarray(0, synced.length).equals(synced)).toBe(true);
      const again = await RecordLog.open(file, withDisk);
      await again.close();
    }
    await writeFile(file, disk.content);
    const { lines, damages } = await readAll(file);
    expect(damages, `seed ${seed}`).toEqual([]);
    expect(lines.filter(({ kind }) => kind === 'opened')).toHaveLength(8);
  }
});

test('on a full disk the reserve is given up for it, and it says so', async () => {
  const file = newFile();
  const handle = await open(file, 'wx+');
  let capacity = 1_000 + deps.reserveBytes;
  let used = 0;
  const hasReserve = async () => (await stat(`${file}.reserve`).catch(() => undefined)) !== undefined;
  const full = {
    read: handle.read.bind(handle),
    stat: handle.stat.bind(handle),
    truncate: handle.truncate.bind(handle),
    datasync: handle.datasync.bind(handle),
    close: handle.close.bind(handle),
    write: async (from: Buffer, offset: number, length: number, position: number) => {
      const space = capacity - used - ((await hasReserve()) ? deps.reserveBytes : 0);
      const count = Math.min(length, space);
      if (count <= 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      used += count;
      return handle.write(from, offset, count, position);
    },
  } as unknown as LogFile;
  const log = await RecordLog.open(file, { ...deps, openFile: async () => full });
  for (let i = 0; i < 10; i++) log.append(note('w'.repeat(150)));
  await log.flush();
  const kinds = texts((await readAll(file)).lines);
  expect([kinds.length, kinds.at(-1)]).toEqual([12, 'disk']);
  // There is no reserve any more.
  capacity = used;
  log.append(note('waits'));
  await expect(log.flush()).rejects.toThrow('no space left');
  expect(log.failure).toContain('no space left');
  capacity = 100_000;
  await log.flush();
  expect(log.failure).toBeUndefined();
  await log.close();
  const { lines, damages } = await readAll(file);
  expect(damages).toEqual([]);
  expect(texts(lines)).toContain('waits');
});

test('an event costs its caller microseconds', async () => {
  const log = await RecordLog.open(newFile(), deps);
  const times: number[] = [];
  for (let i = 0; i < 20_000; i++) {
    const since = performance.now();
    log.append({ kind: 'edit', path: '/app/a.py', actor: 'human', version: i, changes: [[i, 0, 'x']] });
    times.push(performance.now() - since);
  }
  times.sort((a, b) => a - b);
  expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(0.2);
  await log.close();
});
