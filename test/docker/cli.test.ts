import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTask, writeReport } from '../fixtures/tasks/makeTask.ts';
import { gradeSchema, tasksSchema } from './cliSchema.ts';
import { type CliResult, docker, ensureCli, Lab, runCli, startCli, waitFor } from './support.ts';

let lab: Lab;
let home: string;
let task: string;
beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  home = path.join(lab.dir, 'home');
  task = await lab.taskDir();
});
afterAll(async () => {
  const ours = docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']);
  for (const image of ours.split('\n').filter(Boolean)) lab.owns(image);
  await lab.dispose();
});

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CliResult> =>
  runCli(args, { E2E_SWE_HOME: home, ...env }, lab.dir);

describe('grade', () => {
  test('resolved: exit 0, one JSON object on stdout, progress on stderr', async () => {
    const { code, stdout, stderr } = await run(['grade', task, '--solution', '--json']);
    expect(code).toBe(0);
    const result = gradeSchema.parse(JSON.parse(stdout));
    expect(result).toMatchObject({
      task: { name: 'shell-task', path: task },
      verdict: 'resolved',
      reward: 1,
      counts: { expected: 2, reported: 2, passed: 2, failed: 0, notReported: 0 },
      tests: [{ name: 'first', status: 'passed', durationMs: 1 }, { name: 'second' }],
      marks: [],
      problems: [],
    });
    expect(result).not.toHaveProperty('reason');
    expect(stderr).toMatch(/Running the hidden tests…/);
    expect(path.dirname(result.dir)).toBe(path.join(home, 'grades/shell-task'));
    expect(JSON.parse(readFileSync(path.join(result.dir, 'grade.json'), 'utf8'))).toEqual(result);
  });

  test('unresolved: exit 1, for people too', async () => {
    const { code, stdout } = await run(['grade', task, '--empty']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^shell-task: unresolved \(tests-failed\)\n {2}1 of 2 tests passed, reward 0\n/);
    expect(stdout).toMatch(/failed: second/);
  });

  test('a workspace, given by a folder or a tar, kept where --out says', async () => {
    const workspace = await lab.workspace();
    const out = path.join(lab.dir, 'out');
    const first = await run(['grade', task, '--workspace', workspace, '--out', out, '--json']);
    expect(first.code).toBe(0);
    expect(gradeSchema.parse(JSON.parse(first.stdout))).toMatchObject({
      dir: out,
      evidence: { source: 'folder' },
    });
    expect((await readdir(out)).sort()).toEqual(
      expect.arrayContaining(['grade.json', 'submission.tar.gz', 'verifier']),
    );
    const tar = path.join(out, 'submission.tar.gz');
    const second = await run(['grade', task, '--workspace', tar, '--out', out, '--json']);
    expect(second.code).toBe(0);
    const { dir, evidence } = gradeSchema.parse(JSON.parse(second.stdout));
    expect(path.dirname(dir)).toBe(out);
    expect(evidence).toMatchObject({ source: 'tar' });
  });

  test('not graded: exit 3, also by our own --timeout', async () => {
    const slow = await lab.taskDir({ testScript: '#!/bin/bash\nsleep 600\n' });
    const { code, stdout } = await run(['grade', slow, '--empty', '--timeout', '0.5', '--json']);
    expect(code).toBe(3);
    expect(gradeSchema.parse(JSON.parse(stdout))).toMatchObject({
      verdict: 'not graded',
      reason: 'verifier-timeout',
      reward: null,
    });
  });

  test('no engine: not graded, one sentence of what was tried, and the next step', async () => {
    const env = { DOCKER_HOST: 'unix:///nonexistent' };
    const { code, stdout } = await run(['grade', task, '--empty', '--json'], env);
    expect(code).toBe(3);
    expect(gradeSchema.parse(JSON.parse(stdout))).toMatchObject({
      verdict: 'not graded',
      reason: 'engine-unavailable',
      explanation: {
        text: 'The container engine of DOCKER_HOST does not answer: unix:///nonexistent (no such socket).',
        nextStep: 'Start it, or choose another engine (DOCKER_HOST names this one).',
      },
    });
    const plain = await run(['grade', task, '--empty'], env);
    expect(plain.code).toBe(3);
    expect(plain.stdout).toContain('not graded (engine-unavailable)');
    const clean = await run(['clean'], env);
    expect(clean).toMatchObject({ code: 2, stdout: '' });
    expect(clean.stderr).toContain('/nonexistent');
  });

  test('an engine that goes away in the middle of an answer is no success', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'Content-Length': 9 }).write('OK');
      setTimeout(() => response.destroy(), 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const DOCKER_HOST = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stdout } = await run(['grade', task, '--empty', '--json'], { DOCKER_HOST });
    server.close();
    expect(code).toBe(3);
    expect(gradeSchema.parse(JSON.parse(stdout))).toMatchObject({ reason: 'engine-unavailable' });
  });

  test('a folder that is no task is not graded, and says what is missing', async () => {
    const folder = path.join(lab.dir, 'nothing');
    await mkdir(folder);
    const { code, stdout } = await run(['grade', folder, '--empty', '--json']);
    expect(code).toBe(3);
    expect(gradeSchema.parse(JSON.parse(stdout))).toMatchObject({ reason: 'task-invalid' });
  });

  test('live output goes to stderr', async () => {
    const talking = await lab.taskDir({
      testScript: `#!/bin/bash\necho talking; sleep 0.7\n${writeReport({ a: 'passed', b: 'passed' }, 1)}`,
    });
    const { code, stdout, stderr } = await run(['grade', talking, '--empty', '--live', '--json']);
    expect(code).toBe(0);
    expect(stderr).toContain('talking\n');
    expect(gradeSchema.parse(JSON.parse(stdout)).verdict).toBe('resolved');
  });

  test('Ctrl-C ends it: exit 130, nothing left, no grade kept', async () => {
    const slow = await lab.taskDir({ testScript: '#!/bin/bash\nsleep 600\n' }, 'interrupted-task');
    const { child, done, out } = startCli(['grade', slow, '--empty'], { E2E_SWE_HOME: home }, lab.dir);
    await waitFor('the tests', () => out.stderr.includes('Running the hidden tests'));
    child.kill('SIGINT');
    expect(await done).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringMatching(/Cancelled\.\n$/),
    });
    expect(await readdir(path.join(home, 'grades/interrupted-task'))).toEqual([]);
    for (const image of docker(['images', '-q', 'e2e-swe/interrupted-task']).split('\n'))
      if (image) lab.owns(image);
    const left = await lab.engine.listContainers('dev.e2e-swe.workbench=grade');
    expect(
      left.filter(({ labels }) => labels['dev.e2e-swe.workbench.owner']?.includes(`|${child.pid}|`)),
    ).toEqual([]);
  });
});

describe('wrong usage is exit 2, said on stderr, with nothing on stdout', () => {
  test.each<[what: string, args: () => readonly string[], says: RegExp]>([
    ['no command', () => [], /e2e-swe grade TASK/],
    ['an unknown command', () => ['frobnicate'], /no command "frobnicate"/],
    ['a word that every object has', () => ['constructor'], /no command/],
    ['no task', () => ['grade', '--empty'], /Name one task/],
    ['two tasks', () => ['grade', task, task, '--empty'], /Name one task/],
    ['no source', () => ['grade', task], /--workspace DIR\|TAR, --solution, --empty/],
    ['two sources', () => ['grade', task, '--empty', '--solution'], /one of/],
    ['an unknown option', () => ['grade', task, '--empty', '--frob'], /--frob/],
    ['an option without its value', () => ['grade', task, '--workspace'], /workspace/],
    ['a time that is none', () => ['grade', task, '--empty', '--timeout', 'soon'], /--timeout.*"soon"/],
    ['no time', () => ['grade', task, '--empty', '--timeout', '0'], /--timeout/],
    [
      'a workspace that is not there',
      () => ['grade', task, '--workspace', 'absent'],
      /"absent" does not exist/,
    ],
    ['a task that is not there', () => ['grade', 'absent/task', '--empty'], /absent\/task/],
    [
      'an --out in the workspace',
      () => ['grade', task, '--workspace', lab.dir, '--out', path.join(lab.dir, 'o')],
      /inside the workspace/,
    ],
    [
      'an --out that is a file',
      () => ['grade', task, '--empty', '--out', path.join(task, 'task.toml')],
      /task\.toml/,
    ],
    ['a folder of tasks that is not there', () => ['tasks', 'absent'], /absent/],
    ['a variable that is not set', () => ['grade', task, '--workspace', ''], /empty/],
    [
      'a time that looks like an option',
      () => ['grade', task, '--empty', '--timeout', '-1'],
      /^.*\n.*--help/,
    ],
    [
      'an --out in the task',
      () => ['grade', task, '--empty', '--out', path.join(task, 'tests/out')],
      /inside the task/,
    ],
    ['a workspace that is a device', () => ['grade', task, '--workspace', '/dev/null'], /neither/],
    ['words after clean', () => ['clean', 'all'], /no arguments/],
    ['two tasks to prepare', () => ['prepare', task, task], /Name one task/],
  ])('%s', async (_, args, says) => {
    const { code, stdout, stderr } = await run(args());
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('tasks', () => {
  test('lists what a folder holds, good and bad, as JSON', async () => {
    const corpus = path.join(lab.dir, 'corpus');
    await makeTask(path.join(corpus, 'good'));
    await makeTask(path.join(corpus, 'bad'));
    await writeFile(
      path.join(corpus, 'bad/task.toml'),
      'version = "1.0"\n[verifier]\ntimeout_sec = "soon"\n',
    );
    const { code, stdout } = await run(['tasks', corpus, '--json']);
    expect(code).toBe(0);
    const tasks = tasksSchema.parse(JSON.parse(stdout));
    expect(tasks.map(({ name, valid, gradable }) => [name, valid, gradable])).toEqual([
      ['bad', false, false],
      ['good', true, true],
    ]);
    expect(tasks[0]?.problems[0]).toMatchObject({ file: 'task.toml', line: 3 });
    expect(tasks[1]?.config).toMatchObject({ environment: { memory_mb: 512 } });
    const plain = await run(['tasks', corpus]);
    expect(plain.stdout).toMatch(/bad \(not a valid task\)\n.*\n\s+error: .*\[task\.toml:3\]/);
  });

  test('none is said on stderr; the bundled ones are listed without a name', async () => {
    const empty = path.join(lab.dir, 'no-tasks');
    await mkdir(empty);
    expect(await run(['tasks', empty])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No tasks'),
    });
    const bundled = await run(['tasks', '--json']);
    expect(tasksSchema.parse(JSON.parse(bundled.stdout)).some(({ gradable }) => gradable)).toBe(true);
  });
});

test('help goes to stdout', async () => {
  for (const word of ['help', '--help', '-h']) {
    const { code, stdout } = await run([word]);
    expect(code).toBe(0);
    expect(stdout).toContain('Exit codes: 0 resolved, 1 unresolved, 2 wrong usage, 3 not graded');
  }
});

test('a reader that goes away is no bug of ours', async () => {
  const { child, done } = startCli(['tasks', '--json'], { E2E_SWE_HOME: home });
  child.stdout.destroy();
  const { stderr } = await done;
  expect(stderr).not.toMatch(/EPIPE|bug|\n\s+at /);
});

test('prepare makes the image, so that a grade finds it', async () => {
  const fresh = await lab.taskDir(
    { dockerfile: `FROM debian:bookworm-slim\nWORKDIR /app\nRUN echo ${process.pid}\n` },
    'prepared-task',
  );
  const { code, stdout, stderr } = await run(['prepare', fresh]);
  const [reference = ''] = stdout.split(' ');
  lab.owns(reference);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^e2e-swe\/prepared-task:[\w-]+ is ready \(\d+ MB\)\.\n$/),
  });
  expect(stderr).toMatch(/Step 1/);
  expect((await run(['prepare', fresh])).stderr).toBe('');
  expect(existsSync(path.join(home, 'grades/prepared-task'))).toBe(false);
});
