import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineInfo } from '#core/container/engine.ts';
import { clampLimits, type GradePlan, isInside, planGrade, submissionRoots } from '#core/grading/plan.ts';
import type { Task } from '#core/task/types.ts';
import type { TaskParts } from '../../fixtures/tasks/makeTask.ts';
import { Bench } from './support.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.make();
});
afterAll(() => bench.remove());

const engine = { cpus: 4, memoryBytes: 8 * 1024 ** 3, os: 'linux', arch: 'amd64' } as EngineInfo;

async function planOf(parts: TaskParts, task?: Task, timeoutSec?: number): Promise<GradePlan> {
  return planGrade(task ?? (await bench.task(parts)), { kind: 'empty' }, engine, {
    timeoutSec,
    environmentId: (folder) => Promise.resolve(`id-of-${path.basename(folder)}`),
  });
}

const separate = 'environment_mode = "separate"\ntimeout_sec = 60.0';
const own = (lines: string): string => `${separate}\n[verifier.environment]\n${lines}`;

describe('the image of the verifier (harbor.md §4.1, §4.3)', () => {
  test('a docker_image wins over a Dockerfile', async () => {
    const { image, testsDir } = await planOf({ environment: 'docker_image = "r.example/x:1"' });
    expect(image).toEqual({ kind: 'reference', reference: 'r.example/x:1' });
    expect(testsDir).toMatch(/tests$/);
  });

  test('environment/Dockerfile is built, under the id of its folder', async () => {
    const { image, solutionImage } = await planOf({ environment: 'build_timeout_sec = 33.0' });
    expect(image).toMatchObject({
      kind: 'build',
      name: 'shell-task',
      environmentId: 'id-of-environment',
      timeoutSec: 33,
    });
    expect(solutionImage).toBe(image);
  });

  test('tests/Dockerfile is the separate verifier, and owns /tests', async () => {
    const plan = await planOf({ verifier: separate, files: { 'tests/Dockerfile': 'FROM x\n' } });
    expect(plan.image).toMatchObject({
      kind: 'build',
      name: 'shell-task-verifier',
      environmentId: 'id-of-tests',
    });
    expect(plan.testsDir).toBeUndefined();
    expect(plan.solutionImage).toMatchObject({ environmentId: 'id-of-environment' });
  });

  test('with a docker_image the tests/Dockerfile does not count, and tests/ is merged', async () => {
    const parts = {
      environment: 'docker_image = "x"',
      verifier: separate,
      files: { 'tests/Dockerfile': 'FROM x\n' },
    };
    const { image, testsDir } = await planOf(parts);
    expect(image.kind).toBe('reference');
    expect(testsDir).toMatch(/tests$/);
  });

  test("a verifier's own environment does not inherit the task's docker_image", async () => {
    const parts = { environment: 'docker_image = "task"', files: { 'tests/Dockerfile': 'FROM x\n' } };
    expect((await planOf({ ...parts, verifier: own('cpus = 1') })).image).toMatchObject({
      environmentId: 'id-of-tests',
    });
    expect((await planOf({ ...parts, verifier: own('docker_image = "own"') })).image).toEqual({
      kind: 'reference',
      reference: 'own',
    });
  });

  test("a shared verifier takes the task's image whatever tests/ holds", async () => {
    const plan = await planOf({ verifier: 'timeout_sec = 5.0', files: { 'tests/Dockerfile': 'FROM x\n' } });
    expect(plan).toMatchObject({
      mode: 'fresh (task asked shared)',
      image: { environmentId: 'id-of-environment' },
    });
    expect(plan.testsDir).toMatch(/tests$/);
  });

  test('without any image there is no way to grade', async () => {
    const task = await bench.task();
    await rm(path.join(task.dir, 'environment/Dockerfile'));
    await expect(planOf({}, task)).rejects.toMatchObject({ reason: 'task-invalid' });
  });
});

test('time, user, count and network come from the task; a time of our own goes first', async () => {
  const verifier = `${separate}\nuser = 1001\ntest_case_count = 7\nnetwork_mode = "public"`;
  expect(await planOf({ verifier })).toMatchObject({
    user: '1001',
    timeoutSec: 60,
    expected: 7,
    networkWanted: true,
  });
  expect((await planOf({ verifier }, undefined, 5)).timeoutSec).toBe(5);
  expect((await planOf({})).user).toBeUndefined();
});

describe('limits', () => {
  type Wanted = Parameters<typeof clampLimits>[0];
  test.each([
    [
      { cpus: 2, memory_mb: 1024 },
      { cpus: 2, memoryMb: 1024, clamped: [] },
    ],
    [
      { cpus: 64, memory_mb: 1024 },
      { cpus: 4, memoryMb: 1024, clamped: ['cpus 64 -> 4'] },
    ],
    [
      { cpus: 4, memory_mb: 8192 },
      { cpus: 4, memoryMb: 8192, clamped: [] },
    ],
    [
      { cpus: 5, memory_mb: 8193 },
      { cpus: 4, memoryMb: 8192, clamped: ['cpus 5 -> 4', 'memory_mb 8193 -> 8192'] },
    ],
    [
      { cpus: null, memory_mb: null },
      { cpus: null, memoryMb: null, clamped: [] },
    ],
    [
      { cpus: 0, memory_mb: 0 },
      { cpus: null, memoryMb: null, clamped: [] },
    ],
  ])('%j', (wanted, limits) => {
    expect(clampLimits(wanted as unknown as Wanted, engine)).toEqual({ ...limits, pids: 4096 });
  });
});

describe('what a submission covers', () => {
  const artifacts = (...sources: string[]): Pick<GradePlan, 'artifacts'> => ({
    artifacts: sources.map((source) => ({ source, destination: null, exclude: [], service: null })),
  });
  test.each<[workdir: string, sources: readonly string[], roots: readonly string[]]>([
    ['/app', ['/logs/artifacts', '/app'], ['/app', '/logs/artifacts']],
    ['/app/', ['/app/out', 'srv//x/', '/app.d'], ['/app', '/srv/x', '/app.d']],
    ['/srv/app', ['/srv'], ['/srv/app', '/srv']],
    ['/', ['/logs/artifacts', '/app', '/data'], ['/app', '/logs/artifacts', '/data']],
  ])('%s with %j', (workdir, sources, roots) => {
    expect(submissionRoots(artifacts(...sources), workdir)).toEqual(roots);
  });

  test('all of / is no submission', () => {
    expect(() => submissionRoots(artifacts('/logs/artifacts'), '/')).toThrow(/WORKDIR/);
  });

  test('inside', () => {
    expect([
      isInside('/a/b', '/a'),
      isInside('/a', '/a'),
      isInside('/ab', '/a'),
      isInside('/x', '/'),
    ]).toEqual([true, true, false, true]);
  });
});
