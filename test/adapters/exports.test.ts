import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { CancelledError } from '#core/base/errors.ts';
import { readTrialResult } from '#core/trial/readTrialResult.ts';
import { exportCommands } from '#vscode/exports/exportCommands.ts';
import { aProtocol, aTask, storeAttempt } from '../core/attempt/storedAttempt.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { makeAttempt } from './support/attempts.ts';
import { graderOf, makeEntry } from './support/builders.ts';
import { renderTree } from './support/render.ts';
import { makeWorld } from './support/world.ts';

/** The commands over a real store in a temporary folder. */

let dir: string;
let store: AttemptStore;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(path.join(tmpdir(), 'e2e-swe-exports-')));
  store = new AttemptStore(path.join(dir, 'store'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function open() {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf(), store.storeDir);
  return { ...world, commands: exportCommands(world) };
}

async function addAttempt(room: Awaited<ReturnType<typeof open>>['room']): Promise<void> {
  const record = await storeAttempt(store, await aTask(dir), {
    record: { state: 'submitted' },
    happenings: [{ kind: 'thawed' }, 60_000, { kind: 'note', text: 'thought' }],
    files: { 'ok.txt': 'ok' },
    grade: { verifier: { 'reward.txt': '1\n' } },
  });
  room.add(record);
}

test('an attempt is exported below a chosen folder, told with its place, and opened', async () => {
  const { commands, room, notifier } = await open();
  await addAttempt(room);
  fake.picks = ['some-task', 'As it is'];
  fake.openDialog = [Uri.file(path.join(dir, 'out'))];
  fake.answer = (_message, actions) => actions[0];
  await commands['e2eSwe.exportAttempt']();
  const [name = ''] = await readdir(path.join(dir, 'out'));
  expect(name).toMatch(/^some-task__\w{7}$/);
  const trial = path.join(dir, 'out', name);
  expect(await readTrialResult(trial)).toMatchObject({ verdict: 'resolved', agent: { name: 'human' } });
  expect(notifier.history.at(-1)).toMatchObject({
    message: `The attempt is exported to ${trial}.`,
    actions: ['Open folder', 'Show trajectory'],
  });
  expect(fake.progress).toContain('Exporting the attempt at some-task: Unpacking the submission');
  await expect
    .poll(() => fake.executed.map(([id, uri]) => `${String(id)} ${(uri as Uri).path}`))
    .toEqual([`revealFileInOS ${trial}`]);
});

test('an anonymised one says what it lacks, and one that is not chosen leaves nothing', async () => {
  const { commands, room, notifier } = await open();
  await addAttempt(room);
  fake.picks = ['some-task', 'Anonymised'];
  fake.openDialog = [Uri.file(path.join(dir, 'out'))];
  await commands['e2eSwe.exportAttempt']();
  expect(notifier.history.at(-1)?.message).toContain(
    'The files of the workspace (artifacts/) are as they are',
  );
  const [name = ''] = await readdir(path.join(dir, 'out'));
  expect(await readFile(path.join(dir, 'out', name, 'agent/trajectory.json'), 'utf8')).not.toContain(
    'thought',
  );
  for (const picks of [[], ['some-task'], ['some-task', 'As it is']]) {
    fake.picks = picks;
    fake.openDialog = undefined;
    await expect(commands['e2eSwe.exportAttempt']()).rejects.toBeInstanceOf(CancelledError);
  }
  expect((await readdir(path.join(dir, 'out'))).length).toBe(1);
});

test('a summary is written in the chosen form, and opened', async () => {
  const { commands, room, notifier } = await open();
  const file = path.join(dir, 'sum.csv');
  fake.saveDialog = Uri.file(file);
  fake.picks = ['a row an attempt', 'Practice too'];
  await expect(commands['e2eSwe.exportSummary']()).rejects.toThrow('There are no attempts yet.');
  expect(existsSync(file)).toBe(false);
  await addAttempt(room);
  for (const [form, first] of [
    ['a row an attempt', /^attempt,task,/],
    ['a row a task', /^task,builders,.*\r\nsome-task,0,/],
    ['JSON', /^\{\n {2}"schemaVersion": 1,/],
  ] as const) {
    fake.picks = [form, 'Practice too'];
    await commands['e2eSwe.exportSummary']();
    expect(await readFile(file, 'utf8')).toMatch(first);
  }
  expect(notifier.history.at(-1)?.message).toBe(`1 attempt is summed up in ${file}.`);
  expect(fake.executed.at(-1)?.map(String)).toEqual(['vscode.open', `file:${file}`]);
});

test('imported trials stand below their task until they are removed', async () => {
  const { commands, tree, notifier } = await open();
  const job = path.join(dir, 'job');
  for (const [name, result] of Object.entries({
    alpha__AAAAAAA: JSON.stringify({
      ...{
        task_name: 'alpha',
        agent_info: { name: 'robot', version: '1' },
        started_at: '2026-01-02T03:04:05Z',
      },
      verifier_result: { rewards: { reward: 1 } },
    }),
    alpha__BBBBBBB: '{',
    gamma__CCCCCCC: JSON.stringify({ task_name: 'gamma', verifier_result: null }),
  })) {
    await mkdir(path.join(job, name, 'verifier'), { recursive: true });
    await writeFile(path.join(job, name, 'result.json'), result);
  }
  await writeFile(
    path.join(job, 'alpha__AAAAAAA/verifier/ctrf.json'),
    JSON.stringify({ results: { tests: [{ name: 'one', status: 'passed' }] } }),
  );
  fake.openDialog = [Uri.file(job)];
  await commands['e2eSwe.importTrials']();
  expect(notifier.history.at(-1)?.message).toBe(
    '3 trials are imported; 2 of them at tasks of the Tasks view, which shows them there; 1 without a result that can be read.',
  );
  const shown = await renderTree(tree);
  expect(shown).toContain('[error] Imported: robot — unresolved, 1 of 1 passed · TIME');
  expect(shown).toContain('[error] Imported: trial — cannot be read');
  expect(shown).toMatch(/result\.json" cannot be read as the result of a trial/);
  expect(shown).toContain('[pass] one');
  const [corpus] = await tree.getChildren();
  const [task] = await tree.getChildren(corpus);
  const row = (await tree.getChildren(task)).find(({ kind }) => kind === 'imported');
  await commands['e2eSwe.removeImport'](row);
  expect(await renderTree(tree)).not.toContain('Imported');
  await expect(commands['e2eSwe.removeImport']()).rejects.toThrow('No trials are imported.');
  expect((await readdir(job)).length).toBe(3);
});

test('while an attempt at the task is measured, an imported trial shows no tests, and an export asks first', async () => {
  const { commands, tree, room } = await open();
  const measured = { ...makeAttempt('measured', { state: 'running' }), protocol: aProtocol };
  room.add(measured);
  const job = path.join(dir, 'job', 'alpha__AAAAAAA');
  await mkdir(path.join(job, 'verifier'), { recursive: true });
  const result = { task_name: 'alpha', verifier_result: { rewards: { reward: 0 } } };
  await writeFile(path.join(job, 'result.json'), JSON.stringify(result));
  const tests = [{ name: 'hidden name', status: 'failed', message: 'hidden message' }];
  await writeFile(path.join(job, 'verifier/ctrf.json'), JSON.stringify({ results: { tests } }));
  fake.openDialog = [Uri.file(job)];
  await commands['e2eSwe.importTrials']();
  const shown = await renderTree(tree);
  expect(shown).toContain('Not shown while the measured attempt measured at alpha is open.');
  expect(shown).not.toContain('hidden');
  const done = [{ dir: '/g', verdict: 'resolved', at: '', official: true } as const];
  room.add(makeAttempt('done', { state: 'submitted', grades: done }));
  await expect(commands['e2eSwe.exportAttempt']('done')).rejects.toBeInstanceOf(CancelledError);
  expect(fake.messages.at(-1)).toContain('Show hidden tests of alpha while an attempt at it is measured?');
});
