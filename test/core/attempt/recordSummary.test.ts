import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { exampleProtocol } from '#core/attempt/readConditions.ts';
import { Recorder } from '#core/attempt/recorder.ts';
import { readSummary } from '#core/attempt/recordSummary.ts';
import { awaitsStart, moveTo, notStartedReason } from '#core/attempt/states.ts';
import { nullLog } from '#core/base/log.ts';
import { record } from './support.ts';

test('a record is summed up: notes, grades, the first of each milestone, the newest word on AI', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-summary-'));
  try {
    const recorder = await Recorder.open(dir, { log: nullLog, reserveBytes: 16 });
    recorder.append({ kind: 'milestone', what: 'environment-ready' });
    recorder.append({ kind: 'milestone', what: 'spec-opened' });
    await recorder.flush();
    const first = (await readSummary(dir)).summary.milestones;
    recorder.append({ kind: 'note', text: 'one' });
    recorder.append({ kind: 'milestone', what: 'spec-opened' });
    recorder.append({ kind: 'ai-features', off: [], on: ['x'], extensions: [] });
    recorder.append({ kind: 'ai-features', off: ['x'], on: [], extensions: [] });
    const revealed = { tier: 'counts', passed: 1, total: 2 };
    recorder.append({ kind: 'graded', official: false, dir: '1', verdict: 'unresolved', revealed });
    await recorder.close();
    const { summary, lastLine } = await readSummary(dir);
    expect(summary.notes.map(({ text }) => text)).toEqual(['one']);
    expect(summary.grades.map((grade) => grade.revealed)).toEqual([revealed]);
    expect(summary.milestones).toEqual(first);
    expect(Object.keys(first).sort()).toEqual(['environment-ready', 'spec-opened']);
    expect(summary.aiFeatures?.on).toEqual([]);
    expect(lastLine).toBe(8);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test('a measured attempt waits for its start until it ran once; practice never does', () => {
  const ready = moveTo(record(), 'ready');
  const measured = moveTo({ ...ready, protocol: exampleProtocol }, 'paused', notStartedReason);
  expect(awaitsStart(measured)).toBe(true);
  expect(awaitsStart(moveTo(measured, 'running'))).toBe(false);
  expect(awaitsStart(moveTo(moveTo(measured, 'running'), 'paused', 'lunch'))).toBe(false);
  expect(awaitsStart(moveTo(measured, 'gave-up'))).toBe(false);
  expect(awaitsStart(moveTo(ready, 'paused', 'lunch'))).toBe(false);
});
