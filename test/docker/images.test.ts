import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nullLog } from '#core/base/log.ts';
import type { EngineError } from '#core/container/engine.ts';
import { ensureImage, type ImagePlan } from '#core/container/images.ts';
import { shellDockerfile, writeReport } from '../fixtures/tasks/makeTask.ts';
import { docker, kept, Lab } from './support.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.dispose());

const passing = writeReport({ first: 'passed', second: 'passed' }, 1);
let made = 0;

/** A build context in a folder of its own. */
async function context(files: Readonly<Record<string, string>>, timeoutSec = 60): Promise<ImagePlan> {
  const dir = path.join(lab.dir, `context${made++}`);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, name)), { recursive: true });
    await writeFile(path.join(dir, name), content);
  }
  const environmentId = `test${process.pid}n${made}`;
  return { kind: 'build', context: dir, name: 'context-test', environmentId, timeoutSec };
}

async function build(plan: ImagePlan): Promise<{ lines: string[]; reference: string }> {
  const lines: string[] = [];
  const { reference } = await ensureImage(lab.engine, plan, {
    onProgress: (line) => lines.push(line),
    log: nullLog,
  });
  lab.owns(reference);
  return { lines, reference };
}

describe('building', () => {
  test('once: a second grade finds the image by what it was built from', async () => {
    const task = await lab.task({ dockerfile: `${shellDockerfile}RUN echo ${process.pid}\n` }, 'once-task');
    const progress: string[] = [];
    const first = await lab.grade(task, { kind: 'empty' }, {}, undefined, (event) => {
      if (event.kind === 'progress') progress.push(event.message);
    });
    expect(progress.join('\n')).toMatch(/Step 1\/3|FROM/);
    progress.length = 0;
    const second = await lab.grade(task, { kind: 'empty' }, {}, undefined, (event) => {
      if (event.kind === 'progress') progress.push(event.message);
    });
    expect(progress).toEqual([]);
    expect(second.evidence.image).toEqual(first.evidence.image);
    const { reference = '' } = first.evidence.image ?? {};
    expect(reference.split('-').slice(0, -1).join('-')).toBe(
      `e2e-swe/once-task:${first.evidence.environmentId}`,
    );
    const labels = docker(['image', 'inspect', '-f', '{{json .Config.Labels}}', reference]);
    expect(JSON.parse(labels)).toMatchObject({ 'dev.e2e-swe.workbench': 'image' });
  });

  test('a failure shows what the build printed, and is no zero', async () => {
    const task = await lab.task(
      { dockerfile: `${shellDockerfile}RUN echo this is why && exit 7\n` },
      'failing-task',
    );
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result).toMatchObject({
      verdict: 'not graded',
      reason: 'image-build-failed',
      explanation: { cause: 'task' },
    });
    expect(result.explanation?.text).toMatch(/7[\s\S]*this is why/);
  });

  test('a Dockerfile that cannot be parsed, and a base image that is nowhere', async () => {
    await expect(
      build(await context({ Dockerfile: 'FROM debian:bookworm-slim\nNONSENSE x\n' })),
    ).rejects.toMatchObject({
      failure: 'build-failed',
      message: expect.stringMatching(/NONSENSE/i),
    });
    for (const more of ['', 'RUN --mount=type=tmpfs,target=/s true\n']) {
      const missing = await build(
        await context({ Dockerfile: `FROM localhost:1/nowhere/none:1\n${more}` }),
      ).catch((error: EngineError) => error);
      expect(missing).toMatchObject({
        failure: 'pull-failed',
        message: expect.stringContaining(
          "The Dockerfile's base image localhost:1/nowhere/none:1 is not on this machine and cannot be pulled: ",
        ),
      });
    }
  });

  test('what BuildKit alone understands is built with it, its output shown', async () => {
    const { lines, reference } = await build(
      await context({
        Dockerfile: `${shellDockerfile}COPY --chmod=741 tool /tool\nRUN --mount=type=tmpfs,target=/scratch echo ${Date.now()} mounted-$(wc -l < /proc/mounts)\n`,
        tool: '#!/bin/sh\n',
      }),
    );
    expect(lines.join('\n')).toMatch(/mounted-\d+/);
    expect(docker(['run', '--rm', '--network', 'none', reference, 'stat', '-c', '%a', '/tool'])).toBe('741');
  });

  test('a BuildKit step that fails says what and why', async () => {
    const plan = await context({
      Dockerfile: `${shellDockerfile}RUN --mount=type=tmpfs,target=/s echo ${Date.now()} because; exit 9\n`,
    });
    await expect(build(plan)).rejects.toMatchObject({
      failure: 'build-failed',
      message: expect.stringMatching(/9[\s\S]*because/),
    });
  });

  test('a syntax line is not fetched', async () => {
    const plan = await context({
      Dockerfile: `# syntax=docker/dockerfile:1\n${shellDockerfile}COPY --chmod=700 Dockerfile /d\n`,
    });
    expect((await build(plan)).reference).toContain('context-test');
  });

  test('.dockerignore holds, folders of what it brings back are not there', async () => {
    const { reference } = await build(
      await context({
        Dockerfile: `${shellDockerfile}COPY . /ctx/\n`,
        '.dockerignore': '*\n!src\n**/*.log\n',
        'src/main.c': '',
        'src/deep/x.log': '',
        'other/deep/file': '',
        README: '',
      }),
    );
    const list = docker([
      'run',
      '--rm',
      '--network',
      'none',
      reference,
      'find',
      '/ctx',
      '-mindepth',
      '1',
      '-not',
      '-name',
      'Dockerfile',
    ]);
    expect(list.split('\n').sort()).toEqual(['/ctx/src', '/ctx/src/deep', '/ctx/src/main.c']);
  });

  test('a build that takes too long ends', async () => {
    const plan = await context({ Dockerfile: `${shellDockerfile}RUN sleep 61\n` }, 1.5);
    await expect(build(plan)).rejects.toMatchObject({
      failure: 'build-failed',
      message: expect.stringContaining('1.5 s'),
    });
  });
});

describe('where the verifier runs', () => {
  test('tests/Dockerfile makes the image, and owns /tests', async () => {
    const task = await lab.task(
      {
        files: {
          'tests/Dockerfile': `${shellDockerfile}COPY . /tests/\nRUN echo baked > /tests/baked\n`,
        },
        testScript: `#!/bin/bash\ncat /tests/baked\n${passing}`,
      },
      'verifier-task',
    );
    const result = await lab.gradeFolder(task);
    lab.owns(result.evidence.image?.reference as string);
    expect(result).toMatchObject({
      verdict: 'resolved',
      evidence: { image: { reference: expect.stringContaining('-verifier:') } },
    });
    expect(kept(result, 'test-stdout.txt')).toBe('baked\n');
  });

  test("the solution runs in the task's image, the tests in the verifier's", async () => {
    const task = await lab.task(
      {
        dockerfile: `${shellDockerfile}RUN echo builder > /whoami\n`,
        files: { 'tests/Dockerfile': `${shellDockerfile}COPY . /tests/\nRUN echo verifier > /whoami\n` },
        solution: '#!/bin/bash\ncp /whoami /app/solved-in\n',
        testScript: `#!/bin/bash\ncat solved-in /whoami\n${passing}`,
      },
      'two-image-task',
    );
    const result = await lab.grade(task, { kind: 'solution' });
    lab.owns(docker(['images', '-q', 'e2e-swe/two-image-task']).split('\n')[0] as string);
    expect(kept(result, 'test-stdout.txt')).toBe('builder\nverifier\n');
  });
});

test('a reference that is nowhere names the image and what to do', async () => {
  const task = await lab.task({
    environment: 'docker_image = "localhost:1/nowhere/none:1"\nallow_internet = false',
  });
  const result = await lab.grade(task, { kind: 'empty' });
  expect(result).toMatchObject({
    verdict: 'not graded',
    reason: 'image-missing',
    explanation: { cause: 'engine' },
  });
  expect(result.explanation?.text).toContain('localhost:1/nowhere/none:1 is not on this machine');
  expect(JSON.parse(readFileSync(path.join(result.dir, 'grade.json'), 'utf8'))).toMatchObject({
    verdict: 'not graded',
  });
});
