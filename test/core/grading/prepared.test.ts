import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { gradeTask } from '#core/grading/grade.ts';
import { PreparedContainers } from '#core/grading/prepared.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { FakeEngine, type FakeOptions } from '../../fakes/engine.ts';
import { Bench } from './support.ts';

let bench: Bench;
let task: Task;
beforeAll(async () => {
  bench = await Bench.make();
  task = await bench.task();
});
afterAll(() => bench.remove());
afterEach(() => void vi.useRealTimers());

function lab(options: FakeOptions = {}) {
  const engine = new FakeEngine(options);
  const prepared = new PreparedContainers({ connect: () => Promise.resolve(engine), log: bench.log });
  const grade = async (graded = task, on = engine): Promise<GradeResult> => {
    const deps = {
      ...{ connect: () => Promise.resolve(on), log: bench.log, hostEnv: {} },
      prepared: prepared.of('one'),
    };
    const { signal } = new AbortController();
    for await (const event of gradeTask(graded, { kind: 'empty' }, { storeDir: bench.store }, deps, signal))
      if (event.kind === 'finished') return event.result;
    throw new Error('No result.');
  };
  /** Some work, and the time that a container needs to start. */
  const work = async (): Promise<void> => {
    prepared.expect('one');
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  const made = (): number => engine.specs.length;
  return { engine, prepared, grade, work, made };
}

test('the second grade uses what was started while its author worked, once', async () => {
  const { engine, grade, work, made } = lab();
  await work();
  expect(made()).toBe(0);
  await grade();
  expect([made(), engine.alive.size]).toEqual([1, 0]);
  await work();
  await work();
  expect([made(), engine.alive.size]).toEqual([2, 1]);
  const [first, second] = engine.specs;
  expect({ ...second, name: '' }).toEqual({ ...first, name: '' });
  expect((await grade()).reward).toBe(1);
  expect([made(), engine.alive.size]).toEqual([2, 0]);
  await grade();
  expect([made(), engine.alive.size]).toEqual([3, 0]);
});

test('it is removed when the work rests, and when the attempt is left', async () => {
  const { engine, prepared, grade, work } = lab();
  await grade();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await work();
  await vi.advanceTimersByTimeAsync(4 * 60_000);
  await work();
  await vi.advanceTimersByTimeAsync(4 * 60_000);
  expect(engine.alive.size).toBe(1);
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(engine.alive.size).toBe(0);
  vi.useRealTimers();
  await work();
  expect(engine.alive.size).toBe(1);
  await prepared.drop('one');
  expect(engine.alive.size).toBe(0);
  await work();
  expect(engine.alive.size).toBe(0);
});

test('another limit, or an engine that lost it: a new one is made, and the old one is removed', async () => {
  const { engine, grade, work, made } = lab();
  await grade();
  await work();
  const other = await bench.task({ environment: 'cpus = 1\nmemory_mb = 1024\nallow_internet = false' });
  expect((await grade(other)).reward).toBe(1);
  expect([made(), engine.alive.size]).toEqual([3, 0]);
  await work();
  engine.stopContainers();
  expect((await grade(other)).reward).toBe(1);
  expect([made(), engine.alive.size]).toEqual([5, 0]);
});

test('on another engine than the one that has it: made there, and removed here', async () => {
  const { engine, grade, work } = lab();
  const other = new FakeEngine();
  await grade();
  await work();
  expect((await grade(task, other)).reward).toBe(1);
  expect([other.specs.length, engine.alive.size, other.alive.size]).toEqual([1, 0, 0]);
});

test('one that cannot be made is no error, and not tried again before a grade', async () => {
  const { engine, grade, work } = lab({ imageInfo: { entrypoint: ['/init'] } });
  await grade();
  await work();
  // What an ENTRYPOINT does takes place in the time of its own grade.
  expect(engine.specs).toHaveLength(1);
  const failing = lab({ faults: ['start-fails'] });
  await failing.grade();
  await failing.work();
  await failing.work();
  expect([failing.made(), failing.engine.alive.size]).toEqual([2, 0]);
});
