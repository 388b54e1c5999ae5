import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import * as vscode from 'vscode';
import { CancelledError, UserError } from '#core/base/errors.ts';
import { nullLog } from '#core/base/log.ts';
import { addCorpus } from '#vscode/commands/addCorpus.ts';
import { cancelGrade } from '#vscode/commands/cancelGrade.ts';
import { checkEngine } from '#vscode/commands/checkEngine.ts';
import { type CommandHandlers, commandIds } from '#vscode/commands/commandIds.ts';
import { deleteGrade } from '#vscode/commands/deleteGrade.ts';
import { grade } from '#vscode/commands/grade.ts';
import { gradeEmpty } from '#vscode/commands/gradeEmpty.ts';
import { gradeSolution } from '#vscode/commands/gradeSolution.ts';
import { openGrade } from '#vscode/commands/openGrade.ts';
import { openGradeFolder } from '#vscode/commands/openGradeFolder.ts';
import { openGradeLog } from '#vscode/commands/openGradeLog.ts';
import { openSettings } from '#vscode/commands/openSettings.ts';
import { openSpec } from '#vscode/commands/openSpec.ts';
import { pickTask } from '#vscode/commands/pickTask.ts';
import { refresh } from '#vscode/commands/refresh.ts';
import { registerCommands } from '#vscode/commands/registerCommands.ts';
import { removeCorpus } from '#vscode/commands/removeCorpus.ts';
import { readGradeDocument } from '#vscode/documents/gradeLog.ts';
import { registerReadonlyFiles } from '#vscode/documents/readonlyFiles.ts';
import { readSpecDocument, specUri } from '#vscode/documents/specDocument.ts';
import { EngineStatus } from '#vscode/engine/engineStatus.ts';
import { env, fake } from '../fakes/vscode.ts';
import { brokenEntry, graderOf, makeEntry, makeResult, makeTask, makeTest } from './support/builders.ts';
import { gradesTo, makeWorld } from './support/world.ts';

const alpha = makeTask('/c/alpha');
const resolving = gradesTo((task) =>
  makeResult(task, 'resolved', [makeTest('a', 'passed'), makeTest('b', 'passed'), makeTest('c', 'passed')]),
);
const oneTask = () => makeWorld([makeEntry('/c/alpha')], resolving);

const folders: string[] = [];

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'e2e-swe-adapters-'));
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

test('every command goes through the wrapper, which shows an error once', async () => {
  const world = await oneTask();
  const handlers = Object.fromEntries(
    commandIds.map((id) => [id, () => undefined]),
  ) as unknown as CommandHandlers;
  registerCommands(
    {
      ...handlers,
      'e2eSwe.refresh': () =>
        Promise.reject(new UserError('The folder is gone.', { nextStep: 'Add it again.' })),
      'e2eSwe.grade': () => Promise.reject(new CancelledError()),
      'e2eSwe.openSpec': () => {
        throw new TypeError('x is undefined');
      },
    },
    world.reportError,
  );
  expect([...fake.commands.keys()]).toEqual([...commandIds]);
  for (const id of ['e2eSwe.refresh', 'e2eSwe.grade', 'e2eSwe.openSpec'])
    await vscode.commands.executeCommand(id);
  expect(fake.messages).toEqual([
    'error: The folder is gone. Add it again. [Show log]',
    'error: Something went wrong. The log has the details. [Show log]',
  ]);
  expect(
    fake.channel.find((line) => line.startsWith('error e2eSwe.openSpec: TypeError: x is undefined')),
  ).toBeDefined();
});

test('the button of a notification does what it says', async () => {
  const world = await oneTask();
  fake.answer = (_message, actions) => actions[0];
  world.reportError('e2eSwe.refresh', new UserError('Gone.'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(fake.opened).toEqual(['log']);
});

test('a link in what a notification tells stays text', async () => {
  const world = await oneTask();
  world.notifier.warn('Changed: /opt/[free lunch](command:workbench.action.quit).');
  expect(fake.messages.at(-1)).toBe(
    'warning: Changed: /opt/[free lunch]\u2060(command:workbench.action.quit).',
  );
  expect(fake.messages.at(-1)).not.toMatch(/\[[^\]]+\]\(/);
});

test('a task is taken from a row, a test, a path or a choice', async () => {
  const world = await makeWorld([makeEntry('/c/alpha'), makeEntry('/c/beta')], graderOf());
  const [corpus] = await world.tree.getChildren();
  const [row] = await world.tree.getChildren(corpus);
  const [, item] = [...world.items][1] ?? [];
  fake.picks = ['beta'];
  const picked = [];
  for (const argument of [row, item, '/c/alpha', vscode.Uri.file('/c/beta'), undefined]) {
    picked.push((await pickTask(world, argument, 'Test')).name);
  }
  expect(picked).toEqual(['alpha', 'beta', 'alpha', 'beta', 'beta']);
  await expect(pickTask(world, undefined, 'Test')).rejects.toBeInstanceOf(CancelledError);
  await expect(pickTask(world, '/nowhere', 'Test')).rejects.toThrow('/nowhere is none of the listed tasks.');
});

test('a task that cannot be graded is refused with its reason', async () => {
  const world = await makeWorld(
    [brokenEntry('/c/bad', { code: 'toml-syntax', severity: 'error', message: 'task.toml is no TOML.' })],
    resolving,
  );
  await expect(gradeEmpty(world)('/c/bad')).rejects.toThrow('bad cannot be graded: task.toml is no TOML.');
  expect(fake.runs).toEqual([]);
});

test('grading from the palette asks for the task and for what to grade', async () => {
  const world = await oneTask();
  fake.workspaceFolders = [{ uri: vscode.Uri.file('/home/me/try') as never, name: 'try' }];
  fake.picks = ['alpha', 'try'];
  await grade(world)();
  expect(fake.runs[0]?.name).toBe('Grading alpha (Folder try)');
  fake.picks = ['Choose a folder'];
  fake.openDialog = [vscode.Uri.file('/home/me/other') as never];
  await grade(world)('/c/alpha');
  expect(fake.runs[1]?.name).toBe('Grading alpha (Folder other)');
  fake.picks = [];
  await expect(grade(world)('/c/alpha')).rejects.toBeInstanceOf(CancelledError);
  expect(fake.offered.at(-1)).toEqual([
    'Last choice',
    '$(folder) other',
    'Other',
    '$(pass) Reference solution',
    '$(circle-outline) Empty workspace',
    'Workspace folders',
    '$(folder) try',
    'Recent folders',
    '',
    '$(folder-opened) Choose a folder…',
  ]);
});

test('the shortcuts grade at once', async () => {
  const world = await oneTask();
  await gradeSolution(world)('/c/alpha');
  await gradeEmpty(world)('/c/alpha');
  expect(fake.runs.map((run) => run.name)).toEqual([
    'Grading alpha (Reference solution)',
    'Grading alpha (Empty workspace)',
  ]);
});

test('the spec opens rendered, from an address that only listed tasks have', async () => {
  const world = await oneTask();
  await openSpec(world)('/c/alpha');
  const [command, uri] = fake.executed[0] ?? [];
  expect([command, String(uri)]).toEqual(['markdown.showPreview', 'e2e-swe-spec:/alpha.md?%2Fc%2Falpha']);
  const read = readSpecDocument(world.index, { readSpec: async (task) => `# ${task.name}` });
  expect(new TextDecoder().decode(await read(specUri(alpha)))).toBe('# alpha');
  expect(await read(specUri(makeTask('/etc')))).toBeUndefined();
});

test('our documents are read-only', async () => {
  await oneTask();
  registerReadonlyFiles('e2e-swe-spec', async () => new TextEncoder().encode('text'));
  const files = fake.fileSystems.get('e2e-swe-spec') as unknown as vscode.FileSystemProvider;
  const uri = specUri(alpha);
  expect(await files.stat(uri)).toMatchObject({ size: 4, permissions: 1 });
  expect(() => files.writeFile(uri, new Uint8Array(), { create: true, overwrite: true })).toThrow(
    'read-only',
  );
});

test('adding and removing a folder edits the setting', async () => {
  const world = await oneTask();
  fake.openDialog = [vscode.Uri.file('/c') as never];
  await addCorpus(world)();
  expect(fake.settings.get('e2eSwe.corpora')).toEqual(['/c']);
  await addCorpus(world)(vscode.Uri.file('/c'));
  expect(fake.settings.get('e2eSwe.corpora')).toEqual(['/c']);
  const [row] = await world.tree.getChildren();
  await removeCorpus(world)(row);
  expect(fake.settings.get('e2eSwe.corpora')).toEqual([]);
  fake.openDialog = undefined;
  await expect(addCorpus(world)()).rejects.toBeInstanceOf(CancelledError);
});

test('a folder without tasks is added with a warning', async () => {
  const world = await makeWorld([], graderOf());
  await addCorpus(world)(vscode.Uri.file('/c'));
  expect(fake.messages).toEqual([
    'warning: /c was added, but holds no task folders: a task has a task.toml file.',
  ]);
});

test('refreshing reads tasks and grades again', async () => {
  const world = await oneTask();
  await world.grades.list(alpha);
  world.store.add(makeResult(alpha, 'resolved', []));
  await refresh(world)();
  expect(await world.grades.list(alpha)).toHaveLength(1);
});

test('cancelling without a grade says so; with one it stops it', async () => {
  const world = await oneTask();
  await cancelGrade(world)();
  expect(fake.messages).toEqual(['info: No grade is running.']);
  const controller = new AbortController();
  const running = world.queue.run(alpha, { kind: 'empty' }, controller, async () => {
    await cancelGrade(world)();
  });
  await running;
  expect(controller.signal.aborted).toBe(true);
});

test('the engine check shows what answers, or what was tried and the next step', async () => {
  const world = await oneTask();
  let closed = 0;
  const info = async () => ({
    id: 'x',
    version: '28.0',
    os: 'linux',
    arch: 'amd64',
    cpus: 2,
    memoryBytes: 8 * 1024 ** 3,
    address: 'unix:///run/docker.sock',
    rootDir: '/var/lib/docker',
    buildKit: false,
    product: 'Docker' as const,
    rootless: false,
    cgroup: 2 as const,
    unenforced: [],
  });
  const there = new EngineStatus(async () => ({ info, close: () => void closed++ }), nullLog);
  const chooseEngine = (): void => undefined;
  await checkEngine({ ...world, engine: there, chooseEngine })();
  const missing = new EngineStatus(
    () =>
      Promise.reject(new UserError('No container engine answers: tried x.', { nextStep: 'Start Docker.' })),
    nullLog,
  );
  await checkEngine({ ...world, engine: missing, chooseEngine })();
  expect(fake.messages).toEqual([
    'info: The container engine answers: Docker 28.0 on linux/amd64, 2 CPUs, 8.0 GiB memory, at unix:///run/docker.sock. [Choose engine]',
    'error: No container engine answers: tried x. Start Docker. [Choose engine, Show log]',
  ]);
  expect([closed, there.state.kind, missing.state.kind]).toEqual([1, 'ready', 'missing']);
});

test('settings open at ours, or at the one that is named', async () => {
  await oneTask();
  await openSettings('e2e-swe.e2e-swe-workbench')();
  await openSettings('e2e-swe.e2e-swe-workbench')('e2eSwe.dockerHost');
  expect(fake.executed.map(([, query]) => query)).toEqual([
    '@ext:e2e-swe.e2e-swe-workbench',
    'e2eSwe.dockerHost',
  ]);
});

async function worldWithStoredGrade() {
  const world = await oneTask();
  const store = await tempFolder();
  const dir = path.join(store, 'grades/alpha/1');
  await mkdir(path.join(dir, 'verifier'), { recursive: true });
  await writeFile(path.join(dir, 'verifier/test-stdout.txt'), 'all\nwell\n');
  world.store.add(
    makeResult(
      alpha,
      'resolved',
      ['a', 'b', 'c'].map((id) => makeTest(id, 'passed')),
      { dir },
    ),
  );
  return { ...world, dir, storeDir: store };
}

test('a stored grade is shown again with its log', async () => {
  const world = await worldWithStoredGrade();
  fake.picks = ['alpha', 'Reference solution'];
  await openGrade(world)();
  expect(fake.runs[0]?.log.slice(2, 3)).toEqual(['passed test a']);
  expect(fake.runs[0]?.output).toBe(
    'all\r\nwell\r\n\r\nalpha: Resolved. 3 of 3 passed (Reference solution).\r\n',
  );
  expect(fake.executed.map(([id]) => id)).toContain('workbench.view.testing.focus');
});

test('the verifier log opens read-only, and only from inside the store', async () => {
  const world = await worldWithStoredGrade();
  fake.picks = ['Reference solution'];
  await openGradeLog(world)('/c/alpha');
  expect(fake.opened).toEqual([`e2e-swe-grade:/alpha 1 verifier.log?${encodeURIComponent(world.dir)}`]);
  const read = readGradeDocument(() => world.storeDir, world.gate);
  const at = (dir: string) =>
    vscode.Uri.from({ scheme: 'e2e-swe-grade', path: '/x', query: encodeURIComponent(dir) });
  expect(String(await read(at(world.dir)))).toBe('all\nwell\n');
  const outside = await tempFolder();
  await mkdir(path.join(outside, 'verifier'));
  await writeFile(path.join(outside, 'verifier/test-stdout.txt'), 'secret');
  await symlink(outside, path.join(world.storeDir, 'link'));
  expect(await read(at(path.join(world.storeDir, 'link')))).toBeUndefined();
});

test('a grade without a log, and a task without grades, say so', async () => {
  const world = await worldWithStoredGrade();
  await rm(path.join(world.dir, 'verifier'), { recursive: true });
  fake.picks = ['Reference solution'];
  await expect(openGradeLog(world)('/c/alpha')).rejects.toThrow('it ended before the verifier ran');
  world.store.results.clear();
  await refresh(world)();
  await expect(openGradeLog(world)('/c/alpha')).rejects.toThrow('alpha has no grades yet.');
});

test('the grade folder is revealed here, and named in a remote window', async () => {
  const world = await worldWithStoredGrade();
  fake.picks = ['Reference solution', 'Reference solution'];
  await openGradeFolder(world)('/c/alpha');
  expect(fake.executed.at(-1)?.[0]).toBe('revealFileInOS');
  env.remoteName = 'ssh-remote';
  await openGradeFolder(world)('/c/alpha');
  env.remoteName = undefined;
  expect(fake.messages).toEqual([`info: The grade is kept in ${world.dir}. [Copy path]`]);
});

test('a grade is deleted only after a yes', async () => {
  const world = await worldWithStoredGrade();
  fake.picks = ['Reference solution', 'Reference solution'];
  await expect(deleteGrade(world)('/c/alpha')).rejects.toBeInstanceOf(CancelledError);
  fake.answer = () => 'Delete';
  await deleteGrade(world)('/c/alpha');
  await expect(rm(world.dir, { recursive: true })).rejects.toThrow('ENOENT');
});
