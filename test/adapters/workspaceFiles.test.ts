import { beforeEach, expect, test, vi } from 'vitest';
import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { FsError, type FsFailure } from '#core/container/fsChannelErrors.ts';
import { attemptUri } from '#vscode/workspace/attemptUri.ts';
import { fileSystemError } from '#vscode/workspace/fileErrors.ts';
import { WorkspaceFiles } from '#vscode/workspace/workspaceFiles.ts';
import { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { FakeRoom, makeAttempt } from './support/attempts.ts';

const silent = (): void => undefined;
const log: Log = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };

let room: FakeRoom;
let sessions: WorkspaceSessions;
let files: WorkspaceFiles;
let changes: string[];

beforeEach(() => {
  fake.reset();
  room = new FakeRoom();
  room.add(makeAttempt('one'));
  sessions = new WorkspaceSessions({ open: (id) => room.open(id), log });
  files = new WorkspaceFiles(sessions, async (id) => (id === 'one' ? {} : undefined));
  changes = [];
  files.onDidChangeFile((events) =>
    changes.push(
      ...events.map(({ type, uri }) => `${['', 'changed', 'created', 'deleted'][type]} ${uri.path}`),
    ),
  );
});

const at = (path = ''): vscode.Uri => attemptUri('one', path);
const write = (path: string, text: string) =>
  files.writeFile(at(path), Buffer.from(text), { create: true, overwrite: true });

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof vscode.FileSystemError ? `${error.code}: ${error.message}` : String(error);
}

test('opens once, however many ask, and tells its own changes', async () => {
  await Promise.all([files.stat(at()), files.readDirectory(at()), write('a.txt', 'hello')]);
  expect(room.calls).toEqual(['open one']);
  expect(Buffer.from(await files.readFile(at('a.txt'))).toString()).toBe('hello');
  await write('a.txt', 'again');
  await files.rename(at('a.txt'), at('b.txt'), { overwrite: false });
  await files.createDirectory(at('src'));
  await files.copy(at('b.txt'), at('src/b.txt'), { overwrite: false });
  expect(await files.readDirectory(at())).toEqual([
    ['b.txt', vscode.FileType.File],
    ['src', vscode.FileType.Directory],
  ]);
  await files.delete(at('b.txt'), { recursive: false });
  expect(changes).toEqual([
    'created /one/a.txt',
    'changed /one/a.txt',
    'deleted /one/a.txt',
    'created /one/b.txt',
    'created /one/src',
    'created /one/src/b.txt',
    'deleted /one/b.txt',
  ]);
});

test.each<readonly [FsFailure, string]>([
  ['not-found', 'FileNotFound'],
  ['exists', 'FileExists'],
  ['not-a-directory', 'FileNotADirectory'],
  ['is-a-directory', 'FileIsADirectory'],
  ['no-permission', 'NoPermissions'],
  ['not-empty', 'NoPermissions'],
  ['no-space', 'Unavailable'],
  ['too-large', 'Unavailable'],
  ['unavailable', 'Unavailable'],
  ['other', 'Unavailable'],
])('a failure "%s" is VS Code\'s %s', (failure, code) => {
  const uri = Uri.file('/x') as unknown as vscode.Uri;
  const told = fileSystemError(new FsError(failure, '/app/x', 'said so'), uri);
  expect(told instanceof vscode.FileSystemError && told.code).toBe(code);
});

test('the folder of the workspace stays, and nothing goes from attempt to attempt', async () => {
  expect(await refusal(files.delete(at(), { recursive: true }))).toMatch(/^NoPermissions: The folder of the/);
  expect(await refusal(files.rename(at(), at('x'), { overwrite: true }))).toMatch(/^NoPermissions/);
  const other = files.rename(at('a'), attemptUri('two', 'a'), { overwrite: true });
  expect(await refusal(other)).toMatch(/^NoPermissions: Files are not moved/);
});

test('a second window reads only', async () => {
  await write('a.txt', 'x');
  await sessions.close('one');
  room.isSecondWindow = true;
  expect((await files.stat(at('a.txt'))).permissions).toBe(vscode.FilePermission.Readonly);
  expect(await refusal(write('a.txt', 'y'))).toMatch(
    /^NoPermissions: Another window works in this attempt\. Work there, or close it/,
  );
  expect(Buffer.from(await files.readFile(at('a.txt'))).toString()).toBe('x');
});

test.each([
  ['submitted', 'The attempt is submitted.'],
  ['gave-up', 'The attempt was given up.'],
] as const)('nothing is changed once it is %s', async (state, why) => {
  room.add(makeAttempt('one', { state }));
  expect((await files.stat(at())).permissions).toBe(vscode.FilePermission.Readonly);
  expect(await refusal(write('a.txt', 'y'))).toBe(`NoPermissions: ${why}`);
});

test('frozen: changes are refused, known status is told read-only, reads wait for the thaw', async () => {
  await write('a.txt', 'x');
  const session = await sessions.get('one');
  room.freezes.fire('comparison');
  expect(session.frozen).toBeUndefined();
  room.freezes.fire('grade');
  expect(await refusal(write('a.txt', 'y'))).toBe(
    'Unavailable: The workspace is frozen while it is graded. “Keep working” thaws it once its submission is taken.',
  );
  expect((await files.stat(at('a.txt'))).permissions).toBe(vscode.FilePermission.Readonly);
  const reading = files.readFile(at('a.txt'));
  room.freezes.fire(undefined);
  expect(Buffer.from(await reading).toString()).toBe('x');
  expect((await files.stat(at('a.txt'))).permissions).toBeUndefined();
});

test('what wants to look into a frozen workspace waits a moment, then fails with the reason', async () => {
  vi.useFakeTimers();
  try {
    const session = await sessions.get('one');
    room.freezes.fire('grade');
    const late = expect(session.requireThawed()).rejects.toThrow('frozen while it is graded');
    await vi.advanceTimersByTimeAsync(3_100);
    await late;
    const soon = session.requireThawed();
    room.freezes.fire(undefined);
    await soon;
  } finally {
    vi.useRealTimers();
  }
});

test('what a program in the container does is told while somebody watches, and not while it is frozen', async () => {
  const watching = files.watch(at());
  expect(room.files.watching).toBe(0);
  await sessions.get('one');
  expect(room.files.watching).toBe(1);
  room.files.changes.fire([
    { kind: 'created', path: '/app/new\xff' },
    { kind: 'deleted', path: '/elsewhere' },
  ]);
  expect(changes).toEqual(['created /one/new\uefff']);
  room.freezes.fire('setup');
  expect(room.files.watching).toBe(0);
  room.freezes.fire(undefined);
  expect(room.files.watching).toBe(1);
  watching.dispose();
  watching.dispose();
  expect(room.files.watching).toBe(0);
});

test('a container that died is opened anew at once; a failure to open is told once', async () => {
  await files.stat(at());
  room.files.failure = 'unavailable';
  room.isRunning = false;
  expect(await refusal(write('a.txt', 'x'))).toMatch(/^Unavailable: The container did not answer/);
  await expect.poll(() => room.calls, { timeout: 5_000 }).toEqual(['open one', 'close one', 'open one']);
  room.files.failure = undefined;
  room.isRunning = true;
  await write('a.txt', 'x');
  expect(room.calls).toHaveLength(3);

  await sessions.close('one');
  let told = 0;
  sessions.onDidFail(() => told++);
  room.openError = new Error('no engine');
  await Promise.all([refusal(files.readFile(at('a.txt'))), refusal(files.readDirectory(at()))]);
  expect(told).toBe(1);
});

test('a workspace that is gone is noticed by the watcher alone', async () => {
  const watching = files.watch(at());
  await files.stat(at());
  let told = 0;
  sessions.onDidFail(() => told++);
  room.files.watchFailures.fire();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(room.calls).toEqual(['open one']);
  room.isRunning = false;
  room.openError = new Error('lost');
  room.files.watchFailures.fire();
  await expect.poll(() => told, { timeout: 5_000 }).toBe(1);
  expect(room.calls).toEqual(['open one', 'close one', 'open one']);
  expect(sessions.current('one')).toBeUndefined();
  watching.dispose();
});

test('the folder of an attempt that cannot be opened is there, read-only; that of no attempt is not', async () => {
  room.openError = new UserError('The attempt one is lost.');
  expect(await files.stat(at())).toMatchObject({ type: vscode.FileType.Directory, permissions: 1 });
  expect(await refusal(files.readDirectory(at()))).toMatch(/^Unavailable: The attempt one is lost/);
  expect(await refusal(files.stat(at('a.txt')))).toMatch(/^Unavailable/);
  expect(await refusal(files.stat(attemptUri('other')))).toMatch(/^Unavailable/);
});

test('VS Code sees no .vscode at the top, whatever is in it, and makes none', async () => {
  const { content, folders } = room.files;
  folders.add('/app/.vscode');
  content.set('/app/.vscode/settings.json', Buffer.from('{}'));
  content.set('/app/.vscodeignore', Buffer.from('x'));
  content.set('/app/sub/.vscode/settings.json', Buffer.from('{}'));
  expect((await files.readDirectory(at())).map(([name]) => name)).toEqual(['.vscodeignore']);
  for (const path of ['.vscode', '.vscode/settings.json', '.vscode/tasks.json', '.vscode/a/b'])
    expect(await refusal(files.stat(at(path)))).toMatch(/^FileNotFound/);
  expect(await refusal(files.readFile(at('.vscode/settings.json')))).toMatch(/^FileNotFound/);
  expect(await refusal(files.readDirectory(at('.vscode')))).toMatch(/^FileNotFound/);
  expect(await refusal(files.delete(at('.vscode'), { recursive: true }))).toMatch(/^FileNotFound/);
  expect(await refusal(files.rename(at('.vscode'), at('b'), { overwrite: true }))).toMatch(/^FileNotFound/);
  const denied = /^NoPermissions: VS Code does not use the folder .vscode of a workspace/;
  expect(await refusal(write('.vscode/settings.json', '{}'))).toMatch(denied);
  expect(await refusal(files.createDirectory(at('.vscode')))).toMatch(denied);
  expect(await refusal(files.rename(at('.vscodeignore'), at('.vscode'), { overwrite: true }))).toMatch(
    denied,
  );
  expect(await refusal(files.copy(at('sub/.vscode'), at('.vscode'), { overwrite: true }))).toMatch(denied);
  expect((await files.readFile(at('sub/.vscode/settings.json'))).length).toBe(2);
  expect(content.has('/app/.vscode/settings.json')).toBe(true);
  const seen: string[] = [];
  files.onDidChangeFile((changes) => seen.push(...changes.map(({ uri }) => uri.path)));
  const watching = files.watch(at());
  room.files.changes.fire([
    { kind: 'created', path: '/app/.vscode/tasks.json' },
    { kind: 'created', path: '/app/b.txt' },
  ]);
  expect(seen).toEqual(['/one/b.txt']);
  watching.dispose();
});

test('a large file is read with progress, can be stopped, and one that is too large is named with its size', async () => {
  const content = Buffer.alloc(20 << 20, 7);
  room.files.content.set('/app/big.bin', content);
  expect(Buffer.compare(await files.readFile(at('big.bin')), content)).toBe(0);
  expect(fake.progress.at(-1)).toBe('Reading big.bin (20 MB): ');
  expect(fake.progress.length).toBeGreaterThan(10);
  // What is known to be large is not tried at once.
  await files.stat(at('big.bin'));
  room.files.onPiece = () => fake.progressSource?.cancel();
  expect(await refusal(files.readFile(at('big.bin')))).toBe(
    'Unavailable: The reading of big.bin was stopped.',
  );
  room.files.content.set('/app/huge.bin', { length: 300 << 20 } as Uint8Array);
  expect(await refusal(files.readFile(at('huge.bin')))).toBe(
    'Unavailable: huge.bin has 300 MB, and files over 256 MB are not opened in the editor: use a container terminal.',
  );
  await files.writeFile(at('big.bin'), content, { create: true, overwrite: true });
  expect(changes.at(-1)).toBe('changed /one/big.bin');
});
