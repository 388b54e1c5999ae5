import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Tier } from '#core/attempt/protocol.ts';
import { exampleProtocol } from '#core/attempt/readConditions.ts';
import { reduceGrade } from '#core/attempt/reduceGrade.ts';
import type { TaskEntry } from '#core/task/types.ts';
import { menuItems } from '#vscode/attempts/workspaceMenu.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { grade } from '#vscode/commands/grade.ts';
import { gradeEmpty } from '#vscode/commands/gradeEmpty.ts';
import { gradeSolution } from '#vscode/commands/gradeSolution.ts';
import { openGrade } from '#vscode/commands/openGrade.ts';
import { openGradeFolder } from '#vscode/commands/openGradeFolder.ts';
import { openGradeLog } from '#vscode/commands/openGradeLog.ts';
import { gradeLogUri, readGradeDocument } from '#vscode/documents/gradeLog.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { makeAttempt } from './support/attempts.ts';
import { makeEntry, makeResult, makeTask, makeTest } from './support/builders.ts';
import { renderItems, renderTree } from './support/render.ts';
import { gradesTo, makeWorld } from './support/world.ts';

const task = makeTask('/c/alpha');
const tests = [
  makeTest('plain', 'passed'),
  makeTest('x', 'failed', {
    ...{ name: 'the_name', message: 'the_message at src/a.py:4', trace: 'the_trace', expected: 'the_value' },
    ...{ actual: 'the_other', file: 'src/a.py', line: 4 },
  }),
];
const full = makeResult(task, 'unresolved', tests, {
  ...{ source: 'attempt', reason: 'tests-failed' },
  explanation: { text: 'At least one hidden test failed.', nextStep: 'Open the failed tests.' },
  marks: [{ rule: 'tests-altered', message: 'the_file was altered' }],
  problems: [{ code: 'report-note', message: 'the_note' }],
});
const reader = {
  discover: async () => [makeEntry('/c/alpha')],
  find: async () => [],
  readSpec: async () => '',
};

/** A window with the workspace of a measured attempt, where `one` is graded as core tells it at its tier. */
async function measuredWindow(tier: Tier, more: object = {}) {
  const world = await makeWorld(
    [makeEntry('/c/alpha')],
    gradesTo(() => full),
  );
  fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  world.room.add(makeAttempt('one', { protocol: { ...exampleProtocol, tier, ...more } }));
  world.room.files.content.set('/app/src/a.py', Buffer.from('x\n'));
  world.room.events = [
    { kind: 'phase', phase: 'verify', title: 'Running the hidden tests' },
    { kind: 'finished', result: reduceGrade(full, tier) },
  ];
  const workspace = registerWorkspace({ ...world, reader });
  await workspace.sessions.get('one');
  const run = async (id: keyof typeof workspace.commands): Promise<void> => {
    const handler: CommandHandler = workspace.commands[id];
    await handler();
  };
  return { ...world, workspace, run };
}

/** A window in which an attempt at the task is measured somewhere, and a grade of its solution is stored. */
async function besideMeasured(entry: TaskEntry = makeEntry('/c/alpha')) {
  const world = await makeWorld(
    [entry],
    gradesTo(() => full),
  );
  const solved = makeResult(task, 'unresolved', tests, { dir: path.join(store, 'grades/alpha/1') });
  world.store.add(solved);
  await mkdir(path.join(solved.dir, 'verifier'), { recursive: true });
  await writeFile(path.join(solved.dir, 'verifier/test-stdout.txt'), 'the_log\n');
  await writeFile(path.join(solved.dir, 'grade.json'), JSON.stringify(solved));
  world.room.add(makeAttempt('one', { protocol: { ...exampleProtocol, tier: 'counts' } }));
  world.room.add(makeAttempt('practice'));
  return { ...world, solved };
}

let store = '';
beforeEach(async () => {
  store = await mkdtemp(path.join(tmpdir(), 'e2e-swe-tiers-'));
});
afterEach(() => rm(store, { recursive: true }));

test.each<[Tier, readonly string[]]>([
  ['counts', []],
  ['names', ['the_name']],
  ['messages', ['the_name', 'the_message']],
  ['full', ['the_name', 'the_message', 'the_trace', 'the_value', 'the_other', 'the_file', 'the_note']],
])('a grade at the tier %s, in every view of the workspace', async (tier, shown) => {
  const { run, items, tree } = await measuredWindow(tier);
  await run('e2eSwe.gradeAttempt');
  const views = {
    testing: renderItems(items),
    run: fake.runs.flatMap(({ log, output }) => [...log, output]).join('\n'),
    problems: fake.problems.join('\n'),
    notifications: fake.messages.join('\n'),
    log: fake.channel.join('\n'),
    tree: await renderTree(tree),
    opened: JSON.stringify([fake.opened, fake.executed]),
  };
  const words = ['the_name', 'the_message', 'the_trace', 'the_value', 'the_other', 'the_file', 'the_note'];
  const all = Object.values(views).join('\n');
  expect(words.filter((word) => all.includes(word))).toEqual(shown);
  // Each view that has something to show shows it.
  expect(views.testing.includes('the_name')).toBe(shown.includes('the_name'));
  expect(views.run.includes('the_trace')).toBe(tier === 'full');
  expect(views.problems.includes('src/a.py:4')).toBe(shown.includes('the_message'));
  expect(views.log.includes('the_note')).toBe(tier === 'full');
  expect(views.notifications).toContain('alpha: Unresolved. 1 of 3 passed');
  expect(views.notifications.includes('until the attempt is over')).toBe(tier !== 'full');
});

test('counts say how many failed, and lead to no tests; names say why there is no message', async () => {
  const counts = await measuredWindow('counts');
  await counts.run('e2eSwe.gradeAttempt');
  expect(fake.messages.at(-1)).toBe(
    'warning: alpha: Unresolved. 1 of 3 passed, 1 failed, 1 test not reported (Attempt). Only counts are shown until the attempt is over.',
  );
  expect(fake.runs.at(-1)?.log.join('\n')).not.toContain('verifier log');
  const names = await measuredWindow('names');
  await names.run('e2eSwe.gradeAttempt');
  expect(fake.runs.at(-1)?.log).toContain(
    'failed the_name: Only the names of tests are shown until the attempt is over.',
  );
});

test('without interim grading a grade is neither offered nor begun', async () => {
  const { run, room, workspace } = await measuredWindow('full', { interimGrading: false });
  await expect(run('e2eSwe.gradeAttempt')).rejects.toThrow(
    'The attempt one is not graded before it is submitted: its protocol says so.',
  );
  expect([fake.savedAll, fake.runs.length, room.calls.join()]).toEqual([0, 0, 'open one']);
  const session = workspace.sessions.current('one');
  if (!session) throw new Error('The workspace is not open.');
  expect(
    menuItems(session)
      .map(({ label }) => label)
      .join(),
  ).not.toContain('Grade workspace');
});

test('a grade of an attempt is opened as its tier shows it, and whole once it is over', async () => {
  const { run, room, store: grades, items, workspace } = await measuredWindow('names');
  await expect(run('e2eSwe.openAttemptGrade')).rejects.toThrow('The attempt has no grades yet.');
  const { dir } = full;
  const graded = { grades: [{ dir, verdict: 'unresolved', at: full.finishedAt, official: false }] as const };
  const protocol = { ...exampleProtocol, tier: 'names' as const };
  room.add(makeAttempt('one', { protocol, ...graded }));
  grades.add(reduceGrade(full, 'names'));
  fake.picks = ['Grade 1'];
  await run('e2eSwe.openAttemptGrade');
  expect(renderItems(items)).toContain('the_name');
  expect(fake.runs.at(-1)?.log.join('\n')).not.toContain('the_message');
  expect(fake.executed.at(-1)).toEqual(['workbench.view.testing.focus']);
  const session = workspace.sessions.current('one');
  if (!session) throw new Error('The workspace is not open.');
  session.record = await room.read('one');
  expect(
    menuItems(session)
      .map(({ label }) => label)
      .join(),
  ).toContain('Show a grade…');

  room.add(makeAttempt('one', { protocol, state: 'gave-up', ...graded }));
  grades.add(full);
  fake.picks = ['Grade 1'];
  await run('e2eSwe.openAttemptGrade');
  expect(fake.runs.at(-1)?.log.join('\n')).toContain('the_message');
  room.add(makeAttempt('two', { protocol }));
  fake.picks = ['Grade 1'];
  await expect(run('e2eSwe.openAttemptGrade')).rejects.toThrow('Cancelled.');
  expect(fake.messages.at(-1)).toContain('while an attempt at it is measured?');
});

type World = Awaited<ReturnType<typeof besideMeasured>>;

test.each<[string, (world: World) => CommandHandler, string, readonly string[]]>([
  ['a stored grade', openGrade, 'stored-grade', ['alpha', 'Reference solution']],
  ['its log', openGradeLog, 'verifier-log', ['alpha', 'Reference solution']],
  ['its folder', openGradeFolder, 'grade-folder', ['alpha', 'Reference solution']],
  ['a grade of the solution', gradeSolution, 'grade', ['alpha']],
  ['a grade of nothing', gradeEmpty, 'grade', ['alpha']],
  ['a grade of a choice', grade, 'grade', ['alpha', 'Empty workspace']],
])('%s is shown beside a measured attempt only to who wants it recorded', async (_, command, what, picks) => {
  const world = await besideMeasured();
  const [runs, opened] = [fake.runs.length, fake.opened.length];
  fake.picks = [...picks];
  await expect(command(world)()).rejects.toThrow('Cancelled.');
  expect(fake.messages.at(-1)).toContain('Show hidden tests of alpha while an attempt at it is measured?');
  expect([fake.runs.length, fake.opened.length, world.room.calls]).toEqual([runs, opened, []]);
  fake.picks = [...picks];
  fake.answer = (_text, actions) => actions[0];
  await command(world)();
  const of = what === 'grade' ? expect.stringMatching(/: grade of (solution|empty)$/) : expect.anything();
  expect(world.room.calls).toEqual([of, of]);
  expect(world.room.calls.map((call) => call.split(' of ')[0])).toEqual([
    `revealed one: ${what}`,
    `revealed practice: ${what}`,
  ]);
});

test('beside practice nobody is asked, and it is recorded all the same', async () => {
  const world = await besideMeasured();
  world.room.records.delete('one');
  fake.picks = ['alpha', 'Reference solution'];
  await openGrade(world)();
  expect(fake.messages).toEqual([]);
  expect(world.room.calls).toEqual([`revealed practice: stored-grade of ${world.solved.dir}`]);
});

test('rows and restored editors, which show themselves, are closed until one was asked for', async () => {
  const problem = { severity: 'warning', code: 'x', message: 'odd', file: 'tests/test.sh', line: 2 } as const;
  const other = { ...problem, message: 'other', file: 'task.toml' };
  const world = await besideMeasured({ ...makeEntry('/c/alpha'), problems: [problem, other] });
  const { tree, solved } = world;
  const closed = await renderTree(tree);
  expect(closed).toContain('Not shown while the measured attempt one at alpha is open.');
  expect(closed).not.toContain('the_name');
  const rows = async () => {
    const [corpus] = await tree.getChildren();
    const [row] = await tree.getChildren(corpus);
    const folded = (await tree.getChildren(row)).find(({ kind }) => kind === 'warnings');
    return (await tree.getChildren(folded)).map((node) => tree.getTreeItem(node).command?.command);
  };
  expect(await rows()).toEqual([undefined, 'vscode.open']);
  const read = readGradeDocument(() => store, world.gate);
  const log = async (): Promise<string> => String(await read(gradeLogUri('alpha', solved.dir)));
  expect(await log()).toBe('Not shown while the measured attempt one at alpha is open.\n');

  fake.answer = (_text, actions) => actions[0];
  fake.picks = ['alpha', 'Reference solution'];
  await openGradeLog(world)();
  expect(await log()).toBe('the_log\n');
  expect(await renderTree(tree)).toContain('the_name');
  world.room.add(makeAttempt('one', { state: 'submitted' }));
  world.room.add(makeAttempt('two', { protocol: exampleProtocol }));
  expect(await log()).toContain('measured attempt two');
  world.room.add(makeAttempt('two', { protocol: exampleProtocol, state: 'gave-up' }));
  expect([await log(), await rows()]).toEqual(['the_log\n', ['vscode.open', 'vscode.open']]);
});

test('what an attempt has sealed is no document', async () => {
  const world = await besideMeasured();
  const dir = path.join(store, 'attempts/alpha/one/sealed/1');
  await mkdir(path.join(dir, 'verifier'), { recursive: true });
  await writeFile(path.join(dir, 'verifier/test-stdout.txt'), 'the_log');
  world.room.records.clear();
  expect(await readGradeDocument(() => store, world.gate)(gradeLogUri('alpha', dir))).toBeUndefined();
});

test.each([
  ['of practice', 'e2eSwe.gradeAttempt', undefined],
  ['that is over with it', 'e2eSwe.submitAttempt', { ...exampleProtocol, tier: 'counts' as const }],
] as const)('a grade of an attempt %s asks where another one is measured', async (_, id, protocol) => {
  const { run, room } = await measuredWindow('full');
  room.add(makeAttempt('one', protocol ? { protocol } : {}));
  room.add(makeAttempt('two', { protocol: exampleProtocol }));
  fake.answer = (text, actions) => (text.startsWith('Submit') ? actions[0] : undefined);
  await expect(run(id)).rejects.toThrow('Cancelled.');
  expect(fake.messages.at(-1)).toContain('while an attempt at it is measured?');
  expect(room.calls.join()).not.toMatch(/grade|submit/);
  fake.answer = (_text, actions) => actions[0];
  await run(id);
  expect(room.calls.join()).toMatch(/grade one|submit one/);
});
