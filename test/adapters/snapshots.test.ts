import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exampleProtocol } from '#core/attempt/readConditions.ts';
import { notStartedReason } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { SnapshotStore } from '#core/snapshot/store.ts';
import type { SnapshotHead, SnapshotReason } from '#core/snapshot/types.ts';
import { menuItems } from '#vscode/attempts/workspaceMenu.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { snapshotScheme } from '#vscode/snapshots/snapshotUri.ts';
import { attemptContext } from '#vscode/tree/renderNode.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';
import { entriesOf, type Planted, planted, scratch, takeTar } from '../core/snapshot/trees.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { makeAttempt } from './support/attempts.ts';
import { graderOf, makeEntry, makeResult, makeTask, makeTest } from './support/builders.ts';
import { makeWorld } from './support/world.ts';

/** “Snapshots…” over a real store on disk, to each action's visible result. */

let folder: Awaited<ReturnType<typeof scratch>>;
beforeEach(async () => {
  folder = await scratch();
});
afterEach(() => folder.dispose());

const file = (name: string, text: string | Buffer): Planted =>
  planted(name, 'file', { content: Buffer.from(text) });
const odd = file('app/odd\xff.bin', Buffer.from([0, 255, 254]));
const then = [
  planted('app', 'directory'),
  file('app/a.txt', 'one\n'),
  odd,
  file('app/gone', 'g'),
  file('app/.vscode/x', '1'),
];
const later = [
  planted('app', 'directory', { mode: 0o700 }),
  file('app/a.txt', 'two\n'),
  odd,
  file('app/.vscode/x', '2'),
  file('app/new', 'n'),
];

async function makeWindow(
  options: { readonly isOpen?: boolean; readonly record?: Partial<AttemptRecord> } = {},
) {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf());
  const { room } = world;
  if (options.isOpen ?? true) fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  room.add(makeAttempt('one', options.record));
  room.stored = new SnapshotStore(folder.dir);
  const take = (tree: readonly Planted[], reason: SnapshotReason): Promise<SnapshotHead> =>
    takeTar(room.stored, entriesOf(tree), reason);
  const head = await take(then, 'manual');
  room.takeNow = async () => ({ head: await take(later, 'activity'), isNew: true });
  room.takeExact = () => take(later, 'reset');
  const reader = { discover: async () => [], find: async () => [], readSpec: async () => '' };
  const workspace = registerWorkspace({ ...world, reader });
  if (options.isOpen ?? true) await workspace.sessions.get('one');
  /** With what is chosen after the snapshot. */
  const run = async (...picks: readonly string[]): Promise<void> => {
    const isSnapshot = (item: { label: string }): boolean => !item.label.startsWith('$(');
    fake.picks = [(items) => items.find(isSnapshot), ...picks];
    const command: CommandHandler = workspace.commands['e2eSwe.snapshots'];
    await command('one');
  };
  return { ...world, workspace, head, take, run };
}

const read = async (uri: unknown): Promise<Buffer> =>
  Buffer.from((await fake.fileSystems.get(snapshotScheme)?.readFile(uri as Uri)) ?? []);

test('the list is the newest first, with time, reason, size and grade; a new one is taken by hand', async () => {
  const { room, workspace, head, take } = await makeWindow();
  const graded = await take(later, 'grade');
  const grade = { dir: '/g', verdict: 'unresolved', at: '', official: false, snapshot: graded.id } as const;
  room.add({ ...(await room.read('one')), grades: [grade] });
  let seen: readonly object[] = [];
  fake.picks = [
    (items) => {
      seen = items;
      return items[0];
    },
  ];
  await workspace.commands['e2eSwe.snapshots']();
  const [takeIt, first, second] = seen;
  expect(takeIt).toMatchObject({ label: '$(device-camera) Take a snapshot now' });
  expect(first).toMatchObject({ head: { id: graded.id }, description: 'before a grade · Unresolved' });
  expect(second).toMatchObject({ head: { id: head.id }, description: 'by hand', detail: '5 entries, 9 B' });
  expect([fake.savedAll, room.calls.at(-1)]).toEqual([1, 'snapshot one']);
  expect(fake.messages.at(-1)).toMatch(/^info: The snapshot of .* is taken: 5 entries/);
});

test('without snapshots one is offered; where none can be taken, it says so', async () => {
  const { room, run } = await makeWindow();
  room.stored = new SnapshotStore(`${folder.dir}/empty`);
  await expect(run()).rejects.toThrow('Cancelled.');
  expect(fake.offered.at(-1)).toEqual(['$(device-camera) Take a snapshot now']);
  const over = await makeWindow({ record: { state: 'gave-up' } });
  over.room.stored = new SnapshotStore(`${folder.dir}/empty`);
  await expect(over.run()).rejects.toThrow('The attempt has no snapshots.');
});

test('a file is opened read-only, whatever its name and content', async () => {
  const { run } = await makeWindow();
  await run('Open read-only', 'odd');
  const [command, uri] = fake.executed.at(-1) ?? [];
  expect([command, (uri as Uri).scheme]).toEqual(['vscode.open', snapshotScheme]);
  expect(await read(uri)).toEqual(odd.content);
  await expect(read(new Uri(snapshotScheme, '/one/nowhere/app/a.txt'))).rejects.toThrow('FileNotFound');
});

test('what is damaged is told: in the list, and where its file is opened', async () => {
  const { run, room, head, take } = await makeWindow();
  const torn = await take(later, 'save');
  await writeFile(path.join(folder.dir, `${torn.id}.json`), '{');
  await run('Open read-only', '/app/a.txt');
  expect(fake.messages.at(-1)).toBe(
    'warning: Damaged, and not listed: 1 of the attempt’s snapshots. [Show log]',
  );
  expect(fake.channel.join('\n')).toContain(torn.id);
  const uri = fake.executed.at(-1)?.[1];
  expect(String(await read(uri))).toBe('one\n');
  const { sha256 = '' } = (await room.stored.entries(head)).find(({ name }) => name === 'app/a.txt') ?? {};
  await writeFile(room.stored.blobs.placeOf(sha256, false), 'else');
  await expect(read(uri)).rejects.toThrow('it holds other content');
});

test('a comparison with the workspace has its own files on the right', async () => {
  const { run, head } = await makeWindow();
  await run('Compare with the workspace');
  const [command, title, rows] = fake.executed.at(-1) ?? [];
  expect([command, title]).toEqual(['vscode.changes', expect.stringMatching(/^alpha: .* ↔ the workspace$/)]);
  const shown = (rows as (Uri | undefined)[][]).map((row) => row.map((uri) => uri && String(uri)));
  const old = (name: string): string => `${snapshotScheme}:/one/${head.id}/app/${name}`;
  // VS Code is shown no .vscode of a workspace: that file is the snapshot's.
  const hidden = expect.stringMatching(/^e2e-swe-snapshot:.*\/app\/\.vscode\/x$/);
  expect(shown).toEqual([
    [hidden, old('.vscode/x'), hidden],
    ['e2e-swe:/one/a.txt', old('a.txt'), 'e2e-swe:/one/a.txt'],
    [old('gone'), old('gone'), undefined],
    ['e2e-swe:/one/new', undefined, 'e2e-swe:/one/new'],
  ]);
  expect(String(await read((rows as Uri[][])[1]?.[1]))).toBe('one\n');
  expect(fake.messages.at(-1)).toBe(
    'info: One other difference, of folders, permissions or owners, cannot be shown.',
  );
});

test('of a workspace that is not open the newest snapshot is compared, which is said', async () => {
  const { run, take, workspace, head } = await makeWindow({ isOpen: false });
  await expect(run('Compare with the workspace')).rejects.toThrow('there is no newer snapshot');
  const newest = await take(later, 'save');
  fake.picks = [(items) => items.at(-1), 'Compare with the workspace'];
  await workspace.commands['e2eSwe.snapshots']('one');
  expect(fake.messages.join()).toContain('this compares with its newest snapshot');
  const rows = fake.executed.at(-1)?.[2] as Uri[][];
  expect(String(rows[1]?.[1])).toContain(`/one/${head.id}/`);
  expect(String(rows[1]?.[2])).toContain(`/one/${newest.id}/`);
});

test('two snapshots are compared, the older one on the left whichever was chosen first', async () => {
  const { run, take, head } = await makeWindow();
  const newer = await take(later, 'grade');
  await run('Compare with another', '');
  const rows = fake.executed.at(-1)?.[2] as Uri[][];
  expect(String(rows[1]?.[1])).toContain(head.id);
  expect(String(rows[1]?.[2])).toContain(newer.id);
});

test('it is graded as the attempt is, in the Testing view; where its protocol says no, that is not offered', async () => {
  const { run, room, head } = await makeWindow();
  const result = makeResult(makeTask('/c/alpha'), 'unresolved', [makeTest('a', 'failed')]);
  room.events = [
    { kind: 'phase', phase: 'submission', title: 'Restoring the snapshot' },
    { kind: 'finished', result },
  ];
  await run('Grade it');
  expect(room.calls.at(-1)).toBe(`grade one as of ${head.id}`);
  expect(fake.progress.join()).toContain('Restoring the snapshot');
  expect(fake.messages.at(-1)).toMatch(/^warning: alpha: Unresolved/);
  const measured = { protocol: { ...exampleProtocol, interimGrading: false } };
  const sealed = await makeWindow({ record: measured });
  await expect(sealed.run('Grade it')).rejects.toThrow('Cancelled.');
  expect(fake.offered.at(-1)?.join()).not.toContain('Grade');
});

test('a grade of practice asks where another attempt at the task is measured', async () => {
  const { run, room } = await makeWindow();
  room.add(makeAttempt('two', { protocol: exampleProtocol }));
  await expect(run('Grade it')).rejects.toThrow('Cancelled.');
  expect(fake.messages.at(-1)).toContain('while an attempt at it is measured?');
  expect(room.calls.join()).not.toContain('grade');
});

test('a fork tells its steps, and offers to open the new attempt', async () => {
  const { run, room, head } = await makeWindow();
  fake.answer = (_text, actions) => actions.find((title) => title === 'Open attempt');
  await run('Fork into');
  expect(room.calls.at(-1)).toBe(`fork one from ${head.id}`);
  expect(fake.progress.join()).toContain('Preparing a workspace for alpha: Putting the files');
  await expect.poll(() => String(fake.executed.at(-1)?.[1])).toBe('e2e-swe:/forked');
});

test('a reset asks, saves, and is undone by its button', async () => {
  const { run, room, head } = await makeWindow();
  await expect(run('Reset the workspace', 'Hard')).rejects.toThrow('Cancelled.');
  expect(fake.messages.at(-1)).toMatch(/^warning: Reset the workspace of alpha to .*\? \[Reset\]$/);
  expect([fake.savedAll, room.calls.join()]).toEqual([0, 'open one']);
  let undone = false;
  fake.answer = (_text, actions) => {
    if (actions[0] !== 'Undo') return actions[0];
    if (undone) return undefined;
    undone = true;
    return 'Undo';
  };
  await run('Reset the workspace', 'Soft');
  await expect.poll(() => fake.messages.filter((text) => text.endsWith('[Undo]')).length).toBe(2);
  const [first, second] = room.calls.filter((call) => call.startsWith('reset'));
  const before = (await room.stored.list()).heads.find(({ reason }) => reason === 'reset');
  expect([first, second]).toEqual([`reset one soft to ${head.id}`, `reset one hard to ${before?.id}`]);
  expect(fake.messages.join('\n')).toContain(`The snapshot ${before?.id} of `);
});

test('a workspace that is frozen, over or elsewhere is not reset, and why is said', async () => {
  const frozen = await makeWindow();
  frozen.room.freezes.fire('grade');
  await expect(frozen.run('Reset')).rejects.toThrow(
    'cannot be reset: The workspace is frozen while it is graded.',
  );
  const over = await makeWindow({ record: { state: 'submitted' } });
  await expect(over.run('Reset')).rejects.toThrow('cannot be reset: The attempt is submitted.');
  const paused = await makeWindow({ isOpen: false, record: { state: 'paused' } });
  await expect(paused.run('Reset')).rejects.toThrow('is paused');
  const elsewhere = await makeWindow({ isOpen: false });
  elsewhere.room.isSecondWindow = true;
  await expect(elsewhere.run('Reset')).rejects.toThrow('Another window works in this attempt.');
  expect(elsewhere.room.calls.join()).not.toContain('reset');
});

test('before the clock of a measured attempt is started it is nowhere', async () => {
  const waiting = {
    protocol: exampleProtocol,
    state: 'paused',
    history: [{ state: 'paused', at: '', reason: notStartedReason }],
  } as const;
  const { run, workspace } = await makeWindow({ record: waiting });
  await expect(run()).rejects.toThrow('has not been started');
  const session = workspace.sessions.current('one');
  if (!session) throw new Error('The workspace is not open.');
  const labels = menuItems(session).map(({ label }) => label);
  expect(labels.join()).not.toContain('Snapshots');
  expect(attemptContext(makeAttempt('one', waiting))).toBe('attempt;made;waiting');
  expect(attemptContext(makeAttempt('one'))).toBe('attempt;made');
});
