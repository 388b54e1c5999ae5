import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AttemptProtocol } from '#core/attempt/protocol.ts';
import { protocolSchema } from '#core/attempt/protocol.ts';
import { readRecordLines } from '#core/attempt/readRecordLog.ts';
import { Recorder, recordFileOf } from '#core/attempt/recorder.ts';
import { emptySummary } from '#core/attempt/recordSummary.ts';
import { notStartedReason } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { CancelledError } from '#core/base/errors.ts';
import { nullLog } from '#core/base/log.ts';
import { aiSentence, readAiOutcome } from '#vscode/baseline/aiFeatures.ts';
import { conditionsText } from '#vscode/baseline/conditionsDocument.ts';
import { debriefOf, minutesOf } from '#vscode/baseline/debriefForm.ts';
import { askProtocol } from '#vscode/baseline/startForm.ts';
import { openSpec } from '#vscode/commands/openSpec.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';
import { back } from '../fakes/quickInput.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { makeAttempt } from './support/attempts.ts';
import { graderOf, makeEntry } from './support/builders.ts';
import { makeWorld } from './support/world.ts';

const protocol: AttemptProtocol = {
  ...{ pseudonym: 'otter-7', exposure: 'none', experienceYears: 5, expertise: ['python'] },
  ...{ aiPolicy: 'none', otherDevice: 'documentation', tier: 'counts', interimGrading: false },
};
const waiting: Partial<AttemptRecord> = {
  protocol,
  state: 'paused',
  budgetSec: 3600,
  history: [{ state: 'paused', at: '2026-01-02T03:04:05.000Z', reason: notStartedReason }],
};

let dir: string;
let recorder: Recorder;

beforeEach(async () => {
  fake.reset();
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-baseline-'));
  recorder = await Recorder.open(dir, { log: nullLog, reserveBytes: 16 });
});
afterEach(async () => {
  await recorder.close();
  await rm(dir, { recursive: true, force: true });
});

async function makeWindow(more: Partial<AttemptRecord>) {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf());
  fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  fake.declaredSettings.set('chat.disableAIFeatures', false).set('editor.inlineSuggest.enabled', true);
  fake.workspaceSettings.set('chat.disableAIFeatures', true).set('editor.inlineSuggest.enabled', false);
  world.room.add(makeAttempt('one', more));
  world.room.recorder = recorder;
  const reader = { discover: async () => [], find: async () => [], readSpec: async () => '# spec\n' };
  const workspace = registerWorkspace({ ...world, reader });
  const session = await workspace.sessions.get('one');
  return { ...world, workspace, session, view: workspace.baseline.view };
}

type Window = Awaited<ReturnType<typeof makeWindow>>;

/** The view as text, all of it. */
function rendered({ view }: Pick<Window, 'view'>, parent?: string, indent = ''): string {
  const rows = view.getChildren(parent).map((id) => {
    const { label, description, iconPath } = view.getTreeItem(id) as {
      label: string;
      description: string;
      iconPath?: { id: string };
    };
    const icon = iconPath ? `[${iconPath.id}] ` : '';
    return `${indent}${icon}${label}${description && ` — ${description}`}\n${rendered({ view }, id, `${indent}  `)}`;
  });
  return rows.join('');
}

async function kinds(): Promise<string[]> {
  await recorder.flush();
  const all: string[] = [];
  for await (const line of readRecordLines(recordFileOf(dir)))
    all.push(line.kind === 'milestone' ? line.what : line.kind);
  return all;
}

const memoryOf = (kept: Map<string, unknown>) => ({
  get: (key: string) => kept.get(key),
  update: async (key: string, value: unknown) => void kept.set(key, value),
});

test('the form makes the conditions; it goes back, refuses what is wrong, and remembers the person', async () => {
  const kept = new Map<string, unknown>();
  fake.picks = ['Measured', back, 'The program', 'No AI', 'Documentation', 'Counts', 'No', 'Prepare'];
  fake.inputs = ['', 'otter-7', 'otter-8', 'read it once', 'many', '2,5', 'python, sql', '', 'ERB 7', ''];
  const asked = await askProtocol('alpha', memoryOf(kept));
  expect(protocolSchema.parse(asked)).toEqual({
    ...{ pseudonym: 'otter-8', exposure: 'package', exposureNote: 'read it once', experienceYears: 2.5 },
    ...{ expertise: ['python', 'sql'], aiPolicy: 'none', otherDevice: 'documentation', tier: 'counts' },
    ...{ interimGrading: false, consent: 'ERB 7' },
  });
  expect(fake.asked.join('\n')).toContain(
    '(2/13): Under which pseudonym do you build? Never your name. !A pseudonym',
  );
  expect(fake.asked.join('\n')).toContain('!A number of years');
  fake.picks = ['Measured', undefined as never];
  fake.inputs = ['otter-8'];
  fake.asked = [];
  await expect(askProtocol('alpha', memoryOf(kept))).rejects.toBeInstanceOf(CancelledError);
  // Exposure is asked anew; the person is known.
  expect(fake.asked).toEqual([
    'Start attempt at alpha (1/13): How is this attempt meant? [Measured attempt]',
    'Start attempt at alpha (2/13): Under which pseudonym do you build? Never your name. [otter-8]',
    'Start attempt at alpha (3/13): What did you know of this task before?',
  ]);
});

test('Escape starts nothing; practice asks nothing more', async () => {
  const { workspace, room } = await makeWindow({ state: 'ready' });
  const start = workspace.commands['e2eSwe.startAttempt'];
  fake.picks = ['Measured'];
  await expect(start('/c/alpha')).rejects.toBeInstanceOf(CancelledError);
  expect([...room.records.keys()]).toEqual(['one']);
  fake.picks = ['Practice'];
  await start('/c/alpha');
  expect([...room.records.values()].at(-1)?.protocol).toBeUndefined();
});

test('a measured attempt waits: no files, no spec, one button; its start shows all', async () => {
  const window = await makeWindow(waiting);
  const { workspace, session, room } = window;
  const files = fake.fileSystems.get('e2e-swe') as unknown as {
    readDirectory(uri: Uri): Promise<[string, number][]>;
  };
  room.files.content.set('/app/instruction.md', Buffer.from('# spec\n'));
  expect(session.isWaiting).toBe(true);
  expect(rendered(window)).toBe('');
  expect(fake.context.get('e2eSwe.attemptPhase')).toBe('waiting');
  expect(fake.statusBar.get('e2eSwe.clock')?.text).toBe('$(play) Start the clock (1:00:00)');
  expect(await files.readDirectory(new Uri('e2e-swe', '/one'))).toEqual([]);
  expect(fake.messages.join()).toContain('Its clock stands, and its spec is shown when you start it.');
  await expect(workspace.commands['e2eSwe.openWorkspaceSpec']()).rejects.toThrow(
    'is not shown before the clock',
  );
  await expect(openSpec(window)('/c/alpha')).rejects.toThrow('is not shown before the clock');

  await workspace.commands['e2eSwe.startClock']();
  await expect.poll(() => fake.executed.map(([id]) => id)).toContain('markdown.showPreview');
  expect(session.isWaiting).toBe(false);
  expect((await files.readDirectory(new Uri('e2e-swe', '/one'))).map(([name]) => name)).toContain(
    'instruction.md',
  );
  expect(fake.context.get('e2eSwe.attemptPhase')).toBe('running');
  await expect.poll(kinds).toContain('spec-opened');
  await expect(workspace.commands['e2eSwe.startClock']()).rejects.toThrow('does not wait for a start');
});

test('the view tells time, grades with what they showed, notes, conditions, and what is not controlled', async () => {
  const at = '2026-01-02T03:04:05.000Z';
  const grade = { dir: '/store/grades/1', verdict: 'unresolved', at, official: false } as const;
  const window = await makeWindow({
    protocol: { ...protocol, interimGrading: true },
    budgetSec: 3600,
    grades: [grade],
  });
  recorder.append({ kind: 'thawed' });
  recorder.append({ kind: 'note', text: 'the parser\nfirst' });
  const revealed = { tier: 'counts', passed: 12, total: 40 };
  recorder.append({ kind: 'graded', official: false, dir: '1', verdict: 'unresolved', revealed });
  fake.extensions.add('GitHub.copilot');
  recorder.append({
    kind: 'ai-features',
    off: [],
    on: ['chat.disableAIFeatures'],
    extensions: ['GitHub.copilot'],
  });
  window.view.update();
  const text = rendered(window);
  expect(text).toContain('[watch] Running — the clock runs');
  expect(text).toMatch(/\[clock\] Time — 0:00:0\d \/ 1:00:00\n {2}Left — 0:59:\d\d\n {2}Active — 0:00:0\d/);
  expect(text).toMatch(
    /\[beaker\] Grades — 1\n {2}\[error\] Grade 1 — Unresolved · 12 of 40 passed · showed counts/,
  );
  expect(text).toMatch(/\[comment\] Notes — 1\n {2}the parser first — /);
  expect(text).toMatch(/Conditions — otter-7\n {2}Pseudonym — otter-7\n/);
  expect(text).toContain('[warning] Not controlled\n  [warning] AI features — Not all AI features are off');
  expect(text).toContain('Other devices — A phone or a second computer leaves no trace here.');
  expect(fake.context.get('e2eSwe.mayGrade')).toBe(true);
});

test('each second only the rows whose words changed are told', async () => {
  const window = await makeWindow({ protocol, budgetSec: 3600 });
  recorder.append({ kind: 'thawed' });
  window.view.update();
  const told: unknown[] = [];
  window.view.onDidChangeTreeData((ids) => told.push(ids));
  window.view.update();
  expect(told).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  window.view.update();
  expect(told).toEqual([['time']]);
  expect(fake.context.get('e2eSwe.mayGrade')).toBe(false);
});

test('without AI the window has settings of its own, and what became of it is recorded', async () => {
  const window = await makeWindow(waiting);
  const file = new Uri('e2e-swe', '/one/.vscode/settings.json');
  const files = fake.fileSystems.get('e2e-swe');
  const settings = Buffer.from((await files?.readFile(file)) ?? []).toString();
  expect(settings).toContain('"chat.disableAIFeatures": true');
  expect(settings).toContain('"editor.inlineSuggest.enabled": false');
  await expect.poll(kinds).toContain('ai-features');
  expect([...window.room.files.content.keys()].join()).not.toContain('.vscode');
  fake.extensions.add('Continue.continue');
  fake.extensionsChanged.fire();
  fake.extensionsChanged.fire();
  const checks = async () => (await kinds()).filter((kind) => kind === 'ai-features').length;
  await expect.poll(checks).toBe(2);
  expect(fake.messages.at(-1)).toContain(
    'Disable these extensions, which bring AI of their own: Continue.continue.',
  );
  window.room.add(makeAttempt('two', { protocol: { ...protocol, aiPolicy: 'allowed' } }));
  await expect(files?.readFile(new Uri('e2e-swe', '/two/.vscode/settings.json'))).rejects.toThrow(
    'FileNotFound',
  );
});

test('what of the AI is still on is named, with the extensions that bring their own', () => {
  fake.extensions.add('Continue.continue').add('acme.tool');
  fake.declaredSettings.set('editor.inlineSuggest.enabled', true).set('github.copilot.enable', {});
  fake.workspaceSettings.set('editor.inlineSuggest.enabled', false);
  fake.workspaceSettings.set('github.copilot.enable', { '*': false, python: true });
  const outcome = readAiOutcome();
  expect(outcome).toEqual({
    off: ['editor.inlineSuggest.enabled'],
    on: ['chat.disableAIFeatures (this VS Code does not have it)', 'github.copilot.enable'],
    extensions: ['Continue.continue'],
  });
  expect(aiSentence(outcome)).toContain(
    'Disable these extensions, which bring AI of their own: Continue.continue.',
  );
});

test('an end is followed by the debrief, which can be left and filled in later', async () => {
  const { workspace, room, view } = await makeWindow({ protocol, state: 'ready' });
  fake.answer = (message) => (message.startsWith('Give up') ? 'Give up' : undefined);
  await expect(workspace.commands['e2eSwe.fillInDebrief']()).rejects.toThrow('when the attempt is over');
  fake.picks = ['4: hard'];
  fake.inputs = [undefined];
  await workspace.commands['e2eSwe.giveUpAttempt']();
  expect(room.records.get('one')?.debrief).toBeUndefined();
  expect(fake.messages.at(-1)).toContain('The debrief can be filled in later. [Fill in the debrief…]');
  await expect.poll(() => rendered({ view })).toContain('[feedback] Debrief — fill it in');
  fake.picks = ['4: hard'];
  fake.inputs = ['soon', '1:30', 'parser first', '', 'empty lines', 'none'];
  await workspace.commands['e2eSwe.fillInDebrief']();
  expect(room.records.get('one')?.debrief).toEqual({
    ...{ difficulty: 4, estimateMinutes: 90, approach: 'parser first', deadEnds: '' },
    ...{ ambiguities: 'empty lines', aiUse: '' },
  });
  expect(rendered({ view })).toContain('[pass] Debrief — filled in');
});

test('times are read as people write them', () => {
  expect(['90', '90 min', '1:30', '1.5 h', '1,5h', '0', 'soon', '1:75', '9999 h'].map(minutesOf)).toEqual([
    ...[90, 90, 90, 90, 90, 0, undefined, undefined, undefined],
  ]);
  expect(debriefOf({}).difficulty).toBeNull();
});

test('the conditions are a page, in which nothing is markup', async () => {
  const { workspace } = await makeWindow({ protocol });
  await workspace.commands['e2eSwe.showConditions']();
  const shown = fake.executed.filter(([id]) => id === 'markdown.showPreview').map(([, uri]) => String(uri));
  expect(shown).toContain('e2e-swe-conditions:/Conditions.md?one');
  const page = await fake.fileSystems
    .get('e2e-swe-conditions')
    ?.readFile(new Uri('e2e-swe-conditions', '/Conditions.md', 'one'));
  expect(Buffer.from(page ?? []).toString()).toContain('- **Grades show:** Counts');
  const record = makeAttempt('one', { protocol: { ...protocol, pseudonym: '[a](command:x) <b>' } });
  expect(conditionsText(record, emptySummary)).toContain('\\[a\\]\\(command:x\\) \\<b\\>');
  expect(conditionsText(makeAttempt('one'), emptySummary)).toContain('It is practice');
});
