import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Attempts } from '#core/attempt/attempts.ts';
import { attemptsAt, leaveReveal, revealOutside } from '#core/attempt/outsideReveals.ts';
import { Recorder } from '#core/attempt/recorder.ts';
import type { Recorders } from '#core/attempt/recorders.ts';
import type { AttemptState } from '#core/attempt/types.ts';
import { nullLog } from '#core/base/log.ts';
import { contentDigest } from '#core/task/digest.ts';
import { makeTask } from '../../fixtures/tasks/makeTask.ts';
import { record, useStore } from './support.ts';

const used = useStore();
const reveal = { what: 'grade', of: 'solution', tier: 'full' } as const;

async function attemptAt(task: { path: string; digest: string }, state: AttemptState = 'ready') {
  const made = record({ state, task: { name: 'a task', ...task } });
  await used.store.create(made);
  return made;
}

async function recorded(id: string): Promise<readonly Record<string, unknown>[]> {
  const text = await readFile(path.join(used.store.dirOf(id), 'record.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === 'revealed-outside');
}

test('of an attempt that nobody writes, its next writer takes them up, each once', async () => {
  const { id } = await attemptAt({ path: '/corpus/a-task', digest: 'sha256:0' });
  const before = new Date().toISOString();
  await leaveReveal(used.store, [{ id }], reveal);
  await leaveReveal(used.store, [{ id }], { ...reveal, what: 'verifier-log', of: '/store/grades/1' });
  await writeFile(path.join(used.store.dirOf(id), 'reveals', 'torn.json'), '{"kind": "revealed');
  const connect = () => Promise.reject(new Error('no engine'));
  const attempts = new Attempts({ store: used.store, connect, log: nullLog, hostEnv: {} });
  await attempts.note(id, 'one');
  await attempts.note(id, 'two');
  const lines = await recorded(id);
  expect(lines).toMatchObject([reveal, { what: 'verifier-log', of: '/store/grades/1' }]);
  expect(lines.every(({ at }) => String(at) >= before)).toBe(true);
  expect(await readdir(path.join(used.store.dirOf(id), 'reveals'))).toEqual([]);
});

test('a record that is open here has them at once, one that is open elsewhere at its end', async () => {
  const { id } = await attemptAt({ path: '/corpus/a-task', digest: 'sha256:0' });
  const recorder = await Recorder.open(used.store.dirOf(id), { log: nullLog });
  const recorders = { peek: () => recorder } as unknown as Recorders;
  await Promise.all([1, 2].map(() => revealOutside({ store: used.store, recorders }, [{ id }], reveal)));
  expect(await recorded(id)).toHaveLength(2);
  await leaveReveal(used.store, [{ id }], { ...reveal, of: 'empty' });
  expect(await recorded(id)).toHaveLength(2);
  await recorder.close();
  expect((await recorded(id)).map(({ of }) => of)).toEqual(['solution', 'solution', 'empty']);
});

test('it is told to attempts at the task, or at its content elsewhere, that have not ended', async () => {
  const path1 = await makeTask(path.join(used.dir, 'one/a-task'));
  const path2 = path.join(used.dir, 'two/a-task');
  await mkdir(path.dirname(path2));
  await cp(path1, path2, { recursive: true });
  const digest = await contentDigest(path1);
  const here = await attemptAt({ path: path1, digest: 'sha256:before it was changed' });
  const copy = await attemptAt({ path: path2, digest });
  await attemptAt({ path: path1, digest }, 'submitted');
  await attemptAt({ path: path1, digest }, 'lost');
  const other = await attemptAt({ path: '/corpus/other', digest: 'sha256:other' });
  const ids = async (...asked: Parameters<typeof attemptsAt>) =>
    (await attemptsAt(...asked)).map(({ id }) => id).sort();
  expect(await ids(used.store, path1)).toEqual([here.id, copy.id].sort());
  expect(await ids(used.store, '/gone')).toEqual([]);
  expect(await ids(used.store, path1, { except: copy.id })).toEqual([here.id]);
  expect(await ids(used.store, '/gone', { gradedDigest: 'sha256:other' })).toEqual([other.id]);
});
