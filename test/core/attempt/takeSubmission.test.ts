import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { taskMarks } from '#core/attempt/gradeAttempt.ts';
import { takeSubmission } from '#core/attempt/takeSubmission.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { writeTar } from '#core/container/tarStream.ts';
import { contentDigest } from '#core/task/digest.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import { makeTask } from '../../fixtures/tasks/makeTask.ts';
import { fileEntry, plainEntry, tempFolder } from '../container/tarTools.ts';
import { record } from './support.ts';

const signal = new AbortController().signal;
let temp: Awaited<ReturnType<typeof tempFolder>>;
let task: Task;

beforeEach(async () => {
  temp = await tempFolder();
  const loaded = await loadTask(await makeTask(path.join(temp.dir, 'a-task')));
  task = loaded.task as Task;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await temp.remove();
});

/** A frozen workspace of one file, of which the engine's archive comes in pieces. */
function workspace(onPiece: () => void = () => undefined): ContainerHandle {
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of writeTar([
      plainEntry({ name: 'app', type: 'directory' }),
      fileEntry('app/ok.txt', 'ok'),
    ])) {
      onPiece();
      yield piece;
    }
  }
  return { getArchive: async () => pieces() } as unknown as ContainerHandle;
}

test('a freeze of more than a minute while it is taken is a mark', async () => {
  const made = record({ workdir: '/app', roots: ['/app'] });
  const kept = path.join(temp.dir, 'submissions');
  const quick = await takeSubmission(made, kept, task, workspace(), { signal });
  expect(quick.marks).toEqual([]);
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const told: string[] = [];
  const slow = workspace(() => {
    now += 31_000;
  });
  const taken = await takeSubmission(made, kept, task, slow, {
    onProgress: (line) => told.push(line),
    signal,
  });
  expect(taken.marks.map(({ rule }) => rule)).toEqual(['long-freeze']);
  expect(taken.marks[0]?.message).toMatch(/frozen for \d+ s while the submission was taken/);
  expect(told.length).toBeGreaterThan(0);
  expect(await readdir(kept)).toEqual([`${taken.sha256}.tar.gz`]);
});

test('of one whose engine fails half-way nothing is left', async () => {
  const made = record({ workdir: '/app', roots: ['/app'] });
  const kept = path.join(temp.dir, 'submissions');
  let pieces = 0;
  const broken = workspace(() => {
    if (++pieces === 2) throw new Error('went away');
  });
  await expect(takeSubmission(made, kept, task, broken, { signal })).rejects.toThrow('went away');
  expect(await readdir(kept)).toEqual([]);
});

test('a task that has changed since the attempt began is a mark', async () => {
  const digest = await contentDigest(task.dir);
  const began = record({ task: { name: task.name, path: task.dir, digest } });
  expect(await taskMarks(began, task)).toEqual([]);
  const other = record({ task: { ...began.task, digest: `sha256:${'0'.repeat(64)}` } });
  expect((await taskMarks(other, task)).map(({ rule }) => rule)).toEqual(['task-changed']);
});
