import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import { exampleProtocol } from '#core/attempt/readConditions.ts';
import { readSummary } from '#core/attempt/recordSummary.ts';
import { awaitsStart } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { drain } from './attemptSupport.ts';
import { docker, Lab } from './support.ts';

const never = new AbortController().signal;

let lab: Lab;
let store: AttemptStore;
let attempts: Attempts;
let record: AttemptRecord;

beforeAll(async () => {
  lab = await Lab.open();
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = new Attempts({ store, connect: async () => lab.engine, log: lab.log, hostEnv: {} });
  for await (const event of attempts.start(await lab.task({}), { protocol: exampleProtocol }, never))
    if (event.kind === 'ready') record = event.attempt;
});

afterAll(async () => {
  if (record) await attempts.delete(record.id);
  for (const image of docker(['images', '-q', 'e2e-swe/shell-task']).split('\n')) if (image) lab.owns(image);
  await lab.dispose();
});

const containerState = (): string =>
  docker(['inspect', '-f', '{{.State.Status}}', `e2e-swe-workspace-${record.id}`]).trim();

test('a measured attempt is made with its clock standing, also while it is opened and closed', async () => {
  expect(awaitsStart(record)).toBe(true);
  expect(containerState()).toBe('paused');
  for (let round = 0; round < 2; round++) {
    const open = await attempts.open(record.id, never);
    expect(open).toMatchObject({ frozenBecause: 'pause', readOnly: false, isolation: { isIsolated: true } });
    await delay(300);
    expect(containerState()).toBe('paused');
    await open.close();
  }
  expect(await attempts.clock(record.id)).toMatchObject({ phase: 'not started', wallMs: 0, unpausedMs: 0 });
});

test('nothing can be graded or submitted before the start', async () => {
  const refused = 'its clock has not been started';
  await expect(drain(attempts.grade(record.id, {}, never))).rejects.toThrow(refused);
  await expect(drain(attempts.submit(record.id, never, {}))).rejects.toThrow(refused);
  await expect(attempts.trySetup(record.id, () => undefined, never)).rejects.toThrow(refused);
});

test('from the start on it runs, and the record has the times', async () => {
  const open = await attempts.open(record.id, never);
  await attempts.resume(record.id);
  expect(containerState()).toBe('running');
  await delay(300);
  open.recorder?.append({ kind: 'milestone', what: 'spec-opened' });
  await open.close();
  const { phase, unpausedMs } = await attempts.clock(record.id);
  expect(phase).toBe('paused');
  expect(unpausedMs).toBeGreaterThanOrEqual(300);
  const { milestones } = (await readSummary(store.dirOf(record.id))).summary;
  const times = [milestones['environment-ready'], milestones.started, milestones['spec-opened']];
  expect(times).toEqual([...times].sort());
  expect(times).not.toContain(undefined);
});
