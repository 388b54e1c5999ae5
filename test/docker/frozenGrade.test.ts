import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { AttemptGradeOptions, OpenAttempt } from '#core/attempt/types.ts';
import type { GradeEvent } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { drain } from './attemptSupport.ts';
import { docker, ensureCli, Lab, runCli, startCli, waitFor } from './support.ts';

const never = new AbortController().signal;
const report = writeReport({ first: 'passed', second: 'passed' }, 1);

let lab: Lab;
let task: Task;
let store: AttemptStore;
let attempts: Attempts;
let id: string;

beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  // Until it was looked at the workspace meanwhile.
  task = await lab.task({ testScript: `#!/bin/bash\nuntil [ -e /tmp/go ]; do sleep 0.1; done\n${report}` });
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = new Attempts({ store, connect: async () => lab.engine, log: lab.log, hostEnv: {} });
  for await (const event of attempts.start(task, {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
});

afterAll(async () => {
  for (const attempt of await store.list()) await attempts.delete(attempt.id);
  for (const image of docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']).split(
    '\n',
  ))
    if (image) lab.owns(image);
  await lab.dispose();
});

/** As `docker inspect` says it: paused, and running at all. */
const state = (of = id): string =>
  docker(['inspect', '-f', '{{.State.Status}}', `e2e-swe-workspace-${of}`], { allowFailure: true });

/** Lets the tests of a grade end, of this process or of the command line's. */
async function letEnd(pid = process.pid): Promise<void> {
  const list = await lab.engine.listContainers('dev.e2e-swe.workbench=grade');
  for (const { id: of, labels } of list)
    if (labels['dev.e2e-swe.workbench.owner']?.includes(`|${pid}|`)) docker(['exec', of, 'touch', '/tmp/go']);
}

const steps = async (): Promise<string[]> =>
  (await store.read(id)).history.map(({ state: to, reason }) => (reason ? `${to} (${reason})` : to));

describe('an interim grade of an open workspace', () => {
  let open: OpenAttempt;
  let told: string[];

  beforeAll(async () => {
    open = await attempts.open(id, never);
    open.onDidFreeze((reason) => told.push(reason ?? 'thawed'));
  });
  afterAll(() => open?.close());

  /** Grades, and says how the workspace stood at the start of each phase. */
  async function grade(
    options: AttemptGradeOptions,
    onEvent: (event: GradeEvent) => Promise<void> | void = () => undefined,
    signal = never,
  ): Promise<Record<string, string>> {
    told = [];
    const seen: Record<string, string> = {};
    for await (const event of attempts.grade(id, options, signal)) {
      await onEvent(event);
      if (event.kind === 'phase' && event.phase !== 'submission') seen[event.phase] = state();
      if (event.kind === 'phase' && event.phase === 'verify' && !options.timeoutSec && !signal.aborted)
        await letEnd();
      if (event.kind === 'finished') seen.verdict = event.result.verdict;
    }
    return seen;
  }

  test('is frozen while the tests run, and thawed at the end', async () => {
    const before = (await steps()).length;
    expect(await grade({})).toMatchObject({ verify: 'paused', verdict: 'resolved' });
    expect(state()).toBe('running');
    expect(told).toEqual(['grade', 'thawed']);
    expect((await steps()).slice(before)).toEqual(['grading', 'running']);
    expect((await open.files.read('/app/instruction.md')).length).toBeGreaterThan(0);
  });

  test('keep working, asked before: thawed once the submission is taken, and gradable after that', async () => {
    const before = (await steps()).length;
    let asked = false;
    const seen = await grade({}, async (event) => {
      if (!asked) await attempts.keepWorking(id);
      asked = true;
      if (event.kind !== 'phase' || event.phase !== 'verify') return;
      await open.files.write('/app/meanwhile.txt', Buffer.from('x'));
      await expect(drain(attempts.grade(id, {}, never))).rejects.toThrow('is being graded');
      expect(await attempts.willNotTravel(id)).toEqual([]);
    });
    expect(seen).toMatchObject({ verify: 'running', verdict: 'resolved' });
    expect(told).toEqual(['grade', 'thawed', 'comparison', 'thawed']);
    expect((await steps()).slice(before)).toEqual([
      'grading',
      'running (the builder works on while it is graded)',
    ]);
    await expect(attempts.keepWorking(id)).rejects.toThrow('is not being graded here');
  });

  test('keep working while the tests run thaws at once', async () => {
    const seen = await grade({}, async (event) => {
      if (event.kind !== 'phase' || event.phase !== 'verify') return;
      expect(state()).toBe('paused');
      await attempts.keepWorking(id);
      await attempts.keepWorking(id);
    });
    expect(seen).toMatchObject({ verify: 'running', collect: 'running', verdict: 'resolved' });
    expect(told).toEqual(['grade', 'thawed']);
  });

  test('a grade that is cancelled, or fails, thaws', async () => {
    const stop = new AbortController();
    const cancelled = grade(
      {},
      (event) => {
        if (event.kind === 'phase' && event.phase === 'verify') stop.abort();
      },
      stop.signal,
    );
    await expect(cancelled).rejects.toThrow();
    expect([state(), (await store.read(id)).state, ...told]).toEqual([
      'running',
      'running',
      'grade',
      'thawed',
    ]);
    expect(await grade({ timeoutSec: 0.2 })).toMatchObject({ verify: 'paused', verdict: 'not graded' });
    expect(state()).toBe('running');
  });

  test('a session that closes meanwhile leaves it frozen; it cannot be opened until the grade is over', async () => {
    await grade({}, async (event) => {
      if (event.kind !== 'phase' || event.phase !== 'verify') return;
      await expect(attempts.open(id, never)).rejects.toThrow('is frozen: it is being graded');
      await open.close();
      expect(state()).toBe('paused');
      await expect(attempts.open(id, never)).rejects.toThrow('is frozen: it is being graded');
    });
    expect([state(), (await store.read(id)).state]).toEqual(['paused', 'ready']);
    open = await attempts.open(id, never);
    expect(state()).toBe('running');
  });
});

describe('the command line', () => {
  const env = (): NodeJS.ProcessEnv => ({ E2E_SWE_HOME: store.storeDir });
  const cli = (...args: string[]) => runCli(['attempt', ...args], env(), lab.dir);
  const begin = async (...args: string[]) => {
    const run = startCli(['attempt', 'grade', id, ...args], env(), lab.dir);
    await waitFor('the tests', () => run.out.stderr.includes('Running the hidden tests'));
    return run;
  };

  test('grades frozen, or with --keep-working beside what runs in the workspace', async () => {
    const frozen = await begin();
    expect(state()).toBe('paused');
    expect(await cli('exec', id, '--', 'true')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('window'),
    });
    await letEnd(frozen.child.pid);
    expect((await frozen.done).code).toBe(0);
    expect([state(), (await store.read(id)).state]).toEqual(['paused', 'ready']);
    const working = await begin('--keep-working');
    expect([state(), (await store.read(id)).state]).toEqual(['running', 'running']);
    await letEnd(working.child.pid);
    expect((await working.done).code).toBe(0);
    expect([state(), (await store.read(id)).state]).toEqual(['paused', 'ready']);
  });

  test('killed in the middle of a grade, the next command or session thaws', async () => {
    const killed = await begin();
    killed.child.kill('SIGKILL');
    await killed.done;
    expect([state(), (await store.read(id)).state]).toEqual(['paused', 'grading']);
    const after = await cli('exec', id, '--', 'sh', '-c', 'echo "alive in $PWD"');
    expect(after).toMatchObject({ code: 0, stdout: 'alive in /app\n' });
    expect(await steps()).toContain('ready (the grade was interrupted)');

    const again = await begin();
    again.child.kill('SIGKILL');
    await again.done;
    const open = await attempts.open(id, never);
    expect([state(), open.record.state, open.readOnly]).toEqual(['running', 'running', false]);
    await open.close();
    const graded = await begin();
    await letEnd(graded.child.pid);
    expect((await graded.done).code).toBe(0);
  });

  test('does not keep a container with hidden tests while an attempt is under way', async () => {
    const refused = await runCli(['grade', task.dir, '--empty', '--keep'], env(), lab.dir);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`the attempt ${id} at it has not ended.`);
  });
});
