import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import { readRecordLines } from '#core/attempt/readRecordLog.ts';
import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { recordFileOf } from '#core/attempt/recorder.ts';
import { recordTerminal } from '#core/attempt/recordTerminal.ts';
import { shellMarkEnv } from '#core/attempt/shellMarks.ts';
import type { AttemptRecord, OpenAttempt } from '#core/attempt/types.ts';
import { openTerminal } from '#core/container/terminal.ts';
import type { Task } from '#core/task/types.ts';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { drain } from './attemptSupport.ts';
import { docker, ensureCli, Lab, repository, runCli, startCli, waitFor } from './support.ts';

const never = new AbortController().signal;
const testScript = `#!/bin/bash\n${writeReport({ first: 'passed', second: 'passed' }, 1)}`;
const guardScript = path.join(repository, 'dist/guard.cjs');

let lab: Lab;
let store: AttemptStore;
let attempts: Attempts;

const make = (more: { freeBytes?: () => Promise<number> } = {}): Attempts =>
  new Attempts({ store, connect: async () => lab.engine, log: lab.log, hostEnv: {}, guardScript, ...more });

beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = make();
});

afterAll(async () => {
  for (const attempt of await store.list()) await attempts.delete(attempt.id);
  for (const image of docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']).split(
    '\n',
  ))
    if (image) lab.owns(image);
  await lab.dispose();
});

async function start(task?: Task): Promise<string> {
  let id = '';
  for await (const event of attempts.start(task ?? (await lab.task({ testScript })), {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
  return id;
}

/** As `docker inspect` says it: paused, and running at all. */
const containerState = (id: string): string =>
  docker(['inspect', '-f', '{{.State.Status}}', `e2e-swe-workspace-${id}`], { allowFailure: true });

async function lines(id: string): Promise<RecordLine[]> {
  const all: RecordLine[] = [];
  for await (const line of readRecordLines(recordFileOf(store.dirOf(id)))) all.push(line);
  return all;
}

const kinds = async (id: string): Promise<string[]> =>
  (await lines(id)).map((line) =>
    line.kind === 'state' ? line.state : line.kind === 'frozen' ? `frozen: ${line.reason}` : line.kind,
  );

async function guardPid(id: string): Promise<number | undefined> {
  try {
    const { pid } = JSON.parse(await readFile(path.join(store.dirOf(id), 'guard.json'), 'utf8')) as {
      pid: number;
    };
    return pid;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

const cli = (...args: string[]) => runCli(['attempt', ...args], { E2E_SWE_HOME: store.storeDir }, lab.dir);

describe('the guard of an open attempt', () => {
  test('freezes the container of a session that is killed, within 5 s, and the clock knows when', async () => {
    const id = await start();
    const startedAt = Date.now();
    const session = startCli(
      ['attempt', 'exec', id, '--', 'sh', '-c', 'echo on; sleep 60'],
      { E2E_SWE_HOME: store.storeDir },
      lab.dir,
    );
    await waitFor('the command', () => session.out.stdout.includes('on'));
    const guard = await guardPid(id);
    expect([isAlive(guard), containerState(id)]).toEqual([true, 'running']);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    session.child.kill('SIGKILL');
    const killedAt = Date.now();
    // Its pause lies between these two.
    let lastRunning = killedAt;
    await waitFor('the freeze', () => {
      const asked = Date.now();
      const state = containerState(id);
      if (state === 'running') lastRunning = asked;
      return state === 'paused';
    });
    const frozenAt = Date.now();
    // 5 s, and what asking for it takes on a loaded machine.
    expect(lastRunning - killedAt).toBeLessThan(5_500);
    await waitFor('the end of the guard', () => !isAlive(guard));
    await new Promise((resolve) => setTimeout(resolve, 1_000));

    const open = await attempts.open(id, never);
    const clock = await attempts.clock(id);
    expect(clock.pauses.map(({ reason }) => reason)).toEqual(['crash']);
    // As long as it was frozen, which is all of the time since.
    const since = Date.parse(clock.pauses[0]?.since ?? '');
    expect(since).toBeGreaterThan(lastRunning - 700);
    expect(since).toBeLessThan(frozenAt + 700);
    expect(clock.unpausedMs).toBeGreaterThan(1_500);
    expect(clock.unpausedMs).toBeLessThan(frozenAt - startedAt + 700);
    expect(containerState(id)).toBe('running');
    const other = await guardPid(id);
    expect([other === guard, isAlive(other)]).toEqual([false, true]);
    await open.close();
    expect([isAlive(other), await guardPid(id), containerState(id)]).toEqual([false, undefined, 'paused']);
  });

  test('is one an attempt, is replaced when it is killed, and freezes one that does not answer', async () => {
    const id = await start();
    const session = startCli(
      ['attempt', 'exec', id, '--', 'sh', '-c', 'echo on; sleep 40'],
      { E2E_SWE_HOME: store.storeDir },
      lab.dir,
    );
    await waitFor('the command', () => session.out.stdout.includes('on'));
    const first = (await guardPid(id)) as number;
    process.kill(first, 'SIGKILL');
    await waitFor('another guard', async () => {
      const now = await guardPid(id);
      return now !== first && isAlive(now);
    });
    session.child.kill('SIGSTOP');
    await waitFor('the freeze', () => containerState(id) === 'paused');
    await waitFor('its end', async () => (await guardPid(id)) === undefined);
    session.child.kill('SIGCONT');
    await waitFor('the thaw', () => containerState(id) === 'running');
    await waitFor('a third guard', async () => isAlive(await guardPid(id)));
    const third = await guardPid(id);
    session.child.kill('SIGTERM');
    await session.done;
    expect([isAlive(third), containerState(id)]).toEqual([false, 'paused']);
    const clock = await attempts.clock(id);
    expect(clock.pauses.map(({ reason }) => reason)).toEqual(['no answer', 'closed']);
    const guards = (await lines(id)).filter(({ kind }) => kind === 'guard-froze');
    expect(guards).toHaveLength(1);
  });
});

describe('the record of a session', () => {
  let id: string;
  let open: OpenAttempt;
  afterAll(() => open?.close());

  test('says what became of the container, and the clock stands exactly while it is frozen', async () => {
    id = await start();
    open = await attempts.open(id, never);
    await drain(attempts.grade(id, {}, never));
    const paused: AttemptRecord = await attempts.pause(id, 'lunch');
    expect([paused.state, containerState(id)]).toEqual(['paused', 'paused']);
    const before = await attempts.clock(id);
    await new Promise((resolve) => setTimeout(resolve, 600));
    const after = await attempts.clock(id);
    expect([after.phase, after.unpausedMs]).toEqual(['paused', before.unpausedMs]);
    expect(after.wallMs - before.wallMs).toBeGreaterThan(500);
    await expect(drain(attempts.grade(id, {}, never))).rejects.toThrow('is paused (lunch)');
    await attempts.resume(id);
    expect([(await store.read(id)).state, containerState(id)]).toEqual(['running', 'running']);
    await attempts.note(id, 'a note');
    await attempts.pause(id);
    await open.close();
    expect(await kinds(id)).toEqual([
      ...['opened', 'container', 'milestone', 'thawed', 'running'],
      ...['grade', 'grading', 'frozen: grade', 'graded', 'running', 'thawed'],
      ...['paused', 'frozen: pause', 'running', 'thawed', 'note', 'paused', 'frozen: pause', 'closed'],
    ]);
    const graded = (await lines(id)).find(({ kind }) => kind === 'graded');
    expect(graded).toMatchObject({ verdict: 'resolved', revealed: { tier: 'full', passed: 2, total: 2 } });
  });

  test('a pause outlives the session, whoever opens it, until it is resumed', async () => {
    expect((await store.read(id)).state).toBe('paused');
    expect(await cli('exec', id, '--', 'true')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('resume it'),
    });
    const told: string[] = [];
    open = await attempts.open(id, never);
    open.onDidFreeze((reason) => told.push(reason ?? 'thawed'));
    expect([open.record.state, open.readOnly, containerState(id)]).toEqual(['paused', false, 'paused']);
    await attempts.resume(id);
    expect([told, containerState(id)]).toEqual([['thawed'], 'running']);
    expect((await open.files.read('/app/instruction.md')).length).toBeGreaterThan(0);
    await open.close();
  });

  test('a terminal’s commands are recorded with their exit codes, and its bytes as they came', async () => {
    open = await attempts.open(id, never);
    const { recorder, container } = open;
    if (!recorder) throw new Error('no recorder');
    const size = { cols: 90, rows: 20 };
    const shell = await openTerminal(container, { cwd: '/app', env: shellMarkEnv, ...size });
    const terminal = recordTerminal(recorder, shell, size);
    let shown = '';
    terminal.onData((text) => {
      shown += text;
    });
    terminal.write('cd /tmp\r');
    await waitFor('the folder', () => shown.includes('/tmp#'));
    terminal.write('sh -c \'exit 42\'; echo "code $? ü"\r');
    await waitFor('the code', () => shown.includes('code 42 ü\r\n'));
    terminal.write('false\r');
    terminal.write('sleep 30\r');
    await waitFor('the sleep', async () =>
      (await lines(id)).some((line) => line.kind === 'command' && line.command === 'sleep 30'),
    );
    terminal.write('\u0003');
    terminal.write('exit 3\r');
    expect(await terminal.exit).toBe(3);
    await open.close();
    expect(shown).not.toContain('633;');
    const all = await lines(id);
    const told = all.flatMap((line) => {
      if (line.kind === 'command') return [`${line.cwd} ${line.command}`];
      return line.kind === 'command-ended' ? [`-> ${line.exitCode}`] : [];
    });
    expect(told.slice(-10)).toEqual([
      ...['/app cd /tmp', '-> 0', `/tmp sh -c 'exit 42'; echo "code $? ü"`, '-> 0', '/tmp false', '-> 1'],
      ...['/tmp sleep 30', '-> 130', '/tmp exit 3', '-> null'],
    ]);
    expect(all.findLast((line) => line.kind === 'terminal-closed')).toMatchObject({
      exitCode: 3,
      omitted: 0,
    });
    const cast = all.findLast((line) => line.kind === 'terminal')?.cast ?? '';
    const [header, ...events] = (await readFile(path.join(store.dirOf(id), cast), 'utf8')).trim().split('\n');
    expect(JSON.parse(header ?? '')).toMatchObject({ version: 2, width: 90, height: 20 });
    const output = events
      .map((event) => JSON.parse(event) as [number, string, string])
      .filter(([, code]) => code === 'o');
    expect(output.map(([, , text]) => text).join('')).toBe(shown);
  });

  test('the command line pauses, resumes, notes, records what it runs, and shows the clock', async () => {
    expect((await cli('pause', id, '--reason', 'the fire alarm')).code).toBe(0);
    expect((await store.read(id)).history.at(-1)).toMatchObject({
      state: 'paused',
      reason: 'the fire alarm',
    });
    expect((await cli('pause', id)).code).toBe(2);
    expect((await cli('resume', id)).code).toBe(0);
    expect((await cli('note', id, 'to', 'self')).code).toBe(0);
    expect((await cli('exec', '--actor', 'robot', id, '--', 'true')).code).toBe(2);
    expect((await cli('exec', '--actor', 'agent', id, '--', 'true')).code).toBe(0);
    expect((await cli('exec', id, '--', 'sh', '-c', 'echo seen; exit 3')).code).toBe(3);
    expect(await cli('verify', id)).toMatchObject({ code: 0, stdout: expect.stringMatching(/: whole\n/) });
    const all = await lines(id);
    expect(all.findLast((line) => line.kind === 'note')).toMatchObject({ text: 'to self' });
    const command = all.findLast((line) => line.kind === 'command');
    const actors = all.flatMap((line) => (line.kind === 'command' ? [line.actor] : []));
    expect(actors.slice(-2)).toEqual(['agent', 'human']);
    expect(command).toMatchObject({ command: "sh -c 'echo seen; exit 3'", cwd: '/app' });
    expect(all.findLast((line) => line.kind === 'command-ended')).toMatchObject({ exitCode: 3 });
    const terminal = all.findLast((line) => line.kind === 'terminal');
    const cast = await readFile(path.join(store.dirOf(id), terminal?.cast ?? ''), 'utf8');
    expect(cast).toContain('"o","seen\\r\\n"');
    const shown = await cli('clock', id);
    expect(shown.stdout).toMatch(/^paused, 0:59:\d\d\.\d of 1:00:00\.0 left\n {2}wall +0:00:\d\d\.\d\n/);
    expect(JSON.parse((await cli('clock', id, '--json')).stdout)).toMatchObject({
      phase: 'paused',
      budgetSec: 3600,
    });
    await writeFile(path.join(store.dirOf(id), terminal?.cast ?? ''), cast.replace('seen', 'else'));
    expect(await cli('verify', id)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('It was changed'),
    });
    expect((await cli('disqualify', id, '--reason', 'used a chat')).code).toBe(2);
    expect((await cli('disqualify', id, '--reason', 'used a chat', '--yes')).code).toBe(0);
    expect(await store.read(id)).toMatchObject({ state: 'disqualified', grades: [{ verdict: 'resolved' }] });
    expect((await stat(recordFileOf(store.dirOf(id)))).mode & 0o777).toBe(0o600);
  });
});

test('when the time is up, the workspace is frozen and submitted', async () => {
  const id = await start(await lab.task({ testScript, agent: 'timeout_sec = 4.0' }));
  expect((await store.read(id)).budgetSec).toBe(4);
  const open = await attempts.open(id, never);
  const since = Date.now();
  await waitFor('the end', async () => (await store.read(id)).state === 'timed-out', 30);
  expect(Date.now() - since).toBeGreaterThan(3_500);
  const { submission, grades } = await store.read(id);
  expect(grades).toMatchObject([{ official: true, verdict: 'resolved' }]);
  expect(submission?.sha256).toMatch(/^[0-9a-f]{64}$/);
  await open.close();
  const clock = await attempts.clock(id);
  expect(clock).toMatchObject({ phase: 'over', budgetSec: 4, leftSec: 0 });
  expect(clock.unpausedMs).toBeLessThan(9_000);
  const budgets = (await lines(id)).flatMap((line) => (line.kind === 'budget' ? [line.leftSec] : []));
  expect(budgets.at(-1)).toBe(0);
  expect(containerState(id)).not.toBe('running');
  await expect(attempts.resume(id)).rejects.toThrow('is not paused');
});

test('when that fails, it stays paused, is not resumed, and is submitted at the next opening', async () => {
  const task = await lab.task({ testScript, agent: 'timeout_sec = 2.0' });
  const id = await start(task);
  const open = await attempts.open(id, never);
  await rename(task.dir, `${task.dir}-away`);
  await waitFor('the pause', async () => (await store.read(id)).state === 'paused', 30);
  expect((await store.read(id)).history.at(-1)?.reason).toBe('its time is up');
  expect(containerState(id)).toBe('paused');
  await expect(attempts.resume(id)).rejects.toThrow('time of the attempt');
  await open.close();
  await expect(attempts.open(id, never)).rejects.toThrow('could not be submitted');
  expect([(await store.read(id)).state, containerState(id)]).toEqual(['paused', 'paused']);
  await rename(`${task.dir}-away`, task.dir);
  const late = await attempts.open(id, never);
  expect([late.record.state, late.readOnly]).toEqual(['timed-out', true]);
  expect((await store.read(id)).grades).toMatchObject([{ official: true, verdict: 'resolved' }]);
  await late.close();
  expect((await attempts.clock(id)).unpausedMs).toBeLessThan(7_000);
});

test('with too little room on the disk the work is frozen', async () => {
  const id = await start();
  let freeBytes = 3e9;
  const tight = make({ freeBytes: async () => freeBytes });
  const open = await tight.open(id, never);
  freeBytes = 1e9;
  const isFrozen = async () => (await store.read(id)).state === 'paused' && containerState(id) === 'paused';
  await waitFor('the pause', isFrozen);
  expect((await store.read(id)).history.at(-1)).toMatchObject({ reason: 'the disk is nearly full' });
  await expect(tight.resume(id)).rejects.toThrow('1000 MB left');
  await open.close();
  await expect(tight.open(id, never)).rejects.toThrow('stays frozen below 2148 MB');
  expect((await lines(id)).find((line) => line.kind === 'disk')).toMatchObject({ what: 'low' });
  freeBytes = 3e9;
  await tight.resume(id);
});
