import { expect, test } from 'vitest';
import type { GradeEvent } from '#core/grading/types.ts';
import { isolationSentence } from '#vscode/attempts/words.ts';
import { menuItems } from '#vscode/attempts/workspaceMenu.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { TaskReader } from '#vscode/ports.ts';
import type { AttemptNode } from '#vscode/tree/nodes.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';
import { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import { statusText } from '#vscode/workspace/workspaceStatus.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { FakeRoom, isolated, makeAttempt } from './support/attempts.ts';
import { graderOf, makeEntry, makeResult, makeTask, makeTest } from './support/builders.ts';
import { renderTree } from './support/render.ts';
import { makeWorld } from './support/world.ts';

const reader: TaskReader = {
  discover: async () => [makeEntry('/c/alpha')],
  find: async () => [],
  readSpec: async () => '# alpha\n',
};

/** A window, with the workspace of the attempt `one` open in it where `isOpen`. */
async function makeWindow(isOpen: boolean) {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf());
  if (isOpen) fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  world.room.add(makeAttempt('one'));
  const workspace = registerWorkspace({ ...world, reader });
  if (isOpen) await workspace.sessions.get('one');
  const run = async (id: keyof typeof workspace.commands, argument?: unknown): Promise<void> => {
    const handler: CommandHandler = workspace.commands[id];
    await handler(argument);
  };
  return { ...world, workspace, run };
}

async function sessionOf(room: FakeRoom): Promise<WorkspaceSession> {
  return new WorkspaceSession(await room.open('one'));
}

test('the status bar says the task, the state, and what is wrong with the isolation', async () => {
  const room = new FakeRoom();
  room.add(makeAttempt('one'));
  const session = await sessionOf(room);
  expect(statusText(session).text).toBe('$(edit) alpha: running');
  room.freezes.fire('setup');
  expect(statusText(session)).toMatchObject({ text: '$(debug-pause) alpha: frozen', isWarning: false });
  room.freezes.fire('grade');
  expect(statusText(session).text).toBe('$(debug-pause) alpha: frozen while graded');
  expect(statusText(session).tooltip).toContain('“Keep working” thaws it');
  room.freezes.fire(undefined);
  session.record = { ...session.record, state: 'submitted' };
  expect(statusText(session).text).toBe('$(lock) alpha: submitted');
  const grades = [{ dir: '/g', verdict: 'resolved', at: '', official: true } as const];
  session.record = { ...session.record, grades };
  expect(statusText(session).text).toBe('$(lock) alpha: submitted, resolved');
  room.isSecondWindow = true;
  room.isolation = { ...isolated, isIsolated: false, hasNoNetwork: false, bridges: ['$BROWSER'] };
  const second = statusText(await sessionOf(room));
  expect(second).toMatchObject({ text: '$(lock) alpha: running, read-only', isWarning: true });
  expect(second.tooltip).toContain('it has a network, ways out: $BROWSER');
  expect(isolationSentence(isolated)).toBe(
    'The container is offline: a connection attempt from inside failed (Network is unreachable).',
  );
});

test('the menu offers nothing that would be refused', async () => {
  const labels = (record = makeAttempt('one'), readOnly?: string, frozen?: string): string =>
    menuItems({ record, readOnly, frozen, isFrozenForGrade: frozen !== undefined })
      .map(({ label }) => label)
      .join();
  expect(labels()).toContain('Grade workspace');
  expect(labels(makeAttempt('one', { state: 'submitted' }), 'The attempt is submitted.')).toContain(
    'Grade the submission again',
  );
  const grades = [{ dir: '/g', verdict: 'resolved', at: '', official: true }] as const;
  const done = labels(makeAttempt('one', { state: 'submitted', grades }), 'The attempt is submitted.');
  expect(done).not.toMatch(/Grade|Submit|Give up/);
  const frozen = labels(makeAttempt('one'), undefined, 'Frozen.');
  expect(frozen).toMatch(/Keep working.*Open spec.*Close workspace/);
  expect(frozen).not.toMatch(/Grade|Submit|terminal|Search/);
});

test('attempts stand below their task, and a click opens them in a new window', async () => {
  const { tree, run } = await makeWindow(false);
  expect(await renderTree(tree)).toContain('    [debug-pause] Attempt — ready · TIME');
  const [corpus] = await tree.getChildren();
  const [task] = await tree.getChildren(corpus);
  const node = (await tree.getChildren(task)).find((row): row is AttemptNode => row.kind === 'attempt');
  expect(tree.getTreeItem(node as AttemptNode).command?.command).toBe('e2eSwe.openAttempt');
  await run('e2eSwe.openAttempt', node);
  expect(String((fake.executed.at(-1) as unknown[])[1])).toBe('e2e-swe:/one');
  expect(fake.executed.at(-1)?.[2]).toEqual({ forceNewWindow: true });
});

test('a start tells its steps and opens the window', async () => {
  const { run, room } = await makeWindow(false);
  fake.picks = ['Practice'];
  await run('e2eSwe.startAttempt', '/c/alpha');
  expect(fake.progress.join('\n')).toContain('Preparing a workspace for alpha: Preparing the image');
  const started = [...room.records.keys()].find((id) => id.startsWith('new'));
  expect(String((fake.executed.at(-1) as unknown[])[1])).toBe(`e2e-swe:/${started}`);
  expect(fake.channel.join('\n')).toContain('lowered to this machine: cpus 8 -> 2');
});

test('a workspace opens with its window: one banner, the spec, the status', async () => {
  await makeWindow(true);
  await expect
    .poll(() => fake.executed.map(([id]) => id), { timeout: 5_000 })
    .toContain('workbench.action.lockEditorGroup');
  expect(fake.executed.map(([id]) => id)).toContain('markdown.showPreview');
  expect(fake.messages.filter((message) => message.includes('The container is offline'))).toHaveLength(1);
  expect(fake.statusBar.get('e2eSwe.workspace')).toMatchObject({
    text: '$(edit) alpha: running',
    isShown: true,
  });
  expect(fake.context.get('e2eSwe.inWorkspace')).toBe(true);
});

const result = makeResult(makeTask('/c/alpha'), 'unresolved', [makeTest('a', 'failed')]);
const events: readonly GradeEvent[] = [
  { kind: 'phase', phase: 'submission', title: 'Taking the submission' },
  { kind: 'phase', phase: 'container', title: 'Starting' },
  { kind: 'phase', phase: 'submission', title: 'Reading it again' },
  { kind: 'finished', result },
];

test('a grade saves, warns of what will not travel, and is frozen throughout', async () => {
  const { run, room, workspace } = await makeWindow(true);
  room.paths = ['/usr/local/bin/tool'];
  const seen: string[] = [];
  workspace.sessions.onDidChange((session) => seen.push(session.frozen ?? 'runs'));
  room.events = events;
  await run('e2eSwe.gradeAttempt');
  expect(fake.savedAll).toBe(1);
  expect(room.calls).toContain('grade one');
  expect(seen.filter((state, at) => state !== seen[at - 1])).toEqual([
    'The workspace is frozen while it is graded. “Keep working” thaws it once its submission is taken.',
    'runs',
  ]);
  expect(fake.messages.join('\n')).toContain('will not travel: /usr/local/bin/tool.');
  expect(fake.messages.at(-1)).toMatch(/^warning: alpha: Unresolved/);
});

test('keep working is offered by a notification, the menu and the palette; it thaws while the tests run', async () => {
  const { run, room, workspace } = await makeWindow(true);
  room.events = events;
  const seen: unknown[] = [];
  room.onGradeEvent = async (event) => {
    if (event.kind !== 'phase' || event.phase !== 'container') return;
    const session = workspace.sessions.current('one');
    seen.push(session?.frozen !== undefined, fake.context.get('e2eSwe.frozenForGrade'));
    await run('e2eSwe.keepWorking');
    seen.push(session?.frozen, fake.context.get('e2eSwe.frozenForGrade'));
  };
  await run('e2eSwe.gradeAttempt');
  expect(seen).toEqual([true, true, undefined, false]);
  expect(room.calls).toContain('keep working one');
  expect(fake.messages).toContain('info: The workspace is frozen while it is graded. [Keep working]');
  expect(fake.messages.join()).not.toContain('as soon as its submission is taken');
});

test('keep working before the submission is taken says that it is remembered', async () => {
  const { run, room } = await makeWindow(true);
  room.isSubmissionTaken = false;
  room.events = events;
  room.onGradeEvent = async (event) => {
    if (event.kind === 'phase' && event.phase === 'container') await run('e2eSwe.keepWorking');
  };
  await run('e2eSwe.gradeAttempt');
  expect(fake.messages).toContain('info: The workspace is thawed as soon as its submission is taken.');
});

test('a workspace that is not open offers what can be done', async () => {
  const { run, room, workspace } = await makeWindow(true);
  await workspace.sessions.close('one');
  fake.picks = ['Delete attempt'];
  await run('e2eSwe.workspaceMenu');
  expect(fake.offered.at(-1)?.map((label) => label.replace(/^\$\(.*\) /, ''))).toEqual([
    'Try again',
    'Delete attempt…',
    'Show log',
    'Close workspace',
  ]);
  expect(fake.executed.at(-1)).toEqual(['e2eSwe.deleteAttempt', 'one']);
  fake.picks = ['Try again'];
  await run('e2eSwe.workspaceMenu');
  expect(room.calls.at(-1)).toBe('open one');
  expect(workspace.sessions.current('one')?.record.state).toBe('running');
});

test('beside another window nothing is offered that works in the attempt', async () => {
  const room = new FakeRoom();
  room.add(makeAttempt('one'));
  room.isSecondWindow = true;
  const labels = menuItems(await sessionOf(room)).map(({ label }) => label);
  expect(labels.join()).not.toMatch(/terminal|Grade|Submit|Give up/);
  room.isSecondWindow = false;
  room.add(makeAttempt('one', { state: 'gave-up' }));
  expect(menuItems(await sessionOf(room)).map(({ label }) => label)).toContain(
    '$(terminal) New container terminal',
  );
});

test('submitting asks first; afterwards the workspace is read only', async () => {
  const { run, room, workspace } = await makeWindow(true);
  room.events = events;
  await expect(run('e2eSwe.submitAttempt')).rejects.toThrow('Cancelled.');
  expect(room.calls).not.toContain('submit one');
  fake.answer = () => 'Submit';
  await run('e2eSwe.submitAttempt');
  expect(room.calls.slice(-3)).toEqual(['submit one', 'close one', 'open one']);
  expect(workspace.sessions.current('one')?.readOnly).toBe('The attempt is submitted.');
  await expect(run('e2eSwe.gradeAttempt')).rejects.toThrow('cannot be graded: The attempt is submitted.');
});

test('giving up and deleting ask first', async () => {
  const { run, room } = await makeWindow(true);
  await expect(run('e2eSwe.giveUpAttempt')).rejects.toThrow('Cancelled.');
  fake.answer = (_text, actions) => actions[0];
  await run('e2eSwe.giveUpAttempt');
  expect((await room.read('one')).state).toBe('gave-up');
  fake.picks = ['alpha'];
  await run('e2eSwe.deleteAttempt');
  expect(room.calls.at(-1)).toBe('delete one');
  await expect(run('e2eSwe.deleteAttempt')).rejects.toThrow('There are no attempts yet.');
});

test('left-over workspaces are removed by one click', async () => {
  const { run, room } = await makeWindow(false);
  fake.answer = (_text, actions) => actions[0];
  await run('e2eSwe.cleanUpWorkspaces');
  await expect.poll(() => fake.messages.at(-1), { timeout: 5_000 }).toBe('info: It was removed.');
  expect(room.orphaned).toEqual([]);
  await run('e2eSwe.cleanUpWorkspaces');
  expect(fake.messages.at(-1)).toContain('No workspace is left over');
});

test('without a workspace its commands say what to do', async () => {
  const { run } = await makeWindow(false);
  for (const id of ['e2eSwe.openTerminal', 'e2eSwe.trySetup', 'e2eSwe.goToFile'] as const) {
    await expect(run(id)).rejects.toThrow('No workspace is open in this window.');
  }
});
