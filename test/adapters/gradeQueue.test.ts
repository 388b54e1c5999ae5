import { expect, test } from 'vitest';
import { CancelledError } from '#core/base/errors.ts';
import { GradeQueue } from '#vscode/grading/gradeQueue.ts';
import { makeTask } from './support/builders.ts';

const task = makeTask('/c/a');
const source = { kind: 'empty' } as const;

test('grades run one after the other, also after one that breaks', async () => {
  const queue = new GradeQueue();
  const told: string[] = [];
  const job = (name: string, fails = false) =>
    queue.run(task, source, new AbortController(), async () => {
      told.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      told.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([job('1', true), job('2'), job('3')]);
  expect(told).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(queue.jobs).toEqual([]);
});

test('a waiting grade is cancelled at once and takes no turn', async () => {
  const queue = new GradeQueue();
  let finish: () => void = () => undefined;
  const running = queue.run(
    task,
    source,
    new AbortController(),
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  const waiting = queue.run(task, source, new AbortController(), async () => 'never');
  const last = queue.run(task, source, new AbortController(), async () => 'last');
  await new Promise((resolve) => setImmediate(resolve));
  expect(queue.jobs.map((job) => job.state)).toEqual(['running', 'queued', 'queued']);
  queue.jobs[1]?.cancel();
  await expect(waiting).rejects.toBeInstanceOf(CancelledError);
  finish();
  await running;
  expect(await last).toBe('last');
});

test('what a grade does now is told with its task', async () => {
  const queue = new GradeQueue();
  const steps: string[] = [];
  queue.onDidChange(() => steps.push(queue.jobs.map((job) => `${job.state}: ${job.step}`).join() || 'idle'));
  await queue.run(task, source, new AbortController(), async (step) => step('Building the image'));
  expect(steps).toEqual(['queued: Waiting', 'running: Starting', 'running: Building the image', 'idle']);
});

test('stopping cancels all and waits for the last of them to clean up', async () => {
  const queue = new GradeQueue();
  const told: string[] = [];
  const controller = new AbortController();
  const running = queue.run(task, source, controller, async () => {
    await new Promise<void>((resolve) => {
      controller.signal.addEventListener('abort', () => setTimeout(resolve, 20));
    });
    told.push('container removed');
  });
  const waiting = queue.run(task, source, new AbortController(), async () => told.push('never'));
  const results = Promise.allSettled([running, waiting]);
  await new Promise((resolve) => setImmediate(resolve));
  await queue.stop();
  told.push('stopped');
  await queue.stop();
  await results;
  expect(told).toEqual(['container removed', 'stopped']);
});
