import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { listGrades, makeGradeDir, readGrade } from '#core/grading/store.ts';
import type { Task } from '#core/task/types.ts';
import { FakeEngine } from '../../fakes/engine.ts';
import { Bench } from './support.ts';

let bench: Bench;
let task: Task;
beforeAll(async () => {
  bench = await Bench.make();
  task = await bench.task();
});
afterAll(() => bench.remove());

test('grades are listed, the newest first, and read again as they were', async () => {
  const first = await bench.grade(new FakeEngine(), task);
  const second = await bench.grade(new FakeEngine({ faults: ['create-fails'] }), task);
  const grades = await listGrades(bench.store, task);
  expect(new Set(grades.map(({ dir }) => dir))).toEqual(new Set([first.dir, second.dir]));
  expect([...grades].sort((a, b) => (a.id < b.id ? 1 : -1))).toEqual(grades);
  expect(grades.find(({ dir }) => dir === second.dir)).toMatchObject({
    verdict: 'not graded',
    reason: 'container-start-failed',
    source: 'empty',
  });
  expect(await readGrade(first.dir)).toEqual(first);
});

test('torn, foreign and empty folders are passed over; each says why when it is asked for', async () => {
  const store = path.join(bench.dir, 'odd');
  const good = await bench.grade(new FakeEngine(), task, { kind: 'empty' }, { storeDir: store });
  const folder = path.dirname(good.dir);
  const text = await readFile(path.join(good.dir, 'grade.json'), 'utf8');
  const variants: Record<string, string | undefined> = {
    torn: text.slice(0, text.length / 2),
    newer: text.replace('"schemaVersion": 1', '"schemaVersion": 2'),
    other: '{"hello": 1}',
    empty: undefined,
  };
  for (const [name, content] of Object.entries(variants)) {
    await mkdir(path.join(folder, name));
    if (content !== undefined) await writeFile(path.join(folder, name, 'grade.json'), content);
  }
  expect((await listGrades(store, task)).map(({ dir }) => dir)).toEqual([good.dir]);
  for (const name of Object.keys(variants))
    await expect(readGrade(path.join(folder, name))).rejects.toThrow(UserError);
  await expect(readGrade(path.join(folder, 'newer'))).rejects.toMatchObject({
    nextStep: expect.stringContaining('version'),
  });
});

test('another task of the same folder name has its own grades', async () => {
  const twin = await bench.task();
  expect(path.basename(twin.dir)).toBe(path.basename(task.dir));
  const store = path.join(bench.dir, 'twins');
  await bench.grade(new FakeEngine(), task, { kind: 'empty' }, { storeDir: store });
  expect(await listGrades(store, twin)).toEqual([]);
  expect(await listGrades(path.join(bench.dir, 'no-store'), task)).toEqual([]);
});

test('a folder of our own choice: an empty one as it is, else a new one in it', async () => {
  const out = path.join(bench.dir, 'out');
  expect(await makeGradeDir({ storeDir: bench.store, outDir: out }, task)).toBe(out);
  await writeFile(path.join(out, 'mine'), '');
  const next = await makeGradeDir({ storeDir: bench.store, outDir: out }, task);
  expect(path.dirname(next)).toBe(out);
  expect((await stat(next)).mode & 0o77).toBe(0);
  const under = { storeDir: bench.store, outDir: path.join(out, 'mine', 'x') };
  await expect(makeGradeDir(under, task)).rejects.toThrow(UserError);
});
