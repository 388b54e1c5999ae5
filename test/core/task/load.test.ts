import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { discoverTasks, findTasks } from '#core/task/discover.ts';
import { loadTask } from '#core/task/load.ts';
import type { TaskEntry } from '#core/task/types.ts';
import { fixture } from './support.ts';

let root: string;
let serial = 0;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'e2e-swe-task-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A folder with these files; a name that ends in `/` is a folder. */
async function folder(files: Readonly<Record<string, string>>, under = root): Promise<string> {
  const dir = path.join(under, `t${serial++}`);
  await mkdir(dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dir, name);
    await mkdir(name.endsWith('/') ? file : path.dirname(file), { recursive: true });
    if (!name.endsWith('/')) await writeFile(file, text);
  }
  return dir;
}

const SHELL = {
  'instruction.md': 'Do it',
  'environment/Dockerfile': 'FROM x\nWORKDIR /app\n',
  'tests/test.sh': 'true\n',
};
const SEPARATE = '[verifier]\nenvironment_mode = "separate"\ntest_case_count = 3\n';

const errors = (entry: TaskEntry): string[] => codes(entry, 'error');
const warnings = (entry: TaskEntry): string[] => codes(entry, 'warning');
function codes(entry: TaskEntry, severity: string): string[] {
  return entry.problems.filter((problem) => problem.severity === severity).map((problem) => problem.code);
}

describe('loadTask', () => {
  it('reads a task in the layout of E2E-SWE', async () => {
    const toml = `version = "1.0"\nartifacts = ["/app"]\n${SEPARATE}[environment]\ndocker_image = "example:1"\n`;
    const entry = await loadTask(await folder({ ...SHELL, 'task.toml': toml }));
    expect(entry).toMatchObject({ valid: true, gradable: true, problems: [] });
    expect(entry.task).toMatchObject({
      name: entry.name,
      dir: entry.path,
      verifierMode: 'separate',
      verifierEnvironment: { docker_image: 'example:1' },
      testCaseCount: 3,
      unknownKeys: ['verifier.test_case_count'],
    });
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      'multi-step',
      { 'task.toml': '[[steps]]\nname = "a"', 'steps/a/instruction.md': 'x' },
      ['unsupported-multi-step'],
    ],
    ['compose', { 'task.toml': '', 'environment/docker-compose.yaml': '' }, ['unsupported-compose']],
    ['compose in tests', { 'task.toml': SEPARATE, 'tests/docker-compose.yaml': '' }, ['unsupported-compose']],
    ['compose in tests, shared', { 'task.toml': '', 'tests/docker-compose.yaml': '' }, []],
    [
      'windows',
      { 'task.toml': '[environment]\nos = "Windows"', 'tests/test.bat': '' },
      ['unsupported-windows'],
    ],
    ['gpu', { 'task.toml': '[environment]\ngpus = 1' }, ['unsupported-gpu']],
    ['no gpu', { 'task.toml': '[environment]\ngpus = 0' }, []],
    ['tpu', { 'task.toml': '[environment.tpu]\ntype = "v4"\ntopology = "2x2"' }, ['unsupported-tpu']],
    ['allowlist', { 'task.toml': '[environment]\nnetwork_mode = "allowlist"' }, ['unsupported-allowlist']],
    ['allowlist of the agent', { 'task.toml': '[agent]\nnetwork_mode = "allowlist"' }, []],
    [
      'allowlist of the verifier',
      { 'task.toml': '[verifier]\nnetwork_mode = "allowlist"' },
      ['unsupported-allowlist'],
    ],
    [
      'allowlist, verifier offline',
      { 'task.toml': '[environment]\nnetwork_mode = "allowlist"\n[verifier]\nnetwork_mode = "no-network"' },
      [],
    ],
    ['sidecar', { 'task.toml': 'artifacts = [{ source = "/x", service = "db" }]' }, ['unsupported-sidecar']],
    ['collect', { 'task.toml': '[[verifier.collect]]\ncommand = "x"' }, []],
    [
      'collect in a sidecar',
      { 'task.toml': '[[verifier.collect]]\ncommand = "x"\nservice = "db"' },
      ['unsupported-sidecar'],
    ],
    ['healthcheck', { 'task.toml': '[environment.healthcheck]\ncommand = "x"' }, []],
    ['healthcheck, separate', { 'task.toml': `${SEPARATE}[environment.healthcheck]\ncommand = "x"` }, []],
    ['mcp servers', { 'task.toml': '[[environment.mcp_servers]]\nname = "m"\nurl = "x"' }, []],
  ])('names the shape: %s', async (_, files, expected) => {
    const entry = await loadTask(await folder({ ...SHELL, ...files }));
    expect(entry.valid).toBe(true);
    expect(errors(entry)).toEqual(expected);
    expect(entry.gradable).toBe(expected.length === 0);
  });

  it.each<[string, Record<string, string>, string[], (string | undefined)[]]>([
    [
      'nothing but task.toml',
      { 'task.toml': '' },
      ['missing-file', 'missing-file', 'missing-file'],
      ['environment', 'instruction.md', 'tests/test.sh'],
    ],
    [
      'an empty environment',
      { 'task.toml': SEPARATE, 'instruction.md': '', 'environment/': '', 'tests/Dockerfile': '' },
      ['no-environment-definition'],
      ['task.toml'],
    ],
    [
      'an image and no tests',
      {
        'task.toml': `${SEPARATE}[environment]\ndocker_image = "x"`,
        'instruction.md': '',
        'environment/': '',
      },
      [],
      [],
    ],
    [
      'no verifier at all',
      { 'task.toml': SEPARATE, 'instruction.md': '', 'environment/Dockerfile': '' },
      ['no-test-script'],
      ['tests/test.sh'],
    ],
    [
      'a step without its folder',
      { ...SHELL, 'task.toml': '[[steps]]\nname = "a"' },
      ['missing-file', 'unsupported-multi-step'],
      ['steps/a/instruction.md', 'task.toml'],
    ],
  ])('names what the folder lacks: %s', async (_, files, expected, where) => {
    const entry = await loadTask(await folder(files));
    expect(errors(entry)).toEqual(expected);
    expect(
      entry.problems.filter((problem) => problem.severity === 'error').map((problem) => problem.file),
    ).toEqual(where);
    expect(entry.gradable).toBe(expected.length === 0);
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      'CR LF',
      { 'task.toml': '', 'tests/test.sh': '#!/bin/bash\r\ntrue\r\n' },
      ['missing-test-case-count', 'crlf-test-script'],
    ],
    [
      'no artifacts',
      { 'task.toml': `${SEPARATE}[environment]\ndocker_image = "x"` },
      ['artifacts-miss-workdir'],
    ],
    [
      'other artifacts',
      { 'task.toml': `artifacts = ["/out"]\n${SEPARATE}`, 'tests/Dockerfile': '' },
      ['artifacts-miss-workdir'],
    ],
    [
      'a parent of the workdir',
      { 'task.toml': `artifacts = ["/"]\n${SEPARATE}`, 'tests/Dockerfile': '' },
      ['artifacts-overlap'],
    ],
    [
      'no image of the verifier',
      { 'task.toml': `artifacts = ["/app/"]\n${SEPARATE}` },
      ['harbor-no-verifier-image'],
    ],
    [
      'an image and a Dockerfile',
      {
        'task.toml': `artifacts = ["/app"]\n${SEPARATE}[environment]\ndocker_image = "x"`,
        'tests/Dockerfile': '',
      },
      ['tests-dockerfile-ignored'],
    ],
    [
      'artifacts in metadata',
      { 'task.toml': `[metadata]\nartifacts = ["/app"]\n${SEPARATE}`, 'tests/Dockerfile': '' },
      ['artifacts-wrong-table', 'artifacts-miss-workdir'],
    ],
    [
      'deprecated keys',
      {
        'task.toml': '[environment]\nallow_internet = false\nmemory = "1G"\n[verifier]\ntest_case_count = 1',
      },
      ['deprecated-key', 'deprecated-key'],
    ],
  ])('warns: %s', async (_, files, expected) => {
    const entry = await loadTask(await folder({ ...SHELL, ...files }));
    expect(warnings(entry)).toEqual(expected);
    expect(entry.gradable).toBe(true);
  });

  it('says so when task.toml is a folder', async () => {
    const entry = await loadTask(await folder({ ...SHELL, 'task.toml/': '' }));
    expect(entry).toMatchObject({ valid: false, gradable: false, problems: [{ code: 'unreadable-file' }] });
  });

  it('waits for no FIFO, and reads no device', async () => {
    const dir = await folder({
      'instruction.md': '',
      'task.toml': SEPARATE,
      'tests/': '',
      'environment/': '',
    });
    execFileSync('mkfifo', [path.join(dir, 'tests/test.sh')]);
    await symlink('/dev/zero', path.join(dir, 'environment/Dockerfile'));
    expect(await loadTask(dir)).toMatchObject({ valid: true });
  });

  it('refuses keys that are nested too deep', async () => {
    const toml = `${Array.from({ length: 20_000 }, () => 'a').join('.')} = 1`;
    const entry = await loadTask(await folder({ ...SHELL, 'task.toml': toml }));
    expect(entry).toMatchObject({ valid: false, problems: [{ code: 'toml-syntax', line: 1 }] });
  });

  it('refuses a path that is no folder, with the next step', async () => {
    const error = await loadTask(path.join(root, 'absent')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ message: expect.stringContaining('absent'), nextStep: expect.any(String) });
  });
});

describe('cases', () => {
  it('21: a script with Windows line endings', async () => {
    const entry = await loadTask(fixture('cases/21-test-sh-crlf'));
    expect(entry.problems).toContainEqual(
      expect.objectContaining({ code: 'crlf-test-script', file: 'tests/test.sh', line: 1 }),
    );
  });

  it('30: odd values and encodings are one row each', async () => {
    const entries = await discoverTasks(fixture('cases/30-toml-bigint-date-proto'));
    expect(entries.map((entry) => [entry.name, entry.valid])).toEqual([
      ['bigint', true],
      ['bom', false],
      ['date', true],
      ['dup', false],
      ['inf', true],
      ['proto', true],
      ['utf16', false],
    ]);
    const problem = (name: string): unknown => entries.find((entry) => entry.name === name)?.problems[0];
    expect(problem('bom')).toMatchObject({ code: 'toml-bom', line: 1, column: 1 });
    expect(problem('dup')).toMatchObject({ code: 'toml-syntax', line: 17, column: 2 });
    expect(problem('utf16')).toMatchObject({ code: 'toml-encoding', line: 1, column: 1 });
    expect(entries.find((entry) => entry.name === 'proto')?.task?.unknownKeys).toEqual(['__proto__']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(() => JSON.stringify(entries)).not.toThrow();
  });

  it('32: legacy and unknown keys', async () => {
    const [legacy, mixed] = await discoverTasks(fixture('cases/32-toml-legacy-and-unknown-keys'));
    // Harbor 0.22 rejects memory and memory_mb that disagree.
    expect(legacy?.valid).toBe(false);
    expect(legacy?.problems.map((problem) => [problem.code, problem.line])).toEqual([
      ['invalid-value', 7],
      ['deprecated-key', 9],
      ['deprecated-key', 10],
      ['unknown-key', 12],
    ]);
    expect(mixed?.task?.config.steps?.map((step) => step.min_reward)).toEqual([0.5, { correctness: 0.75 }]);
    expect(mixed?.task?.config.artifacts).toEqual([
      '/app',
      { source: '/var/log/x.log', destination: 'x', exclude: [], service: 'api' },
    ]);
  });

  it('33: all four shapes are listed, each with its reason', async () => {
    const entries = await discoverTasks(fixture('cases/33-task-shapes-multistep-windows-minimal'));
    expect(entries.map((entry) => [entry.name, entry.valid, entry.gradable, errors(entry)[0]])).toEqual([
      ['meta', true, false, 'missing-file'],
      ['multi', true, false, 'unsupported-multi-step'],
      ['tiny', true, false, 'missing-file'],
      ['win', true, false, 'unsupported-windows'],
    ]);
  });
});

describe('discovery', () => {
  it('takes a task, else its children, and lists what only looks like one', async () => {
    const corpus = path.join(root, 'corpus');
    const good = await folder({ ...SHELL, 'task.toml': '[task]\nname = "z/last"' }, corpus);
    const bad = await folder({ ...SHELL, 'task.toml': 'x' }, corpus);
    const bare = await folder({ 'instruction.md': 'x' }, corpus);
    const shape = await folder({ 'tests/': '', 'environment/': '' }, corpus);
    const v1 = await folder({ 'task.yaml': 'x', 'run-tests.sh': '' }, corpus);
    await folder({ 'src/': '', 'task.yaml': 'x' }, corpus);
    await writeFile(path.join(corpus, 'README.md'), 'x');
    const entries = await discoverTasks(corpus);
    expect(entries.map((entry) => [entry.path, entry.problems[0]?.code])).toEqual([
      [bad, 'toml-syntax'],
      [bare, 'missing-task-toml'],
      [shape, 'missing-task-toml'],
      [v1, 'terminal-bench-1'],
      [good, 'missing-test-case-count'],
    ]);
    expect((await discoverTasks(good)).map((entry) => entry.path)).toEqual([good]);
    expect((await discoverTasks(bad)).map((entry) => entry.path)).toEqual([bad]);
  });

  it('finds tasks at any depth, once, and not inside tasks', async () => {
    const workspace = path.join(root, 'workspace');
    const deep = await folder(
      { ...SHELL, 'task.toml': '', 'tests/inner/task.toml': '' },
      path.join(workspace, 'a/b'),
    );
    await folder({ 'task.toml': '' }, path.join(workspace, 'node_modules/x'));
    await folder({ 'task.toml': '' }, path.join(workspace, '.hidden'));
    await symlink(workspace, path.join(workspace, 'a/loop'));
    expect((await findTasks(workspace)).map((entry) => entry.path)).toEqual([deep]);
    expect(await findTasks(workspace, { maxDepth: 2 })).toEqual([]);
    await expect(findTasks(workspace, { signal: AbortSignal.abort() })).rejects.toThrow('Cancelled');
    await expect(discoverTasks(path.join(workspace, 'absent'))).rejects.toBeInstanceOf(UserError);
  });
});
