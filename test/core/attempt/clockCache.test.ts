import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HostClock } from '#core/attempt/hostClock.ts';
import { Recorder } from '#core/attempt/recorder.ts';
import { nullLog } from '#core/base/log.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-clock-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('what was kept of the clock is used with the record that it was made of, and with no other', async () => {
  let ms = 0;
  const hostClock: HostClock = { boot: 'boot', sleep: 'excluded', monoMs: () => ms, utcMs: () => ms };
  const open = () => Recorder.open(dir, { log: nullLog, hostClock, reserveBytes: 16 });
  const work = async (): Promise<void> => {
    const recorder = await open();
    recorder.append({ kind: 'container', how: 'was paused' });
    recorder.append({ kind: 'thawed' });
    ms += 3_000;
    recorder.append({ kind: 'frozen', reason: 'closed' });
    await recorder.close();
  };
  const look = async (): Promise<number> => {
    const recorder = await open();
    const { unpausedMs } = recorder.clock;
    await recorder.close();
    return unpausedMs;
  };
  await work();
  const cache = path.join(dir, 'clock.json');
  const [old, file] = [await readFile(cache, 'utf8'), path.join(dir, 'record.jsonl')];
  const early = await readFile(file);
  await work();
  expect(await look()).toBe(6_000);
  // Older than the record, as after a crash: the lines since are read.
  await writeFile(cache, old);
  expect(await look()).toBe(6_000);
  // It is used: another number in it is believed.
  await writeFile(cache, (await readFile(cache, 'utf8')).replace('"unpausedMs":6000', '"unpausedMs":7000'));
  expect(await look()).toBe(7_000);
  // Of another record, or torn, it is not.
  const newest = await readFile(cache, 'utf8');
  await writeFile(file, early);
  expect(await look()).toBe(3_000);
  await writeFile(cache, newest.replace(/"offset":\d+/, '"offset":10'));
  expect(await look()).toBe(3_000);
  await writeFile(cache, newest.slice(0, 50));
  expect(await look()).toBe(3_000);
});
