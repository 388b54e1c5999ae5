import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SnapshotSchedule } from '#core/snapshot/schedule.ts';

let taken: string[];
let costMs: number;
let failure: Error | undefined;
const errors: unknown[] = [];
let schedule: SnapshotSchedule;
let began: number;

beforeEach(() => {
  vi.useFakeTimers();
  taken = [];
  costMs = 100;
  failure = undefined;
  errors.length = 0;
  began = performance.now();
  schedule = new SnapshotSchedule(
    async (reason, signal) => {
      taken.push(`${reason} at ${((performance.now() - began) / 1000).toFixed(1)}`);
      await new Promise((resolve, reject) => {
        setTimeout(resolve, costMs);
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
      if (failure) throw failure;
    },
    (error) => errors.push(error),
  );
});
afterEach(() => {
  schedule.dispose();
  vi.useRealTimers();
});

const seconds = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1_000);

test('a burst of saves is one snapshot, when it is over or has gone on for ten seconds', async () => {
  for (let i = 0; i < 5; i++) {
    schedule.saved();
    await seconds(0.5);
  }
  await seconds(10);
  expect(taken).toEqual(['save at 4.0']);
  for (let i = 0; i < 24; i++) {
    schedule.saved();
    await seconds(1);
  }
  await seconds(10);
  expect(taken).toEqual(['save at 4.0', 'save at 22.5', 'save at 32.5', 'save at 37.5']);
});

test('a command is followed by one at once, and by one more for what ended meanwhile', async () => {
  schedule.commandEnded();
  await seconds(0.05);
  schedule.commandEnded();
  schedule.commandEnded();
  await seconds(5);
  // Nine times as long as the first one took.
  expect(taken).toEqual(['command at 0.0', 'command at 1.0']);
});

test('activity makes one a minute, and none without it', async () => {
  for (let i = 0; i < 130; i++) {
    schedule.active();
    await seconds(1);
  }
  await seconds(600);
  expect(taken).toEqual(['activity at 0.0', 'activity at 60.0', 'activity at 120.0', 'activity at 180.0']);
  schedule.active();
  await seconds(1);
  expect(taken.at(-1)).toBe('activity at 730.0');
});

test('slow ones become rarer', async () => {
  costMs = 5_000;
  for (let i = 0; i < 99; i++) {
    schedule.commandEnded();
    await seconds(1);
  }
  expect(taken).toEqual(['command at 0.0', 'command at 50.0']);
});

test('a failure is told and not the end; nothing is begun after the end', async () => {
  failure = new Error('no container');
  schedule.commandEnded();
  await seconds(2);
  expect(errors).toEqual([failure]);
  failure = undefined;
  schedule.commandEnded();
  await seconds(0.05);
  schedule.dispose();
  schedule.saved();
  await seconds(100);
  expect(taken).toHaveLength(2);
  expect(errors).toHaveLength(1);
});
