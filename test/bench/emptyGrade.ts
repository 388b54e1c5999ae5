import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { nullLog } from '#core/base/log.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { gradeTask } from '#core/grading/grade.ts';
import type { Preparation } from '#core/grading/prepared.ts';
import type { Phase } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';

const run = promisify(execFile);

/** The image of the bench: what every machine that runs our tests has. */
const image = 'debian:bookworm-slim';

const testScript = `#!/bin/bash
printf '{"results":{"tool":{"name":"bench"},"summary":{"tests":1,"passed":1,"failed":0,"skipped":0,"pending":0,"other":0,"start":0,"stop":1},"tests":[{"name":"a","status":"passed","duration":1}]}}' > /logs/verifier/ctrf.json
echo 1 > /logs/verifier/reward.txt
`;

const taskToml = `version = "1.0"
artifacts = ["/app"]
[verifier]
environment_mode = "separate"
network_mode = "no-network"
test_case_count = 1
[environment]
docker_image = "${image}"
workdir = "/app"
allow_internet = false
`;

/** A task whose tests take no time and a workspace of small files, in a folder of their own. */
export interface EmptyGrade {
  readonly task: Task;
  readonly workspace: string;
  readonly home: string;
  dispose(): Promise<void>;
}

export async function makeEmptyGrade(files: number, bytesPerFile: number): Promise<EmptyGrade> {
  const home = await mkdtemp(path.join(tmpdir(), 'e2e-swe-bench-'));
  const folder = path.join(home, 'task');
  await mkdir(path.join(folder, 'tests'), { recursive: true });
  await mkdir(path.join(folder, 'environment'));
  await writeFile(path.join(folder, 'task.toml'), taskToml);
  await writeFile(path.join(folder, 'instruction.md'), '# Bench\n');
  await writeFile(path.join(folder, 'environment', 'Dockerfile'), `FROM ${image}\nWORKDIR /app\n`);
  await writeFile(path.join(folder, 'tests', 'test.sh'), testScript, { mode: 0o755 });
  const workspace = path.join(home, 'workspace');
  for (let i = 0; i < files; i++) {
    const parent = path.join(workspace, `folder${i % Math.max(10, files / 100)}`);
    await mkdir(parent, { recursive: true });
    await writeFile(path.join(parent, `file${i}.txt`), 'x'.repeat(bytesPerFile));
  }
  const entry = await loadTask(folder);
  if (!entry.task || !entry.gradable)
    throw new Error(`The bench's task is not gradable: ${JSON.stringify(entry.problems)}`);
  return { task: entry.task, workspace, home, dispose: () => rm(home, { recursive: true, force: true }) };
}

/** Our grade, evidence and all; milliseconds and its phases. */
export async function timeOurs(
  { task, workspace, home }: EmptyGrade,
  engine: ContainerEngine,
  prepared?: Preparation,
): Promise<{ ms: number; phases: readonly Phase[] }> {
  const start = performance.now();
  const deps = {
    ...{ connect: () => Promise.resolve(engine), log: nullLog, hostEnv: process.env },
    ...(prepared ? { prepared } : {}),
  };
  let phases: readonly Phase[] = [];
  for await (const event of gradeTask(
    task,
    { kind: 'folder', path: workspace },
    { storeDir: home },
    deps,
    new AbortController().signal,
  )) {
    if (event.kind !== 'finished') continue;
    if (event.result.verdict !== 'resolved')
      throw new Error(
        `The bench's grade is ${event.result.verdict}: ${JSON.stringify(event.result.explanation)}`,
      );
    phases = event.result.phases;
  }
  return { ms: performance.now() - start, phases };
}

/** What a user would script with the docker command: no evidence, no checks. */
export async function timeScript({ task, workspace, home }: EmptyGrade, index: number): Promise<number> {
  const name = `e2e-swe-bench-${process.pid}-${index}`;
  const out = path.join(home, `out${index}`);
  const start = performance.now();
  await run('docker', [
    'create',
    '--name',
    name,
    '--network',
    'none',
    '-w',
    '/app',
    image,
    'sh',
    '-c',
    'mkdir -p /logs/verifier; sleep infinity',
  ]);
  await run('docker', ['start', name]);
  await run('docker', ['cp', `${workspace}/.`, `${name}:/app`]);
  await run('docker', ['cp', path.join(task.dir, 'tests'), `${name}:/tests`]);
  await run('docker', [
    'exec',
    '-w',
    '/app',
    name,
    'bash',
    '-c',
    '(/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1',
  ]);
  await run('docker', ['cp', `${name}:/logs/verifier`, out]);
  await run('docker', ['rm', '-f', '-v', name]);
  return performance.now() - start;
}
