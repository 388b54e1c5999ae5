import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newClock } from '#core/attempt/clock.ts';
import { encodeText } from '#core/attempt/encodeText.ts';
import { readRecordLines } from '#core/attempt/readRecordLog.ts';
import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { Recorder, recordFileOf } from '#core/attempt/recorder.ts';
import { TextReplay } from '#core/attempt/replayText.ts';
import { nullLog } from '#core/base/log.ts';
import { clockText } from '#vscode/record/clockStatus.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { makeAttempt } from './support/attempts.ts';
import { graderOf, makeEntry } from './support/builders.ts';
import { makeWorld } from './support/world.ts';

let dir: string;
let recorder: Recorder;

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-record-'));
  recorder = await Recorder.open(dir, { log: nullLog, reserveBytes: 16 });
});
afterEach(async () => {
  await recorder.close();
  await rm(dir, { recursive: true, force: true });
});

/** A window with the attempt `one` open and recorded. */
async function makeWindow() {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf());
  fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  fake.extensions.add('acme.tool');
  world.room.add(makeAttempt('one', { budgetSec: 3600 }));
  world.room.recorder = recorder;
  const reader = { discover: async () => [], find: async () => [], readSpec: async () => '' };
  const workspace = registerWorkspace({ ...world, reader });
  await workspace.sessions.get('one');
  return { ...world, workspace };
}

async function lines(): Promise<RecordLine[]> {
  await recorder.flush();
  const all: RecordLine[] = [];
  for await (const line of readRecordLines(recordFileOf(dir))) all.push(line);
  return all;
}

/** A text document that a person and programs change, as VS Code tells it. */
class Document {
  readonly uri: Uri;
  text: string;
  version = 1;
  isDirty = false;
  encoding = 'utf8';
  eol = 1;

  constructor(name: string, text: string) {
    this.uri = new Uri('e2e-swe', `/one/${name}`);
    this.text = text;
    fake.documents.opened.fire(this);
  }

  getText = (): string => this.text;

  edit(...changes: [number, number, string][]): void {
    for (const [at, length, text] of changes)
      this.text = this.text.slice(0, at) + text + this.text.slice(at + length);
    this.version++;
    // A first edit is told before the document is dirty by it.
    const wasDirty = this.isDirty;
    if (wasDirty) this.#tell(changes);
    else {
      this.#tell(changes);
      this.isDirty = true;
      this.#tell([]);
    }
  }

  reload(text: string): void {
    const before = this.text.length;
    this.text = text;
    this.version++;
    this.isDirty = false;
    this.#tell([[0, before, text]]);
  }

  save(): void {
    this.isDirty = false;
    fake.documents.saved.fire(this);
  }

  setEol(): void {
    this.eol = 2;
    this.text = this.text.replaceAll('\n', '\r\n');
    this.isDirty = true;
    this.#tell([]);
  }

  #tell(changes: readonly [number, number, string][]): void {
    const contentChanges = changes.map(([rangeOffset, rangeLength, text]) => ({
      rangeOffset,
      rangeLength,
      text,
    }));
    fake.documents.changed.fire({ document: this, contentChanges });
  }
}

test('an edited document can be rebuilt from the record, one that is looked at is not in it', async () => {
  await makeWindow();
  const looked = new Document('looked.py', 'secret');
  looked.reload('changed by a program');
  const edited = new Document('a/edited ü.py', 'one\ntwo\n');
  edited.edit([4, 3, 'TWO'], [0, 0, '# ']);
  edited.save();
  edited.setEol();
  edited.encoding = 'utf16le';
  edited.save();
  edited.edit([0, 2, '']);
  edited.reload('from a formatter\r\n');
  await new Promise((resolve) => setTimeout(resolve, 250));
  edited.edit([0, 4, 'by']);
  const foreign = new Document('../two/x', 'other attempt');
  foreign.edit([0, 5, '']);

  const all = await lines();
  const replay = new TextReplay();
  for (const line of all) replay.apply(line);
  expect(replay.paths).toEqual(['/app/a/edited ü.py']);
  const replayed = replay.get('/app/a/edited ü.py');
  expect(replayed).toMatchObject({ text: edited.text, eol: '\r\n', encoding: 'utf16le', doubt: undefined });
  expect(replayed?.saved).toEqual(encodeText('# one\r\nTWO\r\n', 'utf16le'));
  expect(all.flatMap((line) => (line.kind === 'edit' ? [line.actor] : []))).toEqual([
    ...['human', 'human', 'human', 'external', 'human'],
  ]);
});

test('the editor, the focus, files and notes are recorded; a build’s flood of files is cut', async () => {
  const { workspace, room } = await makeWindow();
  const [first, second] = [new Uri('e2e-swe', '/one/a'), new Uri('e2e-swe', '/one/b')];
  fake.files.created.fire({ files: [first] });
  fake.files.changed.fire(first);
  fake.files.renamed.fire({ files: [{ oldUri: first, newUri: second }] });
  for (let i = 0; i < 250; i++) fake.files.changed.fire(new Uri('e2e-swe', `/one/build/${i}`));
  fake.windowState.fire({ focused: false });
  fake.inputs = ['a thought', 'lunch'];
  await workspace.commands['e2eSwe.addNote']();
  await workspace.commands['e2eSwe.pauseAttempt']();
  expect(workspace.sessions.current('one')).toMatchObject({ frozen: expect.stringContaining('“Resume”') });
  await workspace.commands['e2eSwe.resumeAttempt']();
  expect(room.calls).toEqual(
    expect.arrayContaining(['note one: a thought', 'pause one: lunch', 'resume one']),
  );

  const all = await lines();
  expect(all.find(({ kind }) => kind === 'editor')).toMatchObject({
    ...{ name: 'Fake Code', version: '1.100.0', extensions: ['acme.tool@2.1.0'] },
  });
  expect(all.flatMap((line) => (line.kind === 'focus' ? [line.focused] : []))).toEqual([true, false]);
  const files = all.flatMap((line) =>
    line.kind === 'file' ? [`${line.actor} ${line.what} ${line.path}`] : [],
  );
  expect(files.slice(0, 3)).toEqual([
    'human created /app/a',
    'human renamed /app/a',
    'external changed /app/build/0',
  ]);
  expect(files.filter((file) => file.includes('many'))).toEqual(['external many /app']);
  expect(files.length).toBeLessThan(110);
});

test('the clock is in the status bar, and says when the time or the record is at an end', async () => {
  const { workspace } = await makeWindow();
  recorder.append({ kind: 'thawed' });
  workspace.recording.clock.update();
  expect(fake.statusBar.get('e2eSwe.clock')).toMatchObject({
    text: '$(watch) 0:00:00 / 1:00:00',
    isShown: true,
  });
  recorder.append({ kind: 'budget', budgetSec: 3600, leftSec: 360 });
  expect(fake.messages.at(-1)).toContain('0:06:00 left for alpha;');
  const record = makeAttempt('one', { budgetSec: 3600, state: 'running' });
  const clock = {
    ...newClock,
    phase: 'running' as const,
    unpausedMs: 3_300_000,
    activeMs: 60_000,
    wallMs: 9_000_000,
  };
  const late = clockText({ record, readOnly: undefined }, clock, undefined);
  expect(late).toMatchObject({
    text: '$(watch) 0:55:00 / 1:00:00',
    command: 'e2eSwe.pauseAttempt',
    isWarning: true,
  });
  expect(late.tooltip).toContain('0:05:00 left; then the workspace is submitted.');
  const paused = { ...record, state: 'paused' as const, budgetSec: null };
  expect(
    clockText({ record: paused, readOnly: undefined }, { ...clock, phase: 'paused' }, 'ENOSPC'),
  ).toMatchObject({
    ...{ text: '$(warning) 0:55:00', command: 'e2eSwe.resumeAttempt', isWarning: true },
  });
});

test('an edit costs its handler far less than 0.2 ms', async () => {
  const { workspace } = await makeWindow();
  const document = new Document('large.py', 'line of code\n'.repeat(80_000));
  document.edit([0, 0, 'x']);
  const times: number[] = [];
  for (let i = 0; i < 5_000; i++) {
    const event = {
      document: document as never,
      contentChanges: [{ rangeOffset: i, rangeLength: 0, text: 'x' }] as never,
    };
    const since = performance.now();
    workspace.recording.documents.changed(event);
    times.push(performance.now() - since);
  }
  times.sort((a, b) => a - b);
  expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(0.2);
});
