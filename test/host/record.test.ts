import assert from 'node:assert/strict';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { encodeText } from '#core/attempt/encodeText.ts';
import { readRecordLog } from '#core/attempt/readRecordLog.ts';
import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { TextReplay } from '#core/attempt/replayText.ts';
import type { TestApi } from '#vscode/testApi.ts';
import { attemptUri } from '#vscode/workspace/attemptUri.ts';
import { activateExtension, bundledTask, until } from './support/window.ts';

/** The image may have to be built first. */
const startMs = 300_000;

suite('The record of an attempt', () => {
  let api: TestApi;
  let id = '';
  let taskDir = '';

  suiteSetup(async function () {
    this.timeout(startMs);
    api = await activateExtension();
    await vscode.commands.executeCommand('e2eSwe.tasks.focus');
    await api.index.ready();
    const task = bundledTask(api).entry.task;
    assert(task);
    taskDir = path.basename(task.dir);
    const { room } = api.workspace.attempts;
    for await (const event of room.start(task, {}, new AbortController().signal))
      if (event.kind === 'ready') id = event.attempt.id;
  });

  suiteTeardown(async () => {
    if (id === '') return;
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await api.workspace.sessions.close(id);
    await api.workspace.attempts.room.delete(id);
  });

  async function lines(): Promise<RecordLine[]> {
    await api.workspace.sessions.current(id)?.open.recorder?.flush();
    const all: RecordLine[] = [];
    for await (const read of readRecordLog(
      path.join(api.storeDir(), 'attempts', taskDir, id, 'record.jsonl'),
    )) {
      assert('line' in read, JSON.stringify(read));
      all.push(read.line);
    }
    return all;
  }

  async function replay(): Promise<TextReplay> {
    const replayed = new TextReplay();
    for (const line of await lines()) replayed.apply(line);
    return replayed;
  }

  test('rebuilds what a real editor typed, undid, formatted, converted and saved, byte for byte', async () => {
    const session = await api.workspace.sessions.get(id);
    const inside = (name: string) => Buffer.from(`/app/${name}`, 'utf8').toString('latin1');
    await session.open.files.write(inside('ü.txt'), Buffer.from('one\ntwo\nthree\n'));
    const uri = attemptUri(id, Buffer.from('ü.txt', 'utf8').toString('latin1'));
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document);
    const name = '/app/ü.txt';
    const check = () =>
      until('the record to lead to the text', async () => {
        const text = (await replay()).get(name);
        return text?.text === document.getText() && text.doubt === undefined;
      });
    const checkFile = async (): Promise<void> => {
      await document.save();
      const bytes = await session.open.files.read(inside('ü.txt'));
      const replayed = (await replay()).get(name);
      assert.deepEqual(replayed?.saved, bytes);
      assert.deepEqual(encodeText(replayed?.text ?? '', replayed?.encoding ?? ''), bytes);
    };

    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), '😀 '));
    await check();
    // Several cursors in one step.
    editor.selections = [0, 1, 2].map((line) => new vscode.Selection(line, 0, line, 1));
    await vscode.commands.executeCommand('type', { text: '“x”' });
    await check();
    await vscode.commands.executeCommand('undo');
    await check();
    await vscode.commands.executeCommand('editor.action.sortLinesDescending');
    await vscode.commands.executeCommand('editor.action.selectAll');
    await vscode.commands.executeCommand('editor.action.copyLinesDownAction');
    await check();
    await checkFile();
    await editor.edit((edit) => edit.setEndOfLine(vscode.EndOfLine.CRLF));
    await check();
    await checkFile();
    // A program in the container writes it: the editor reads it anew.
    await session.open.container.exec({ command: ['sh', '-c', "printf 'by a program\\r\\n' > /app/ü.txt"] });
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await until('the reload', () => document.getText() === 'by a program\r\n');
    await check();
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'not '));
    await checkFile();
    const edits = (await lines()).flatMap((line) => (line.kind === 'edit' ? [line.actor] : []));
    assert.equal(edits.at(-1), 'human');
    assert(edits.includes('external'));
  });

  test('pauses and resumes the clock, with the workspace', async () => {
    const session = await api.workspace.sessions.get(id);
    const { room } = api.workspace.attempts;
    await room.pause(id, 'a call');
    assert.match(session.frozen ?? '', /The attempt is paused/);
    const before = session.open.recorder?.clock.unpausedMs;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(session.open.recorder?.clock.unpausedMs, before);
    await room.resume(id);
    assert.equal(session.frozen, undefined);
    assert.equal((await session.open.container.details()).paused, false);
  });

  test('a real edit costs its handler less than 0.2 ms, also in a large file', async () => {
    const session = await api.workspace.sessions.get(id);
    await session.open.files.write('/app/large.txt', Buffer.from('a line of code\n'.repeat(60_000)));
    const document = await vscode.workspace.openTextDocument(attemptUri(id, 'large.txt'));
    const editor = await vscode.window.showTextDocument(document);
    const { documents } = api.workspace.recording;
    const times: number[] = [];
    const { changed } = documents;
    documents.changed = (event) => {
      const since = performance.now();
      changed.call(documents, event);
      if (event.document === document && event.contentChanges.length > 0)
        times.push(performance.now() - since);
    };
    try {
      for (let i = 0; i < 200; i++)
        await editor.edit((edit) => edit.insert(new vscode.Position(i * 3, 0), 'typed'));
    } finally {
      documents.changed = changed;
    }
    times.sort((a, b) => a - b);
    const at = (part: number): number => times[Math.floor(times.length * part)] ?? Number.NaN;
    const told = [0.5, 0.95, 0.99].map((part) => `${part * 100} %: ${at(part).toFixed(4)} ms`).join(', ');
    api.channel.info(`Handler of an edit: ${told}`);
    assert.equal(times.length, 200);
    assert(at(0.5) < 0.1 && at(0.95) < 0.2, told);
    await document.save();
    assert.equal((await replay()).get('/app/large.txt')?.text, document.getText());
  });
});
