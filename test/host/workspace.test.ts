import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { GradeEvent, GradeResult } from '#core/grading/types.ts';
import { attemptGrader, attemptSource } from '#vscode/attempts/attemptGrader.ts';
import { inlineResults } from '#vscode/attempts/inlineResults.ts';
import { searchFiles } from '#vscode/search/searchFiles.ts';
import { placeOf } from '#vscode/search/searchWorkspace.ts';
import { ContainerPty } from '#vscode/terminal/containerPty.ts';
import type { TestApi } from '#vscode/testApi.ts';
import { attemptUri } from '#vscode/workspace/attemptUri.ts';
import { liveBytes } from '../fixtures/liveBytes.ts';
import { activateExtension, bundledTask, lastNotification, until } from './support/window.ts';

/** The image may have to be built first. */
const startMs = 300_000;

/** `vscode.workspace.fs` with text, below the workspace of one attempt. */
function filesOf(id: string) {
  const { fs } = vscode.workspace;
  const at = (path: string) => attemptUri(id, Buffer.from(path).toString('latin1'));
  return {
    at,
    write: (path: string, text: string) => fs.writeFile(at(path), Buffer.from(text)),
    read: async (path: string) => Buffer.from(await fs.readFile(at(path))).toString(),
    list: async (path = '') =>
      (await fs.readDirectory(at(path))).map(([name, type]) => `${type} ${name}`).sort(),
  };
}

async function refusal(work: Thenable<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert(error instanceof vscode.FileSystemError, String(error));
    return error.code;
  }
  return 'nothing was refused';
}

suite('The workspace of an attempt', () => {
  const { fs } = vscode.workspace;
  let api: TestApi;
  let id = '';
  let files: ReturnType<typeof filesOf>;

  suiteSetup(async function () {
    this.timeout(startMs);
    api = await activateExtension();
    await vscode.commands.executeCommand('e2eSwe.tasks.focus');
    await api.index.ready();
    const task = bundledTask(api).entry.task;
    assert(task);
    const { room } = api.workspace.attempts;
    for await (const event of room.start(task, {}, new AbortController().signal)) {
      if (event.kind === 'ready') id = event.attempt.id;
    }
    files = filesOf(id);
  });

  suiteTeardown(async () => {
    if (id === '') return;
    await api.workspace.sessions.close(id);
    await api.workspace.attempts.room.delete(id);
  });

  test('opens at the first look, and begins with the spec', async () => {
    assert.deepEqual(await files.list(), ['1 instruction.md']);
    assert.match(await files.read('instruction.md'), /^# tidequery/m);
    const session = api.workspace.sessions.current(id);
    assert.equal(session?.record.state, 'running');
    assert.equal(session?.open.isolation.isIsolated, true);
  });

  test('files and folders: write, read, rename, copy, delete', async () => {
    await fs.createDirectory(files.at('src'));
    await files.write('src/a b.txt', 'grüße\n');
    assert.equal(await files.read('src/a b.txt'), 'grüße\n');
    const stat = await fs.stat(files.at('src/a b.txt'));
    assert.deepEqual([stat.type, stat.size, stat.permissions], [vscode.FileType.File, 8, undefined]);
    await fs.rename(files.at('src/a b.txt'), files.at('src/c.txt'));
    await fs.copy(files.at('src/c.txt'), files.at('src/d.txt'));
    assert.deepEqual(await files.list('src'), ['1 c.txt', '1 d.txt']);
    assert.equal(await refusal(fs.rename(files.at('src/c.txt'), files.at('src/d.txt'))), 'FileExists');
    await fs.delete(files.at('src/c.txt'));
    assert.equal(await refusal(fs.stat(files.at('src/c.txt'))), 'FileNotFound');
    assert.equal(await refusal(fs.delete(files.at(''), { recursive: true })), 'NoPermissions');
    await fs.delete(files.at('src'), { recursive: true });
    assert.deepEqual(await files.list(), ['1 instruction.md']);
  });

  test('an editor saves', async () => {
    await files.write('note.md', 'one\n');
    const document = await vscode.workspace.openTextDocument(files.at('note.md'));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(1, 0), 'two\n');
    assert(await vscode.workspace.applyEdit(edit));
    assert(await document.save());
    assert.equal(await files.read('note.md'), 'one\ntwo\n');
  });

  test('what a program in the container does is noticed', async () => {
    const seen: string[] = [];
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(attemptUri(id), '**'),
    );
    watcher.onDidCreate((uri) => seen.push(`created ${uri.path}`));
    watcher.onDidDelete((uri) => seen.push(`deleted ${uri.path}`));
    try {
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      const { container } = (await api.workspace.sessions.get(id)).open;
      await container.exec({ command: ['sh', '-c', 'echo x >/app/from-inside'] });
      await until('the new file is seen', () => seen.includes(`created /${id}/from-inside`));
      await container.exec({ command: ['rm', '/app/from-inside'] });
      await until('it is seen to be gone', () => seen.includes(`deleted /${id}/from-inside`));
    } finally {
      watcher.dispose();
    }
  });

  test('a terminal echoes, knows its size, and ends with its exit code', async () => {
    const { pty, state } = await openPty(api, id);
    pty.handleInput('stty size; echo é-$((6*7))\n');
    await until('the echo', () => /33 101[\s\S]*é-42/.test(state.output));
    pty.handleInput('exit 3\n');
    await until('the end', () => state.code !== undefined);
    assert.equal(state.code, 3);
  });

  test('a terminal that is flooded for 20 s: another one echoes, and Ctrl-C works', async function () {
    this.timeout(60_000);
    const [flooded, other] = await Promise.all([openPty(api, id), openPty(api, id)]);
    other.pty.handleInput('echo re$((1))ady\n');
    await until('the other one is ready', () => other.state.output.includes('re1ady'));
    flooded.pty.handleInput('yes a-long-line-of-a-flood\n');
    const echoes: number[] = [];
    for (const end = Date.now() + 20_000; Date.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const since = Date.now();
      const answer = `ec${echoes.length}ho`;
      other.pty.handleInput(`echo ec$((${echoes.length}))ho\n`);
      while (!other.state.output.includes(answer)) await new Promise((resolve) => setTimeout(resolve, 5));
      echoes.push(Date.now() - since);
    }
    assert.match(flooded.state.output, /of output not shown\]/);
    // Others share the machine: one look of many may be late.
    const echoMs = echoes.toSorted((a, b) => a - b)[Math.floor(echoes.length / 2)] ?? Number.NaN;
    const from = Date.now();
    flooded.pty.handleInput('\u0003');
    while (!/\^C[\s\S]*[#$] $/.test(flooded.state.output))
      await new Promise((resolve) => setTimeout(resolve, 5));
    const stopMs = Date.now() - from;
    flooded.pty.close();
    other.pty.close();
    assert(echoMs < 250 && stopMs < 1_000, `echo ${echoMs} ms, Ctrl-C ${stopMs} ms`);
  });

  test('a search finds what is in the files, not what is ignored', async () => {
    await files.write('.gitignore', 'skipped/\n');
    await fs.createDirectory(files.at('skipped'));
    await files.write('skipped/a.txt', 'needle\n');
    await files.write('a: 1.txt', 'x\n  a Needle here\n');
    const session = await api.workspace.sessions.get(id);
    const search = async (text: string, isRegExp: boolean, useIgnoreFiles: boolean) => {
      const query = { text, isRegExp, useIgnoreFiles, isCaseSensitive: false, include: [], exclude: [] };
      const found = await searchFiles(placeOf(session), query, new AbortController().signal, () => undefined);
      return found.files.map(({ file, matches }) => `${file.text}:${matches.map(({ line }) => line)}`);
    };
    assert.deepEqual(await search('needle', false, true), ['a: 1.txt:2']);
    assert.deepEqual(await search('ne+dle', true, false), ['a: 1.txt:2', 'skipped/a.txt:1']);
    await assert.rejects(search('ne(', true, true), /The search failed/);
    const { container } = session.open;
    const odd = `head -c 11000000 /dev/zero >big.bin; echo needle >"$(printf 'a\\nb')"; echo needle >"$(printf '\\377')"; mkdir .vscode; echo needle >.vscode/x`;
    await container.exec({ command: ['sh', '-c', `cd /app; ${odd}`] });
    const query = { text: 'needle', isRegExp: false, useIgnoreFiles: true, isCaseSensitive: false };
    const { skipped, files: found } = await searchFiles(
      placeOf(session),
      { ...query, include: [], exclude: [] },
      new AbortController().signal,
      () => undefined,
    );
    assert.deepEqual(
      skipped.map(({ reason, files: group }) => [reason, group.map(({ text }) => text)]),
      [
        ['larger than 10 MB', ['big.bin']],
        ['name with a line break or not UTF-8', ['a\nb', '\uefff']],
      ],
    );
    assert.equal(found.length, 1);
    assert.deepEqual(
      (await files.list()).filter((name) => name.includes('.vscode')),
      [],
    );
    await container.exec({ command: ['sh', '-c', `cd /app; rm -r big.bin .vscode a?b "$(printf '\\377')"`] });
  });

  test('100 MB are written and read, held no longer than needed; a file over 256 MB is named', async function () {
    this.timeout(startMs);
    const liveMb = (): number => liveBytes() / 1024 ** 2;
    const hash = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
    const before = liveMb();
    const sums = await (async () => {
      const content = randomBytes(100 << 20);
      await fs.writeFile(files.at('big.bin'), content);
      const back = await fs.readFile(files.at('big.bin'));
      return [hash(content), hash(back)];
    })();
    assert.equal(sums[0], sums[1]);
    await until('both are let go', () => liveMb() - before < 20);
    const { container } = (await api.workspace.sessions.get(id)).open;
    await container.exec({ command: ['truncate', '-s', '300M', '/app/big.bin'] });
    await assert.rejects(
      Promise.resolve(fs.readFile(files.at('big.bin'))),
      /big\.bin has 300 MB, and files over 256 MB are not opened in the editor: use a container terminal\./,
    );
    await fs.delete(files.at('big.bin'));
  });

  test('a second session reads only', async () => {
    const second = await api.workspace.attempts.room.open(id, new AbortController().signal);
    try {
      assert.equal(second.readOnly, true);
      assert.match((await second.files.read('/app/instruction.md')).toString(), /tidequery/);
    } finally {
      await second.close();
    }
    await files.write('after.txt', 'still writable\n');
  });

  /** Grades the workspace as its command does; `onEvent` hears of what goes on. */
  async function gradeWorkspace(onEvent: (event: GradeEvent) => Promise<void>): Promise<string> {
    const { attempts, sessions } = api.workspace;
    const task = bundledTask(api).entry.task;
    assert(task);
    const grader = attemptGrader({ room: attempts.room, sessions, attempts }, id, false);
    let verdict = '';
    for await (const event of grader(task, attemptSource(id), new AbortController().signal)) {
      await onEvent(event);
      if (event.kind === 'finished') verdict = event.result.verdict;
    }
    return verdict;
  }

  test('a grade freezes files and terminals throughout, and what was typed meanwhile is typed after it', async function () {
    this.timeout(startMs);
    const session = await api.workspace.sessions.get(id);
    const { pty, state } = await openPty(api, id);
    await until('the prompt', () => state.output.includes('/app#'));
    let looked = false;
    const verdict = await gradeWorkspace(async (event) => {
      if (event.kind !== 'phase' || event.phase !== 'verify') return;
      looked = true;
      assert.match(session.frozen ?? '', /frozen while it is graded/);
      assert.match(api.workspace.status.text, /frozen while graded|^$/);
      assert.equal((await session.open.container.details()).paused, true);
      assert.equal(await refusal(files.write('later.txt', 'x')), 'Unavailable');
      pty.handleInput('echo typed-$((40+2))\n');
    });
    assert.equal(looked, true);
    assert.equal(verdict, 'unresolved');
    assert.match(state.output, /frozen while it is graded.* What you type waits/);
    await until('what was typed meanwhile', () => state.output.includes('typed-42'));
    assert.equal(state.output.split('typed-42').length, 2);
    pty.close();
    assert.equal(session.frozen, undefined);
    assert.equal(session.record.state, 'running');
    assert.equal(session.record.grades.length, 1);
    await files.write('later.txt', 'x');
  });

  test('failed tests are shown at the lines of the workspace that they are about, and nowhere else', async () => {
    const { sessions, problems } = api.workspace;
    const task = bundledTask(api).entry.task;
    assert(task);
    await files.write('main.py', 'one\ntwo\nthree\n');
    const failed = (file: string, line: number, message = 'wrong') =>
      ({ id: `${file}:${line}`, name: file, suite: [], status: 'failed', file, line, message }) as const;
    const tests = [
      failed('/app/main.py', 2),
      failed('main.py', 3, '\u001b[31mred\u001b[0m'),
      failed('/etc/passwd', 1),
      failed('../etc/passwd', 1),
      failed('/tests/test.sh', 1),
      failed('gone.py', 1),
    ];
    const locate = inlineResults({ sessions, problems, log: api.channel }, id, task);
    const places = await locate({ tests } as unknown as GradeResult);
    assert.deepEqual([...places.keys()], ['/app/main.py:2', 'main.py:3']);
    const shown = () =>
      vscode.languages
        .getDiagnostics()
        .filter(([, found]) => found.some(({ source }) => source === 'E2E-SWE grade'))
        .flatMap(([uri, found]) =>
          found.map(({ range, message }) => `${uri}:${range.start.line + 1} ${message}`),
        );
    assert.deepEqual(shown(), [
      `${files.at('main.py')}:2 /app/main.py: wrong`,
      `${files.at('main.py')}:3 main.py: red`,
    ]);
    const document = await vscode.workspace.openTextDocument(files.at('main.py'));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), 'zero\n');
    assert(await vscode.workspace.applyEdit(edit));
    assert(await document.save());
    assert.equal(shown().length, 2);
    await vscode.commands.executeCommand('e2eSwe.clearProblems');
    assert.deepEqual(shown(), []);
  });

  test('keep working thaws it while the tests run', async function () {
    this.timeout(startMs);
    const session = await api.workspace.sessions.get(id);
    let isWritten = false;
    await gradeWorkspace(async (event) => {
      if (event.kind !== 'phase' || event.phase !== 'verify') return;
      await api.workspace.attempts.room.keepWorking(id);
      assert.equal(session.frozen, undefined);
      await files.write('meanwhile.txt', 'x');
      isWritten = true;
    });
    assert.equal(isWritten, true);
    await vscode.commands.executeCommand('e2eSwe.keepWorking');
    assert.match(lastNotification(api), /^error: No workspace is open in this window\./);
  });

  test('after a close the same files are there again', async () => {
    await api.workspace.sessions.close(id);
    assert.equal((await api.workspace.attempts.room.read(id)).state, 'ready');
    assert.equal(await files.read('later.txt'), 'x');
  });
});

async function openPty(api: TestApi, id: string) {
  const { openTerminal } = await import('#core/container/terminal.ts');
  const session = await api.workspace.sessions.get(id);
  const pty = new ContainerPty({
    open: (size, signal) => openTerminal(session.open.container, { cwd: '/app', ...size }, signal),
    frozenBecause: () => session.frozen,
    whenThawed: () => session.whenThawed(),
  });
  const state = { output: '', code: undefined as number | undefined };
  pty.onDidWrite((text) => {
    state.output = (state.output + text).slice(-4_000_000);
  });
  pty.onDidClose((ended) => {
    state.code = ended ?? -1;
  });
  pty.open({ columns: 101, rows: 33 });
  return { pty, state };
}
