import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { AttemptStore, makeAttemptId } from '#core/attempt/attemptStore.ts';
import { protocolSchema, tierOf } from '#core/attempt/protocol.ts';
import { UserError } from '#core/base/errors.ts';
import { record, useStore } from './support.ts';

const used = useStore();

test('ids say the task, can stand in an address and in a container’s name, and list the newest first', async () => {
  const names = ['tidequery', 'Org/My Task (2)', '', '任务', `${'long-'.repeat(9)}end`, 'a'];
  const ids: string[] = [];
  for (const name of names) {
    ids.push(makeAttemptId(name));
    await used.store.create(record({ id: ids.at(-1) as string }));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect(ids.map((id) => id.replace(/[a-z0-9]{11}$/, '*'))).toEqual([
    'tidequery-*',
    'my-task-2-*',
    '*',
    '*',
    'long-long-long-long-long-*',
    'a-*',
  ]);
  expect((await used.store.list()).map(({ id }) => id)).toEqual(ids.toReversed());
  expect(() => used.store.dirOf('a-task-/../../other')).toThrow('There is no attempt');
});

test('a new attempt is in a folder of its owner’s alone, and is read as it was written', async () => {
  const made = record({
    user: 'builder',
    grades: [{ dir: '/elsewhere/grades/1', verdict: 'resolved', at: 'now', official: true }],
  });
  await used.store.create(made);
  const dir = used.store.dirOf(made.id);
  expect(dir).toBe(path.join(used.dir, 'store/attempts/a-task', made.id));
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  expect(await readdir(dir)).toEqual(['attempt.json']);
  expect(await used.store.read(made.id)).toEqual(made);
});

test('places in the attempt’s folder move with the store', async () => {
  const made = record();
  await used.store.create(made);
  const dir = used.store.dirOf(made.id);
  const file = path.join(dir, 'submissions/00.tar.gz');
  await used.store.update(made.id, (old) => ({
    ...old,
    grades: [{ dir: path.join(dir, 'grades/1'), verdict: 'unresolved', at: 'now', official: false }],
    submission: { file, sha256: '00', at: 'now' },
  }));
  expect(await readFile(path.join(dir, 'attempt.json'), 'utf8')).not.toContain(used.dir);
  const moved = path.join(used.dir, 'moved');
  await rename(used.store.storeDir, moved);
  const found = await new AttemptStore(moved).read(made.id);
  expect(found.grades[0]?.dir).toBe(path.join(moved, 'attempts/a-task', made.id, 'grades/1'));
  expect(found.submission?.file).toBe(path.join(moved, 'attempts/a-task', made.id, 'submissions/00.tar.gz'));
});

test('a record from before there was an attached mode is of the other one', async () => {
  const made = record();
  await used.store.create(made);
  const { mode: _absent, ...old } = made;
  await writeFile(path.join(used.store.dirOf(made.id), 'attempt.json'), JSON.stringify(old));
  expect((await used.store.read(made.id)).mode).toBe('channel');
  await used.store.update(made.id, (now) => ({ ...now, mode: 'attached' }));
  expect((await used.store.read(made.id)).mode).toBe('attached');
});

test('a record of version 1 has no budget, and is written as the newest', async () => {
  const made = record({ state: 'ready', history: [{ state: 'ready', at: 'then', reason: 'why' }] });
  await used.store.create(made);
  const file = path.join(used.store.dirOf(made.id), 'attempt.json');
  const { budgetSec: _absent, ...old } = made;
  await writeFile(file, JSON.stringify({ ...old, schemaVersion: 1 }));
  expect(await used.store.read(made.id)).toEqual({ ...made, budgetSec: null });
  await used.store.move(made.id, 'paused', { reason: 'lunch' });
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    ...{ schemaVersion: 3, state: 'paused', budgetSec: null },
    history: [{ state: 'ready' }, { state: 'paused', reason: 'lunch' }],
  });
  // What only version 2 has is damage in one of version 1.
  await writeFile(file, JSON.stringify({ ...old, schemaVersion: 1, state: 'timed-out' }));
  await expect(used.store.read(made.id)).rejects.toThrow('is not as its version is written (state)');
});

test('a record of version 2 is practice, and one of version 3 keeps its conditions', async () => {
  const made = record({ state: 'ready' });
  await used.store.create(made);
  const file = path.join(used.store.dirOf(made.id), 'attempt.json');
  await writeFile(file, JSON.stringify({ ...made, schemaVersion: 2, protocol: { tier: 'counts' } }));
  const old = await used.store.read(made.id);
  expect([old, tierOf(old)]).toEqual([made, 'full']);
  const protocol = protocolSchema.parse({
    ...{ pseudonym: 'otter', exposure: 'none', experienceYears: null, expertise: [], aiPolicy: 'none' },
    ...{ otherDevice: 'nothing', tier: 'counts', interimGrading: true },
  });
  await used.store.update(made.id, (now) => ({ ...now, protocol }));
  const kept = await used.store.read(made.id);
  expect([kept, tierOf(kept)]).toEqual([{ ...made, protocol }, 'counts']);
});

test('a move is told once it is on disk', async () => {
  const made = record();
  await used.store.create(made);
  const told: string[] = [];
  const listening = used.store.onDidMove(({ id, step }) => {
    const text = readFileSync(path.join(used.store.dirOf(id), 'attempt.json'), 'utf8');
    told.push(`${step.state} ${(JSON.parse(text) as { state: string }).state}`);
  });
  await used.store.move(made.id, 'ready');
  await expect(used.store.move(made.id, 'submitted')).rejects.toThrow('cannot become');
  listening.dispose();
  expect(told).toEqual(['ready ready']);
});

test('lists the newest first, and what is damaged with its reason', async () => {
  const [old, torn, foreign, newer, other, none] = ['0', '1', '2', '3', '4', '5'].map((n) => `aaaaaa${n}`);
  for (const id of [old, torn, foreign, newer, other]) await used.store.create(record({ id: id as string }));
  const spoil = (id = '', text = '') => writeFile(path.join(used.store.dirOf(id), 'attempt.json'), text);
  await spoil(torn, '{"schemaVersion": 1, "id": "aaa');
  await spoil(foreign, '{"schemaVersion": 4}');
  await spoil(other, JSON.stringify(record({ id: 'bbbbbbb' })));
  await mkdir(path.join(used.store.storeDir, 'attempts/a-task', none as string));
  await writeFile(path.join(used.store.storeDir, 'attempts/a-task/notes.txt'), '');
  await writeFile(path.join(used.store.storeDir, 'attempts/stray'), '');
  const listed = await used.store.list();
  expect(listed.map(({ id, state, damage }) => [id, state, damage])).toEqual([
    [none, 'lost', 'attempt.json cannot be read (ENOENT).'],
    [other, 'lost', 'attempt.json is of the attempt "bbbbbbb", not of this folder.'],
    [newer, 'preparing', undefined],
    [foreign, 'lost', 'attempt.json is of version 4, not 3.'],
    [torn, 'lost', 'attempt.json is torn or no JSON.'],
    [old, 'preparing', undefined],
  ]);
  await expect(used.store.read(torn as string)).rejects.toThrow('aaaaaa1: attempt.json is torn');
  await used.store.delete(torn as string);
  expect(used.store.find(torn as string)).toBeUndefined();
});

test('an empty or absent store lists nothing', async () => {
  expect(await used.store.list()).toEqual([]);
});

test.each(['', '..', '../../etc', 'no-such', 'UPPER12', 'a/b'])('there is no attempt %j', async (id) => {
  await used.store.create(record());
  expect(() => used.store.dirOf(id)).toThrow(UserError);
  await expect(used.store.read(id)).rejects.toThrow('There is no attempt');
  await used.store.delete(id);
  expect(await used.store.list()).toHaveLength(1);
});

test('a volume that is not its own is not believed', async () => {
  const made = record();
  await used.store.create(made);
  await writeFile(
    path.join(used.store.dirOf(made.id), 'attempt.json'),
    JSON.stringify({ ...made, volume: 'somebody-elses' }),
  );
  expect((await used.store.list())[0]?.damage).toContain('a volume that is not its own');
});

test('changes come one after the other, and the state by move alone', async () => {
  const made = record();
  await used.store.create(made);
  const grade = { dir: '/x', verdict: 'resolved', at: 'now', official: false } as const;
  await Promise.all(
    Array.from({ length: 10 }, () =>
      used.store.update(made.id, (old) => ({ ...old, grades: [...old.grades, grade] })),
    ),
  );
  expect((await used.store.read(made.id)).grades).toHaveLength(10);
  await expect(used.store.update(made.id, (old) => ({ ...old, state: 'submitted' }))).rejects.toThrow(
    'move()',
  );
  await expect(used.store.move(made.id, 'submitted')).rejects.toThrow(UserError);
  expect((await used.store.move(made.id, 'ready', { reason: 'done' })).history.at(-1)).toMatchObject({
    state: 'ready',
    reason: 'done',
  });
  expect((await used.store.read(made.id)).state).toBe('ready');
});

test('deleting takes the folder of the task too when it was the last', async () => {
  const [a, b] = [record({ id: 'aaaaaa1' }), record({ id: 'aaaaaa2' })];
  await used.store.create(a);
  await used.store.create(b);
  await used.store.delete(a.id);
  await used.store.delete(a.id);
  expect(await readdir(path.join(used.store.storeDir, 'attempts'))).toEqual(['a-task']);
  await used.store.delete(b.id);
  expect(await readdir(path.join(used.store.storeDir, 'attempts'))).toEqual([]);
});
