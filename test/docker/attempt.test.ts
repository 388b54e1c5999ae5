import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import { runCommand } from '#core/attempt/runCommand.ts';
import type { AttemptEvent, AttemptGradeOptions, OpenAttempt } from '#core/attempt/types.ts';
import { isCancellation } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { findWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import type { GradeResult, PhaseName } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { drain, secret, sh, testScript, traces } from './attemptSupport.ts';
import { docker, ensureCli, Lab, repository, runCli, startCli, waitFor } from './support.ts';

const never = new AbortController().signal;

let lab: Lab;
let task: Task;
let store: AttemptStore;
let attempts: Attempts;

const make = (): Attempts =>
  new Attempts({ store, connect: () => Promise.resolve(lab.engine), log: lab.log, hostEnv: {} });

beforeAll(async () => {
  lab = await Lab.open();
  task = await lab.task({ testScript, files: { 'tests/hidden.txt': secret, 'solution/more.txt': secret } });
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = make();
});

afterAll(async () => {
  for (const { id } of await store.list()) await attempts.delete(id);
  for (const image of docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']).split(
    '\n',
  ))
    if (image) lab.owns(image);
  await lab.dispose();
});

describe('an attempt, from start to submission', () => {
  let id: string;
  let open: OpenAttempt;

  test('starts offline, with the spec alone, frozen until a session begins', async () => {
    const events: AttemptEvent[] = [];
    for await (const event of attempts.start(task, {}, never)) events.push(event);
    const ready = events.at(-1);
    if (ready?.kind !== 'ready') throw new Error('not ready');
    id = ready.attempt.id;
    expect(events[0]).toMatchObject({ kind: 'preparing', attempt: { id, state: 'preparing' } });
    expect(ready).toMatchObject({
      attempt: { state: 'ready', workdir: '/app', roots: ['/app', '/logs/artifacts'], grades: [] },
      isolation: { isIsolated: true },
    });
    expect((await stat(store.dirOf(id))).mode & 0o777).toBe(0o700);
    expect(await (await container(id)).details()).toMatchObject({ paused: true });

    open = await attempts.open(id, never);
    expect(open).toMatchObject({ readOnly: false, how: 'was paused', record: { state: 'running' } });
    expect((await open.files.list('/app')).map(({ name }) => name)).toEqual(['instruction.md']);
    expect((await open.files.read('/app/instruction.md')).toString()).toBe('Write ok.txt and setup.sh.\n');
  });

  test('holds nothing of tests, solution, other attempts or the host: walked as root', async () => {
    const found = await sh(
      open.container,
      `find / -path /proc -prune -o -path /sys -prune -o \\( -name '*${secret}*' -o -path /tests -o -path /solution \\) -print
grep -rlF -e ${secret} -e ${path.basename(lab.dir)} --exclude-dir=proc --exclude-dir=sys / 2>/dev/null
find / -xdev -type s; cut -d' ' -f5 /proc/self/mountinfo | grep -E '^/(mnt|home|host|tests|solution|work)'`,
    );
    expect(found).toBe('');
  });

  test('a second opener is read-only, in this process and for another instance', async () => {
    for (const other of [attempts, make()]) {
      const second = await other.open(id, never);
      expect(second.readOnly).toBe(true);
      expect((await second.files.read('/app/instruction.md')).length).toBeGreaterThan(0);
      await second.close();
    }
    expect(await (await container(id)).details()).toMatchObject({ running: true, paused: false });
    await expect(make().giveUp(id)).rejects.toThrow(/open in another window \(process \d+/);
    await expect(attempts.delete(id)).rejects.toThrow('is open');
  });

  test('tries setup.sh elsewhere, and says what it changed', async () => {
    await open.files.write(
      '/app/setup.sh',
      Buffer.from('echo hello; cp ok.txt built.txt; echo x >> /etc/motd2'),
    );
    await open.files.write('/app/ok.txt', Buffer.from('no'));
    let output = '';
    const result = await attempts.trySetup(id, (chunk) => (output += chunk), never);
    expect(result).toMatchObject({ exitCode: 0, changed: ['/app/built.txt', '/etc/motd2'] });
    expect(output).toBe('hello\n');
    expect(await open.files.exists('/app/built.txt')).toBe(false);
  });

  test('names what will not travel', async () => {
    await sh(
      open.container,
      'mkdir -p /opt/mine/deep && echo x > /opt/mine/deep/file && rm /etc/issue && echo t > /tmp/t',
    );
    expect((await attempts.willNotTravel(id)).toSorted()).toEqual(['/etc/issue', '/opt/mine']);
    expect(await (await container(id)).details()).toMatchObject({ paused: false });
  });

  test('is graded unresolved, repaired, and resolved', async () => {
    const first = await grade(id);
    expect(first).toMatchObject({ verdict: 'unresolved', evidence: { source: 'attempt' }, marks: [] });
    expect(await store.read(id)).toMatchObject({ state: 'running', grades: [{ verdict: 'unresolved' }] });
    const kept = await readdir(path.join(store.dirOf(id), 'submissions'));
    expect(kept).toEqual([`${first.evidence.submission?.sha256}.tar.gz`]);
    await open.files.write('/app/ok.txt', Buffer.from('ok'));
    expect(await grade(id)).toMatchObject({
      verdict: 'resolved',
      dir: path.join(store.dirOf(id), 'grades', '2'),
    });
  });

  test('comes back after its container was killed, and after it was removed, with every file', async () => {
    const { State } = JSON.parse(docker(['inspect', open.container.name]))[0] as { State: { Pid: number } };
    process.kill(State.Pid, 'SIGKILL');
    await open.close();
    expect(await store.read(id)).toMatchObject({ state: 'ready' });
    open = await attempts.open(id, never);
    expect(open.how).toBe('started');
    expect((await open.files.read('/app/ok.txt')).toString()).toBe('ok');
    await open.container.remove();
    await open.close();
    open = await attempts.open(id, never);
    expect(open.how).toBe('recreated');
    expect((await open.files.read('/app/ok.txt')).toString()).toBe('ok');
    expect(await sh(open.container, 'test -d /logs/artifacts && id -u')).toBe('0\n');
  });

  test('is taken whole where more than one root is large, and thawed when the taking is cancelled', async () => {
    await sh(
      open.container,
      'for f in /app/big /logs/artifacts/big; do head -c 8000000 /dev/urandom >$f; done',
    );
    const stop = new AbortController();
    const events = attempts.grade(id, {}, stop.signal);
    await events.next();
    setTimeout(() => stop.abort(), 50);
    await expect(drain(events)).rejects.toThrow();
    expect(await store.read(id)).toMatchObject({ state: 'running' });
    expect(await (await container(id)).details()).toMatchObject({ paused: false });
    const { verdict, evidence } = await grade(id);
    expect(verdict).toBe('resolved');
    expect(evidence.submission?.bytes).toBeGreaterThan(16_000_000);
    await sh(open.container, 'rm /app/big /logs/artifacts/big');
    const folder = path.join(store.dirOf(id), 'submissions');
    expect((await readdir(folder)).every((name) => /^[0-9a-f]{64}\.tar\.gz$/.test(name))).toBe(true);
  });

  test.each<[PhaseName, number]>([
    ['submission', 0],
    ['submission', 60],
    ['image', 0],
    ['container', 60],
    ['copy', 0],
    ['verify', 20],
    ['collect', 0],
  ])(
    'cancelled in the phase %s after %i ms it leaves nothing, and the builder works on',
    async (phase, ms) => {
      await sh(open.container, 'head -c 8000000 /dev/urandom >/app/big');
      const dir = store.dirOf(id);
      const grades = (await store.read(id)).grades.length;
      const stop = new AbortController();
      let isSeen = false;
      const graded = (async () => {
        for await (const event of attempts.grade(id, {}, stop.signal))
          if (event.kind === 'phase' && event.phase === phase) {
            isSeen = true;
            setTimeout(() => stop.abort(), ms);
          }
      })();
      const error = await graded.catch((failure: unknown) => failure);
      expect([isSeen, isCancellation(error)], String(error)).toEqual([true, true]);
      expect(await lab.ownContainers()).toEqual([]);
      expect(await store.read(id)).toMatchObject({ state: 'running' });
      expect(await (await container(id)).details()).toMatchObject({ paused: false });
      expect((await store.read(id)).grades).toHaveLength(grades);
      const names = await readdir(path.join(dir, 'submissions'));
      expect(names.filter((name) => !/^[0-9a-f]{64}\.tar\.gz$/.test(name))).toEqual([]);
      expect((await readdir(path.join(dir, 'snapshots'))).filter((name) => name.startsWith('.t'))).toEqual(
        [],
      );
      await sh(open.container, 'rm /app/big');
    },
  );

  test('a cancelled submission is none', async () => {
    const stop = new AbortController();
    const events = attempts.submit(id, stop.signal);
    await events.next();
    stop.abort();
    await expect(drain(events)).rejects.toThrow();
    expect(await store.read(id)).toMatchObject({ state: 'running' });
    expect(await (await container(id)).details()).toMatchObject({ paused: false });
  });

  test('is submitted: graded officially, kept, and over', async () => {
    const result = await grade(id, {}, true);
    expect(result.verdict).toBe('resolved');
    const record = await store.read(id);
    expect(record).toMatchObject({
      state: 'submitted',
      submission: { sha256: result.evidence.submission?.sha256 },
    });
    expect(record.grades.map(({ official }) => official)).toEqual([false, false, false, true]);
    expect(existsSync(record.submission?.file ?? '')).toBe(true);
    expect(await (await container(id)).state()).toMatchObject({ running: false });
    await open.close();
    await expect(grade(id)).rejects.toThrow('is submitted');
    await expect(grade(id, {}, true)).rejects.toThrow('official grade is made');
    open = await attempts.open(id, never);
    expect(open).toMatchObject({ readOnly: true });
    await open.close();
    expect(await (await container(id)).state()).toMatchObject({ running: false });
  });

  test('is lost, and says so, when its volume is gone; deleting leaves nothing', async () => {
    await attempts.delete(id);
    expect(await traces({ id })).toEqual([]);
    expect(store.find(id)).toBeUndefined();
    const other = await started();
    docker(['rm', '-f', `e2e-swe-workspace-${other}`]);
    docker(['volume', 'rm', `e2e-swe-workspace-${other}`]);
    await expect(attempts.open(other, never)).rejects.toThrow(/is lost: the volume .* is not in this engine/);
    expect(await store.read(other)).toMatchObject({ state: 'lost' });
    await attempts.delete(other);
    const spoilt = await started();
    await writeFile(path.join(store.dirOf(spoilt), 'attempt.json'), '{');
    await expect(attempts.open(spoilt, never)).rejects.toThrow('torn');
    await attempts.delete(spoilt);
    expect(await traces({ id: spoilt })).toEqual([]);
  });
});

test('what is graded again is the kept submission, while there is no official verdict', async () => {
  const slow = await lab.task({
    testScript: `#!/bin/bash\nsleep 2\n${writeReport({ first: 'passed', second: 'passed' }, 1)}`,
  });
  const id = await started(slow);
  const first = await grade(id, { timeoutSec: 0.5 }, true);
  expect(first).toMatchObject({ verdict: 'not graded', reason: 'verifier-timeout' });
  expect(await store.read(id)).toMatchObject({ state: 'submitted', grades: [{ official: true }] });
  const second = await grade(id, {}, true);
  expect(second.verdict).toBe('resolved');
  expect(second.evidence.submission?.sha256).toBe(first.evidence.submission?.sha256);
  const { submission, grades } = await store.read(id);
  expect(grades.map(({ verdict }) => verdict)).toEqual(['not graded', 'resolved']);
  // One copy on disk of all three.
  expect((await stat(submission?.file ?? '')).nlink).toBe(3);
  await attempts.delete(id);
});

test('works as the task’s user, in what the image brings, and gives up', async () => {
  const shared = await lab.task({
    dockerfile:
      'FROM debian:bookworm-slim\nRUN useradd -u 1234 builder && mkdir /app && echo seed >/app/seed && chown -R builder /app\nWORKDIR /app\n',
    files: {
      'task.toml': `version = "1.0"\n[verifier]\ntimeout_sec = 60.0\n[agent]\nuser = "builder"\n[environment]\ncpus = 1\n[environment.env]\nWANTED = "\${E2E_SWE_TEST_WANTED:-none}"\n`,
    },
  });
  const id = await started(shared);
  const open = await attempts.open(id, never);
  expect((await open.files.list('/app')).map(({ name }) => name)).toEqual(['seed']);
  await open.files.write('/app/mine', Buffer.from('x'));
  expect(await sh(open.container, 'stat -c %U /app/mine; echo $WANTED')).toBe('builder\nnone\n');
  let output = '';
  const onOutput = (data: Buffer): void => {
    output += data.toString();
  };
  const command = { command: ['id', '-un'], user: open.record.user, workdir: '/app', onOutput };
  expect(await runCommand(open.container, command, never)).toBe(0);
  expect(output).toBe('builder\n');
  await open.close();
  expect(await attempts.giveUp(id)).toMatchObject({ state: 'gave-up' });
  expect(await (await container(id)).state()).toMatchObject({ running: false });
  await expect(grade(id)).rejects.toThrow('was given up');
  await attempts.delete(id);
  const asking = new Attempts({
    store,
    connect: () => Promise.resolve(lab.engine),
    log: lab.log,
    hostEnv: { E2E_SWE_TEST_WANTED: 'secret' },
  });
  await expect(drain(asking.start(shared, {}, never))).rejects.toThrow('wants E2E_SWE_TEST_WANTED');
  expect(await store.list()).toEqual([]);
});

test('a start that fails or is cancelled leaves nothing', async () => {
  const stop = new AbortController();
  const events = attempts.start(task, {}, stop.signal);
  for await (const event of events) if (event.kind === 'phase' && event.phase === 'container') break;
  expect(await store.list()).toEqual([]);
  const cancelled = attempts.start(task, {}, stop.signal);
  await cancelled.next();
  stop.abort();
  await expect(drain(cancelled)).rejects.toMatchObject({ name: expect.stringMatching(/Cancelled|Abort/) });
  expect(await store.list()).toEqual([]);
  expect(await traces({ storeDir: store.storeDir })).toEqual([]);
});

test('the command line: start, exec, try-setup, grade, submit, delete', async () => {
  ensureCli();
  const env = { E2E_SWE_HOME: path.join(lab.dir, 'home') };
  const cli = (...args: string[]) => runCli(['attempt', ...args], env, lab.dir);
  const startedBy = await cli('start', task.dir);
  expect(startedBy).toMatchObject({ code: 0, stderr: expect.stringContaining('is ready: offline') });
  const id = startedBy.stdout.trim();
  try {
    const script =
      'echo out; echo err >&2; printf "cp ok.txt built.txt" > setup.sh; printf ok > ok.txt; exit 7';
    expect(await cli('exec', id, '--', 'sh', '-c', script)).toEqual({
      code: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(await cli('try-setup', id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('/app/built.txt'),
    });
    const piped = spawnSync(process.execPath, ['dist/cli.cjs', 'attempt', 'exec', '-i', id, '--', 'cat'], {
      cwd: repository,
      env: { ...process.env, ...env },
      input: 'from outside',
      encoding: 'utf8',
    });
    expect(piped).toMatchObject({ status: 0, stdout: 'from outside', stderr: '' });
    const interrupted = startCli(
      ['attempt', 'exec', id, '--', 'sh', '-c', 'echo on; sleep 333'],
      env,
      lab.dir,
    );
    await waitFor('the command', () => interrupted.out.stdout === 'on\n');
    expect(await cli('exec', id, '--', 'echo', 'in')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('window'),
    });
    interrupted.child.kill('SIGINT');
    expect((await interrupted.done).code).toBe(130);
    const killed = startCli(['attempt', 'exec', id, '--', 'sh', '-c', 'echo on; sleep 444'], env, lab.dir);
    await waitFor('the command', () => killed.out.stdout === 'on\n');
    killed.child.kill('SIGKILL');
    await killed.done;
    const left = await cli(
      'exec',
      id,
      '--',
      'sh',
      '-c',
      'cat /proc/[0-9]*/cmdline | tr "\\0" " "; cat ok.txt',
    );
    expect(left).toMatchObject({ code: 0, stdout: expect.stringMatching(/sleep 444.*ok$/) });
    expect(left.stdout).not.toContain('sleep 333');
    const graded = await cli('grade', id, '--json');
    expect(graded.code).toBe(0);
    expect(JSON.parse(graded.stdout)).toMatchObject({ verdict: 'resolved', evidence: { source: 'attempt' } });
    expect(await cli('submit', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(await cli('submit', id, '--yes')).toMatchObject({ code: 0 });
    expect(JSON.parse((await cli('list', '--json')).stdout)).toMatchObject([{ id, state: 'submitted' }]);
    expect(await cli('exec', id, '--', 'true')).toMatchObject({ code: 2 });
  } finally {
    expect(await cli('delete', id, '--yes')).toMatchObject({ code: 0 });
  }
  expect(await traces({ id })).toEqual([]);
  expect((await cli('show', id)).stderr).toContain('There is no attempt');
});

async function started(of = task): Promise<string> {
  let id = '';
  for await (const event of attempts.start(of, {}, never)) if (event.kind === 'ready') id = event.attempt.id;
  return id;
}

async function grade(id: string, options: AttemptGradeOptions = {}, official = false): Promise<GradeResult> {
  const events = official ? attempts.submit(id, never, options) : attempts.grade(id, options, never);
  let result: GradeResult | undefined;
  for await (const event of events) if (event.kind === 'finished') result = event.result;
  if (!result) throw new Error('no result');
  return result;
}

async function container(id: string): Promise<ContainerHandle> {
  const found = await findWorkspaceContainer(lab.engine, id);
  if (!found) throw new Error('no container');
  return found;
}
