import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { NotGradedReason } from '#core/grading/reasons.ts';
import type { Cause } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { FakeEngine, type FakeFault, type FakeOptions } from '../../fakes/engine.ts';
import { fileEntry, pack } from '../container/tarTools.ts';
import { Bench, ctrf } from './support.ts';

let bench: Bench;
let task: Task;
beforeAll(async () => {
  bench = await Bench.make();
  task = await bench.task();
});
afterAll(() => bench.remove());
afterEach(() => void vi.useRealTimers());

interface FaultCase {
  readonly faults: readonly FakeFault[];
  readonly reason: NotGradedReason;
  readonly cause: Cause;
  readonly says: RegExp;
  readonly options?: FakeOptions;
}

const noReward: FakeOptions = { test: () => 0 };

test.each<FaultCase>([
  { faults: ['info-unreachable'], reason: 'engine-unavailable', cause: 'engine', says: /does not answer/ },
  {
    faults: ['build-fails'],
    reason: 'image-build-failed',
    cause: 'task',
    says: /exit code: 7\nno such package/,
  },
  { faults: ['wrong-platform'], reason: 'image-platform', cause: 'engine', says: /for windows/ },
  { faults: ['create-fails'], reason: 'container-start-failed', cause: 'task', says: /name is in use/ },
  { faults: ['start-fails'], reason: 'container-start-failed', cause: 'task', says: /executable file/ },
  { faults: ['prepare-fails'], reason: 'container-start-failed', cause: 'task', says: /mkdir: not found/ },
  { faults: ['put-fails'], reason: 'engine-failed', cause: 'engine', says: /tar file/ },
  { faults: ['disk-full'], reason: 'disk-full', cause: 'engine', says: /disk is full/ },
  { faults: ['watch-fails'], reason: 'engine-lost', cause: 'engine', says: /while watching/ },
  { faults: ['exec-fails'], reason: 'engine-failed', cause: 'engine', says: /OCI runtime/ },
  { faults: ['exec-stream-ends-early'], reason: 'engine-lost', cause: 'engine', says: /went away/ },
  { faults: ['dies', 'stopping'], reason: 'engine-lost', cause: 'engine', says: /stopped or restarted/ },
  { faults: ['dies'], reason: 'verifier-killed', cause: 'unknown', says: /ended before the tests/ },
  {
    faults: ['out-of-memory'],
    reason: 'verifier-out-of-memory',
    cause: 'unknown',
    says: /memory \(limit 512 MB\)/,
  },
  { faults: ['kill-fails'], reason: 'engine-failed', cause: 'engine', says: /cannot kill/ },
  { faults: ['get-fails'], reason: 'engine-failed', cause: 'engine', says: /Could not read/ },
  { faults: ['get-is-cut'], reason: 'engine-lost', cause: 'engine', says: /cut|middle/ },
  { faults: ['changes-fail'], reason: 'engine-failed', cause: 'engine', says: /No such layer/ },
  {
    faults: [],
    reason: 'reward-missing',
    cause: 'unknown',
    says: /without writing a reward/,
    options: noReward,
  },
])(
  '$faults ends as "not graded" ($reason), and the container is removed',
  async ({ faults, reason, cause, says, options }) => {
    const engine = new FakeEngine({ ...options, faults });
    const result = await bench.grade(engine, task);
    expect(result).toMatchObject({ verdict: 'not graded', reason, explanation: { cause }, reward: null });
    expect(result.explanation?.text).toMatch(says);
    expect(result.explanation?.nextStep).toMatch(/^[A-Z].*\.$/);
    expect(engine.alive.size).toBe(0);
    const stored: unknown = JSON.parse(await readFile(path.join(result.dir, 'grade.json'), 'utf8'));
    expect(stored).toMatchObject({ verdict: 'not graded', reason });
  },
);

test('a reference that is absent and cannot be pulled is named', async () => {
  const pulled = await bench.task({ environment: 'docker_image = "registry.example/x:1"' });
  const engine = new FakeEngine({ faults: ['pull-fails'] });
  const result = await bench.grade(engine, pulled);
  expect(result).toMatchObject({ verdict: 'not graded', reason: 'image-missing' });
  expect(result.explanation?.text).toContain('registry.example/x:1 is not on this machine');
  expect(engine.specs).toHaveLength(0);
});

test('an entry that did not arrive is no grade', async () => {
  const engine = new FakeEngine({ faults: ['put-loses-a-file'] });
  const folder = await bench.task();
  const result = await bench.grade(engine, task, { kind: 'folder', path: folder.dir });
  expect(result).toMatchObject({ verdict: 'not graded', reason: 'copy-incomplete' });
  expect(result.evidence.arrival?.differing[0]).toMatch(/^\/app\/.*: missing$/);
  expect(engine.alive.size).toBe(0);
});

test('an image without tar is filled by the engine', async () => {
  const engine = new FakeEngine({ noTar: true });
  const folder = await bench.task();
  const result = await bench.grade(engine, task, { kind: 'folder', path: folder.dir });
  expect(result).toMatchObject({ reward: 1, evidence: { arrival: { differing: [] } } });
  expect(engine.calls.filter((call) => call === 'put')).toHaveLength(1);
});

test('where tar is there, the engine is asked for nothing', async () => {
  const engine = new FakeEngine();
  await bench.grade(engine, task);
  expect(engine.calls).not.toContain('put');
});

test('a task of little memory does not pay for what is ours', async () => {
  const engine = new FakeEngine();
  const small = await bench.task({ environment: 'memory_mb = 64\nallow_internet = false' });
  expect((await bench.grade(engine, small)).reward).toBe(1);
  expect(engine.calls).toContain('put');
});

test('a submission that turns out unfit while it goes in: no test runs', async () => {
  const script = vi.fn(() => 0);
  const engine = new FakeEngine({ test: script });
  const wanting = await bench.task({ artifacts: ['/app', '/srv/data'] });
  const folder = await bench.task();
  const result = await bench.grade(engine, wanting, { kind: 'folder', path: folder.dir });
  expect(result).toMatchObject({ verdict: 'not graded', reason: 'artifact-missing' });
  expect(script).not.toHaveBeenCalled();
  expect(engine.alive.size).toBe(0);
});

describe('an engine that hangs does not hang the grade', () => {
  /** Lets timers run until the grade is over; files are read for real meanwhile. */
  async function impatient<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const done = work.finally(() => {
      over = true;
    });
    while (!over) {
      await vi.advanceTimersByTimeAsync(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return done;
  }

  test('a kill without an answer after the tests', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const engine = new FakeEngine({ faults: ['kill-hangs'] });
    const result = await impatient(bench.grade(engine, task));
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'engine-lost' });
    expect(engine.calls).toContain('remove');
  });

  test('a kill without an answer at the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const engine = new FakeEngine({ faults: ['kill-hangs'], test: () => new Promise(() => undefined) });
    const result = await impatient(bench.grade(engine, task));
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'engine-lost' });
    expect(engine.calls).toContain('remove');
  });

  test('a removal without an answer: the verdict stands, and a warning says what is left', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    bench.warnings.length = 0;
    const result = await impatient(bench.grade(new FakeEngine({ faults: ['remove-hangs'] }), task));
    expect(result.reward).toBe(1);
    expect(bench.warnings.join()).toMatch(/could not be removed/);
  });
});

test('a removal that fails is a warning that names the container, and changes no verdict', async () => {
  bench.warnings.length = 0;
  const engine = new FakeEngine({ faults: ['remove-fails'] });
  const result = await bench.grade(engine, task);
  expect(result.reward).toBe(1);
  expect(bench.warnings.join()).toContain(engine.specs[0]?.name);
});

test('processes that cannot be listed cost only that piece of evidence', async () => {
  const result = await bench.grade(new FakeEngine({ faults: ['processes-fail'] }), task);
  expect(result.reward).toBe(1);
  expect(result.evidence).not.toHaveProperty('processesLeft');
});

test('a test.sh past its deadline: killed, timed out, a reward written before it not taken', async () => {
  const engine = new FakeEngine({
    test: (files) => {
      files.write('/logs/verifier/reward.txt', '1');
      return new Promise(() => undefined);
    },
  });
  const result = await bench.grade(engine, task, { kind: 'empty' }, { timeoutSec: 0.05 });
  expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-timeout', reward: null });
  expect(result.explanation?.text).toContain('0.05 s');
  expect(result.evidence.exitCode).toBeNull();
  expect(engine.calls.indexOf('kill')).toBeGreaterThan(0);
  expect(engine.alive.size).toBe(0);
});

test('a container that ended by itself keeps its reward, and that is marked', async () => {
  const engine = new FakeEngine({
    test: (files) => {
      files.write('/logs/verifier/reward.txt', '1');
      files.write('/logs/verifier/ctrf.json', ctrf({ a: 'passed', b: 'passed' }));
      engine.stopContainers();
      return 137;
    },
  });
  const result = await bench.grade(engine, task);
  expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
  expect(result.marks.map(({ rule }) => rule)).toEqual(['container-ended']);
});

test('a host variable that is not set is named', async () => {
  const wanting = await bench.task({
    verifier: `environment_mode = "separate"\ntest_case_count = 2\n\n[verifier.env]\nKEY = "\${E2E_TEST_UNSET}"`,
  });
  const result = await bench.grade(
    new FakeEngine(),
    wanting,
    { kind: 'empty' },
    {
      allowHostEnv: () => Promise.resolve(true),
    },
  );
  expect(result).toMatchObject({
    ...{ verdict: 'not graded', reason: 'verifier-env-missing' },
    explanation: { cause: 'task', text: expect.stringContaining('E2E_TEST_UNSET') },
  });
});

test('a tar that is none, and one of a single folder of another name', async () => {
  const none = path.join(bench.dir, 'none.tar');
  await writeFile(none, 'no archive'.repeat(200));
  const engine = new FakeEngine();
  expect(await bench.grade(engine, task, { kind: 'tar', path: none })).toMatchObject({
    ...{ verdict: 'not graded', reason: 'submission-unreadable', explanation: { cause: 'submission' } },
  });
  expect(engine.alive.size).toBe(0);
  const wrapped = path.join(bench.dir, 'wrapped.tar');
  await writeFile(wrapped, await pack([fileEntry('mine/ok.txt', 'ok'), fileEntry('mine/more', '')]));
  const result = await bench.grade(engine, task, { kind: 'tar', path: wrapped });
  expect(result.marks[0]).toMatchObject({
    rule: 'one-folder',
    message: expect.stringContaining('"mine"'),
  });
});
