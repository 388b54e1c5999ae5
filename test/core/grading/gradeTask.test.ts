import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CancelledError, UserError } from '#core/base/errors.ts';
import { gradeTask } from '#core/grading/grade.ts';
import { gradeEntry } from '#core/grading/gradeEntry.ts';
import type { GradeEvent, GradeResult } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import { FakeEngine, type FakeScript } from '../../fakes/engine.ts';
import { Bench, ctrf } from './support.ts';

let bench: Bench;
let task: Task;
let workspace: string;
beforeAll(async () => {
  bench = await Bench.make();
  task = await bench.task();
  workspace = path.join(bench.dir, 'ws');
  await mkdir(workspace);
  await writeFile(path.join(workspace, 'ok.txt'), 'ok');
});
afterAll(() => bench.remove());

/** Passes both tests where the workspace has ok.txt. */
const verifier: FakeScript = async (files, print) => {
  const passed = files.read('/app/ok.txt') !== undefined;
  await print('running\n');
  files.write('/logs/verifier/ctrf.json', ctrf({ first: 'passed', second: passed ? 'passed' : 'failed' }));
  files.write('/logs/verifier/reward.txt', passed ? '1\n' : '0\n');
  return passed ? 0 : 1;
};

describe('the verdicts', () => {
  test('a folder that passes is resolved, with its evidence', async () => {
    const engine = new FakeEngine({ test: verifier });
    const result = await bench.grade(engine, task, { kind: 'folder', path: workspace });
    expect(result).toMatchObject({
      schemaVersion: 1,
      verdict: 'resolved',
      reward: 1,
      counts: { expected: 2, reported: 2, passed: 2, failed: 0, notReported: 0 },
      evidence: {
        mode: 'separate',
        source: 'folder',
        engine: { version: '20.10.24', os: 'linux', arch: 'amd64' },
        submission: { entries: 2, skipped: [] },
        network: { mode: 'none', probe: 'failed as it should', detail: 'connect: Network is unreachable' },
        arrival: { checked: 2, differing: [] },
        limits: { cpus: 1, memoryMb: 512, clamped: [] },
        testsAltered: [],
        processesLeft: [],
        changedOutside: [],
        exitCode: 0,
        oomKilled: false,
      },
      marks: [],
    });
    expect(result).not.toHaveProperty('reason');
    expect(result.phases.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['image', 'container', 'copy', 'verify', 'collect', 'remove']),
    );
    expect(await readFile(path.join(result.dir, 'verifier/test-stdout.txt'), 'utf8')).toBe('running\n');
    expect(existsSync(path.join(result.dir, 'submission.tar.gz'))).toBe(true);
    expect(result.evidence.submission?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(result.evidence.testsDigest).toMatch(/^sha256:/);
  });

  test('an empty one is unresolved, and the exit code decides nothing', async () => {
    const result = await bench.grade(new FakeEngine({ test: verifier }), task);
    expect(result).toMatchObject({ verdict: 'unresolved', reason: 'tests-failed', reward: 0 });
    expect(result.evidence.exitCode).toBe(1);
    expect(result.explanation?.nextStep).toBeTruthy();
  });

  test('the reference solution runs in a container of its own first', async () => {
    const engine = new FakeEngine({
      test: verifier,
      solve: async (files, print) => {
        await print('solving\n');
        files.write('/app/ok.txt', 'ok');
        return 3;
      },
    });
    const result = await bench.grade(engine, task, { kind: 'solution' });
    expect(result).toMatchObject({ verdict: 'resolved', evidence: { source: 'solution' } });
    expect(result.marks).toEqual([
      { rule: 'solution-exit', message: expect.stringContaining('exit code 3') },
    ]);
    expect(engine.specs).toHaveLength(2);
    expect(engine.alive.size).toBe(0);
    expect(await readFile(path.join(result.dir, 'solution.txt'), 'utf8')).toBe('solving\n');
  });

  test("a solution that removes the workdir is never graded with the image's own copy", async () => {
    const engine = new FakeEngine({
      test: verifier,
      image: { '/app/ok.txt': 'the image has the answer' },
      solve: (files) => {
        files.remove('/app');
        return 0;
      },
    });
    const result = await bench.grade(engine, task, { kind: 'solution' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'artifact-missing' });
    expect(engine.alive.size).toBe(0);
  });

  test("an empty submission empties the image's own files away", async () => {
    const engine = new FakeEngine({ test: verifier, image: { '/app/ok.txt': 'the image has the answer' } });
    expect((await bench.grade(engine, task)).verdict).toBe('unresolved');
  });

  test('a reward that was there before does not count', async () => {
    const engine = new FakeEngine({ test: () => 0, image: { '/logs/verifier/reward.txt': '1' } });
    expect(await bench.grade(engine, task)).toMatchObject({
      verdict: 'not graded',
      reason: 'reward-missing',
    });
  });

  test('a task without a solution says so', async () => {
    const bare = await bench.task({ files: { 'solution/other': '' } });
    await rm(path.join(bare.dir, 'solution/solve.sh'));
    const engine = new FakeEngine();
    expect(await bench.grade(engine, bare, { kind: 'solution' })).toMatchObject({
      reason: 'solution-missing',
    });
    expect(engine.alive.size).toBe(0);
  });
});

describe('marks', () => {
  async function marksOf(engine: FakeEngine, graded = task): Promise<string[]> {
    const result = await bench.grade(engine, graded, { kind: 'folder', path: workspace });
    return result.marks.map(({ rule }) => rule);
  }

  test('processes left, out of memory, changes outside, altered tests', async () => {
    const left = await bench.grade(new FakeEngine({ test: verifier, processes: ['evil daemon'] }), task);
    expect(left.marks.map(({ rule }) => rule)).toEqual(['processes-left']);
    expect(left.evidence.processesLeft).toEqual(['evil daemon']);
    const altering: FakeScript = (files, print, spec, signal) => {
      files.write('/tests/test.sh', 'exit 0');
      return verifier(files, print, spec, signal);
    };
    expect(await marksOf(new FakeEngine({ test: altering }))).toEqual(['tests-altered']);
    const changes = [
      { kind: 'C' as const, path: '/usr' },
      { kind: 'A' as const, path: '/usr/evil' },
      { kind: 'A' as const, path: '/usr/evil/below' },
      { kind: 'C' as const, path: '/app' },
      { kind: 'D' as const, path: '/etc/passwd' },
      { kind: 'A' as const, path: '/tmp/x' },
    ];
    const changed = await bench.grade(new FakeEngine({ test: verifier, changes }), task);
    expect(changed.evidence.changedOutside).toEqual(['D /etc/passwd', 'A /usr/evil']);
  });

  test('changes are listed after the kill where a process was left, or where that is not known', async () => {
    const after = ['killed', 'changes'];
    for (const options of [{ processes: ['evil daemon'] }, { faults: ['processes-fail' as const] }]) {
      const engine = new FakeEngine({ test: verifier, ...options });
      await bench.grade(engine, task);
      expect(engine.calls.filter((call) => after.includes(call))).toEqual(after);
    }
  });

  test('limits beyond the machine, another architecture, an undeclared workdir, a network that was wanted', async () => {
    const odd = await bench.task({
      environment: 'cpus = 64\nmemory_mb = 999999\nnetwork_mode = "public"',
      artifacts: ['/srv/other'],
    });
    const engine = new FakeEngine({ test: verifier, imageInfo: { arch: 'arm64' } });
    const result = await bench.grade(engine, odd);
    expect(result.marks.map(({ rule }) => rule).sort()).toEqual([
      'emulated',
      'graded-offline',
      'limits-clamped',
      'workdir-not-declared',
    ]);
    expect(result.evidence.limits).toMatchObject({ cpus: 2, memoryMb: 4096 });
    expect(result.reason).toBe('artifact-missing');
  });

  test('a limit that the engine cannot enforce is a mark, where there is such a limit', async () => {
    const marks = async (environment: string): Promise<string[]> => {
      const engine = new FakeEngine({ test: verifier, info: { unenforced: ['cpus', 'memory'] } });
      const result = await bench.grade(engine, await bench.task({ environment }));
      return result.marks.filter(({ rule }) => rule === 'limit-not-enforced').map(({ message }) => message);
    };
    expect(await marks('cpus = 1\nmemory_mb = 512\nallow_internet = false')).toEqual([
      'This engine cannot enforce the limit of CPUs and of memory: what ran may have used more.',
    ]);
    expect(await marks('memory_mb = 512\nallow_internet = false')).toEqual([
      'This engine cannot enforce the limit of memory: what ran may have used more.',
    ]);
    expect(await marks('allow_internet = false')).toEqual([]);
  });

  test('a shared verifier is graded fresh, and that is said', async () => {
    const shared = await bench.task({ verifier: 'timeout_sec = 60.0\ntest_case_count = 2' });
    const engine = new FakeEngine({ test: verifier });
    const result = await bench.grade(engine, shared, { kind: 'folder', path: workspace });
    expect(result.evidence.mode).toBe('fresh (task asked shared)');
    expect(result.marks.map(({ rule }) => rule)).toContain('state-outside-workdir');
    expect(engine.specs[0]?.network).toBe('none');
  });

  test('results with names that are no names here are not kept, the others are', async () => {
    const odd: FakeScript = (files) => {
      for (const name of [
        'line\nbreak.json',
        'a:b',
        'ends.',
        `${'n'.repeat(201)}`,
        'fine name.json',
        'd/e.txt',
      ])
        files.write(`/logs/verifier/${name}`, 'x');
      files.write('/logs/verifier/copy.txt', '', { type: 'hardlink', linkName: 'verifier/a.txt' });
      files.write('/logs/verifier/a.txt', 'first');
      files.write('/logs/verifier/reward.txt', '0');
      return 0;
    };
    const result = await bench.grade(new FakeEngine({ test: odd }), task);
    expect(result.marks.filter(({ rule }) => rule === 'result-odd-name')).toHaveLength(4);
    expect((await readdir(path.join(result.dir, 'verifier'))).sort()).toEqual([
      'a.txt',
      'copy.txt',
      'd',
      'fine name.json',
      'reward.txt',
      'test-stdout.txt',
    ]);
    expect(await readFile(path.join(result.dir, 'verifier/copy.txt'), 'utf8')).toBe('first');
  });

  test('a result that is a link is not read', async () => {
    const linking: FakeScript = (files) => {
      files.write('/logs/verifier/reward.json', '', { type: 'symlink', linkName: '/etc/passwd' });
      return 0;
    };
    const result = await bench.grade(new FakeEngine({ test: linking }), task);
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'reward-missing' });
    expect(result.marks.map(({ rule }) => rule)).toEqual(['result-not-a-file']);
  });
});

describe('the task', () => {
  test('CRLF in test.sh is said before anything is made', async () => {
    const crlf = await bench.task({ testScript: '#!/bin/bash\r\necho 1 > /logs/verifier/reward.txt\r\n' });
    const engine = new FakeEngine();
    expect(await bench.grade(engine, crlf)).toMatchObject({ reason: 'test-script-crlf' });
    expect(engine.specs).toHaveLength(0);
  });

  test('without a test.sh anywhere there is nothing to run', async () => {
    const bare = await bench.task({ testScript: null, files: { 'tests/helper': '' } });
    const engine = new FakeEngine({ test: verifier });
    expect(await bench.grade(engine, bare)).toMatchObject({ reason: 'test-script-missing' });
    expect(engine.alive.size).toBe(0);
  });

  test('host variables go in only with consent', async () => {
    const wanting = await bench.task({ more: `[verifier.env]\nKEY = "\${E2E_TEST_KEY}"\nPLAIN = "p"` });
    const asked: string[][] = [];
    const run = async (allow: boolean): Promise<GradeResult> => {
      const engine = new FakeEngine({ test: verifier });
      let result: GradeResult | undefined;
      const options = {
        storeDir: bench.store,
        allowHostEnv: (names: readonly string[]) => {
          asked.push([...names]);
          return Promise.resolve(allow);
        },
      };
      const deps = {
        connect: () => Promise.resolve(engine),
        log: bench.log,
        hostEnv: { E2E_TEST_KEY: 'secret' },
      };
      for await (const event of gradeTask(
        wanting,
        { kind: 'empty' },
        options,
        deps,
        new AbortController().signal,
      ))
        if (event.kind === 'finished') result = event.result;
      const env = engine.execs.find(({ command }) => command.join().includes('/tests/test.sh)'))?.env;
      if (allow) expect(env).toMatchObject({ KEY: 'secret', PLAIN: 'p' });
      else expect(env).toBeUndefined();
      return result as GradeResult;
    };
    expect(await run(false)).toMatchObject({ verdict: 'not graded', reason: 'host-env-denied' });
    expect(await run(true)).toMatchObject({ verdict: 'unresolved' });
    expect(asked).toEqual([['E2E_TEST_KEY'], ['E2E_TEST_KEY']]);
  });

  test('a folder that is no task is refused before an engine is asked', async () => {
    const folder = path.join(bench.dir, 'no-task');
    await mkdir(folder);
    const deps = { connect: () => Promise.reject(new Error('asked')), log: bench.log, hostEnv: {} };
    const events: GradeEvent[] = [];
    const signal = new AbortController().signal;
    for await (const event of gradeEntry(
      await loadTask(folder),
      { kind: 'empty' },
      { storeDir: bench.store },
      deps,
      signal,
    ))
      events.push(event);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      kind: 'finished',
      result: { verdict: 'not graded', reason: 'task-invalid', explanation: { cause: 'task' } },
    });
  });
});

describe('cancelling', () => {
  test.each([
    ['image', ['build-hangs'] as const],
    ['verify', [] as const],
  ])('in the phase %s leaves neither container nor folder', async (phase, faults) => {
    const engine = new FakeEngine({ faults, test: () => new Promise(() => undefined) });
    const cancel = new AbortController();
    const grades = path.join(bench.dir, `store-${phase}`);
    const run = bench.grade(engine, task, { kind: 'empty' }, { storeDir: grades }, cancel.signal, (event) => {
      if (event.kind === 'phase' && event.phase === phase) setTimeout(() => cancel.abort(), 20);
    });
    await expect(run).rejects.toThrow(/Cancelled|Aborted/);
    expect(engine.alive.size).toBe(0);
    expect(await readdir(path.join(grades, 'grades/shell-task'))).toEqual([]);
  });

  test('before it starts makes nothing', async () => {
    const engine = new FakeEngine();
    const run = bench.grade(engine, task, { kind: 'folder', path: workspace }, {}, AbortSignal.abort());
    await expect(run).rejects.toThrow(CancelledError);
    expect(engine.alive.size).toBe(0);
  });

  test('a reader that walks away ends the grade', async () => {
    const engine = new FakeEngine({ test: () => new Promise(() => undefined) });
    const deps = { connect: () => Promise.resolve(engine), log: bench.log, hostEnv: {} };
    const signal = new AbortController().signal;
    for await (const event of gradeTask(task, { kind: 'empty' }, { storeDir: bench.store }, deps, signal))
      if (event.kind === 'phase' && event.phase === 'verify') break;
    expect(engine.alive.size).toBe(0);
  });
});

test('a source that is not there is a usage error, and no grade is made', async () => {
  const engine = new FakeEngine();
  const missing = { kind: 'folder' as const, path: path.join(bench.dir, 'absent') };
  await expect(bench.grade(engine, task, missing)).rejects.toThrow(UserError);
  const tar = { kind: 'tar' as const, path: path.join(bench.dir, 'absent.tar') };
  await expect(bench.grade(engine, task, tar)).rejects.toThrow(/ENOENT/);
  expect(engine.calls).toEqual([]);
});

test('a grade is not kept inside the workspace that it grades', async () => {
  const out = path.join(workspace, 'out');
  const run = bench.grade(new FakeEngine(), task, { kind: 'folder', path: workspace }, { outDir: out });
  await expect(run).rejects.toThrow(UserError);
  expect(existsSync(out)).toBe(false);
});
