import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { Task } from '#core/task/types.ts';
import { traces } from './attemptSupport.ts';
import { docker, ensureCli, Lab, runCli } from './support.ts';

const never = new AbortController().signal;

let lab: Lab;
let task: Task;
let store: AttemptStore;
let attempts: Attempts;

const attemptsOf = (of: AttemptStore): Attempts =>
  new Attempts({ store: of, connect: () => Promise.resolve(lab.engine), log: lab.log, hostEnv: {} });

beforeAll(async () => {
  lab = await Lab.open();
  task = await lab.task();
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = attemptsOf(store);
});

afterAll(async () => {
  for (const { id } of await store.list()) await attempts.delete(id);
  const images = docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']);
  for (const image of images.split('\n').filter(Boolean)) lab.owns(image);
  await lab.dispose();
});

test('orphans are what no store has and nothing lives in', async () => {
  let id = '';
  for await (const event of attempts.start(task, {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
  const dir = store.dirOf(id);
  const name = `e2e-swe-workspace-${id}`;
  const elsewhere = attemptsOf(new AttemptStore(path.join(lab.dir, 'other-store')));
  const found = async (of: Attempts) => (await of.orphans()).filter((orphan) => orphan.name === name);
  docker(['kill', name]);
  expect(await found(elsewhere)).toEqual([]);
  await rm(dir, { recursive: true });
  docker(['start', name]);
  expect(await found(attempts)).toEqual([]);
  docker(['pause', name]);
  await expect(attempts.removeOrphan(name)).rejects.toThrow('no orphaned workspace');
  docker(['kill', name]);
  expect(await found(elsewhere)).toMatchObject([
    { attemptId: id, taskName: 'shell-task', storeDir: store.storeDir },
  ]);
  await attempts.removeOrphan(name);
  expect(await traces({ id })).toEqual([]);
});

test('the command line lists and removes what is left over, and nothing that lives', async () => {
  ensureCli();
  const env = { E2E_SWE_HOME: path.join(lab.dir, 'orphans-home') };
  const cli = (...args: string[]) => runCli(['attempt', 'orphans', ...args], env, lab.dir);
  const id = (await runCli(['attempt', 'start', task.dir], env, lab.dir)).stdout.trim();
  const name = `e2e-swe-workspace-${id}`;
  const listed = async (): Promise<unknown[]> => {
    const rows = JSON.parse((await cli('--json')).stdout) as { attemptId: string }[];
    return rows.filter(({ attemptId }) => attemptId === id);
  };
  expect(await listed()).toEqual([]);
  await rm(path.join(env.E2E_SWE_HOME, 'attempts'), { recursive: true });
  // Its container is frozen still.
  expect(await listed()).toEqual([]);
  expect(await cli(id, '--remove')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`"${id}" is no left-over workspace`),
  });
  expect(await traces({ id })).toHaveLength(2);
  docker(['kill', name]);
  const row = { name, attemptId: id, taskName: 'shell-task', storeDir: env.E2E_SWE_HOME };
  expect(await listed()).toEqual([{ ...row, removed: false }]);
  expect((await cli()).stdout).toContain(`${id}  shell-task  ${name}  ${env.E2E_SWE_HOME}\n`);
  expect(await traces({ id })).toHaveLength(2);
  expect(await cli(id, '--remove')).toEqual({
    code: 0,
    stdout: `${id}  shell-task  ${name}  ${env.E2E_SWE_HOME}\n`,
    stderr: 'Removed 1 workspace with container and volume.\n',
  });
  expect(await traces({ id })).toEqual([]);
  expect(await cli('--nonsense')).toMatchObject({ code: 2 });
});
