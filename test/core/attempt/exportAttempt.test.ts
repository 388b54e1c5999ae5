import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { AttemptSnapshots } from '#core/attempt/attemptSnapshots.ts';
import { exportAttempt } from '#core/attempt/exportAttempt.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import type { Trajectory } from '#core/trial/atif.ts';
import { readTrialResult } from '#core/trial/readTrialResult.ts';
import { entriesOf, planted, takeTar } from '../snapshot/trees.ts';
import { aProtocol, aTask, type Happening, storeAttempt } from './storedAttempt.ts';
import { useStore } from './support.ts';

const used = useStore();
const { signal } = new AbortController();
const a = '/app/main.py';
const digest = 'f'.repeat(64);

const edit = (
  offset: number,
  length: number,
  text: string,
  actor: 'human' | 'agent' = 'human',
): RecordEvent => ({
  ...{ kind: 'edit', path: a, actor, version: 1 },
  changes: [[offset, length, text]],
});
const saved: RecordEvent = { kind: 'saved', path: a, actor: 'human', bytes: 1, sha256: digest };
const text = (value: string): RecordEvent => ({
  ...{ kind: 'text', path: a, actor: 'external', version: 1, encoding: 'utf8', eol: '\n' },
  text: value,
});
const over = { state: 'submitted' as const };

const session: readonly Happening[] = [
  { kind: 'editor', name: 'VS Code', version: '1.107.0', extensions: ['a.b@1'] },
  { kind: 'thawed' },
  1_000,
  text('one\ntwo\nthree\n'),
  edit(4, 3, 'TWO'),
  100,
  edit(14, 0, 'four\n'),
  saved,
  { kind: 'terminal', id: 't1', cast: 'terminals/t1.cast', cols: 80, rows: 24 },
  2_000,
  { kind: 'command', id: 'c1', in: 't1', actor: 'human', command: 'make', cwd: '/app' },
  500,
  { kind: 'file', what: 'created', path: '/app/out', actor: 'external' },
  { kind: 'file', what: 'changed', path: '/app/log', actor: 'external' },
  500,
  { kind: 'command-ended', id: 'c1', exitCode: 2 },
  { kind: 'note', text: 'This is odd.' },
  { kind: 'file', what: 'renamed', path: '/app/out', to: '/app/in', actor: 'human' },
  { kind: 'state', state: 'paused', reason: 'lunch' },
  { kind: 'frozen', reason: 'pause' },
  60_000,
  { kind: 'thawed' },
  { kind: 'grade', official: false },
  1_000,
  {
    ...{ kind: 'graded', official: false, dir: '1', verdict: 'unresolved' },
    revealed: { tier: 'counts', passed: 1, total: 2 },
  },
  {
    ...{ kind: 'revealed-outside', at: '2026-01-02T03:05:00.000Z', what: 'stored-grade' },
    ...{ of: '/store/grades/1', tier: 'full' },
  },
  edit(0, 0, '# left\n', 'agent'),
  { kind: 'state', state: 'submitted' },
];
const casts = {
  t1: [
    [0.1, 'o', '$ '],
    [2.0, 'o', '\u001b[31mcc\u001b[0m\r\n'],
    [2.5, 'i', 'typed'],
    [3.0, 'o', 'error\r\n'],
    [9.0, 'o', 'later'],
  ],
} as const;

async function exported(dir: string): Promise<Trajectory> {
  return JSON.parse(await readFile(path.join(dir, 'agent/trajectory.json'), 'utf8')) as Trajectory;
}

describe('an exported attempt', () => {
  test('is a trial with its grade and its session, step by step', async () => {
    const task = await aTask(used.dir);
    const { id } = await storeAttempt(used.store, task, {
      record: { ...over, history: [{ state: 'running', at: '2026-01-02T03:04:05.000Z' }] },
      happenings: session,
      casts,
      files: { 'ok.txt': 'ok\n' },
      grade: { verifier: { 'reward.txt': '1\n', 'test-stdout.txt': 'fine\n' } },
    });
    const dir = path.join(used.dir, 'out', 'trial');
    const result = await exportAttempt(used.store, id, { dir, anonymised: false }, signal);
    expect(result).toMatchObject({ attempt: id, dir, losses: [], marks: [] });
    expect(await readFile(path.join(dir, 'artifacts/app/ok.txt'), 'utf8')).toBe('ok\n');
    expect(await readTrialResult(dir)).toMatchObject({
      ...{ verdict: 'resolved', taskName: 'some-task', rewards: { reward: 1 } },
      agent: { name: 'human', version: '1.107.0' },
    });
    const { steps, final_metrics, agent } = await exported(dir);
    expect(agent.extra).toMatchObject({ editor: 'VS Code', extensions: ['a.b@1'] });
    expect(steps[0]).toMatchObject({ source: 'user', message: 'Write ok.txt and setup.sh.\n' });
    const told = steps
      .slice(1)
      .map((step) => [
        step.source,
        step.message || step.tool_calls?.[0]?.function_name,
        step.tool_calls?.[0]?.arguments ?? step.extra?.event,
        step.observation?.results[0]?.content,
      ]);
    expect(told).toEqual([
      [
        'agent',
        'edit_file',
        { path: a, start_line: 2, old_text: 'two\nthree', new_text: 'TWO\nthree\nfour' },
        undefined,
      ],
      ['agent', 'run_command', { command: 'make', cwd: '/app' }, 'cc\nerror\n'],
      ['system', 'Changed outside of the editor: /app/out, /app/log', 'files-changed', undefined],
      ['agent', 'This is odd.', 'note', undefined],
      ['agent', 'move_file', { path: '/app/out', to: '/app/in' }, undefined],
      ['system', 'Paused: lunch', 'pause', undefined],
      ['system', 'Resumed', 'resume', undefined],
      [
        'agent',
        'grade',
        { official: false },
        '{"verdict":"unresolved","revealed":{"tier":"counts","passed":1,"total":2}}',
      ],
      ['system', 'Hidden tests were shown elsewhere: stored-grade, full.', 'revealed-outside', undefined],
      ['system', 'The attempt is submitted.', 'submitted', undefined],
      ['agent', 'edit_file', { path: a, start_line: 1, old_text: '', new_text: '# left' }, undefined],
    ]);
    expect(steps[1]?.extra).toMatchObject({ edits: 2, saved: true, unpaused_ms: 1_100 });
    expect(steps[2]).toMatchObject({
      timestamp: '2026-01-02T03:04:08.100Z',
      llm_call_count: 0,
      extra: { exit_code: 2, ended_at: '2026-01-02T03:04:09.100Z' },
    });
    expect(steps[7]?.extra).toMatchObject({ paused_ms: 60_000 });
    expect(steps[10]).not.toHaveProperty('llm_call_count');
    expect(JSON.stringify(steps)).not.toMatch(/token|cost/);
    expect(final_metrics).toMatchObject({ total_steps: 12, extra: { wall_ms: 65_100, unpaused_ms: 5_100 } });
    expect(final_metrics).not.toHaveProperty('total_cost_usd');
  });

  test('tells a long output and a long edit in part', async () => {
    const { id } = await storeAttempt(used.store, await aTask(used.dir), {
      record: over,
      happenings: [
        { kind: 'terminal', id: 't1', cast: 'terminals/t1.cast', cols: 80, rows: 24 },
        text(''),
        edit(0, 0, 'x'.repeat(100_000)),
        { kind: 'terminal-closed', id: 't1', exitCode: 0, omitted: 0 },
      ],
      casts: { t1: [[0.1, 'o', `begin${'-'.repeat(50_000)}end`]] },
      files: {},
    });
    const dir = path.join(used.dir, 'trial');
    await exportAttempt(used.store, id, { dir, anonymised: false }, signal);
    const { steps } = await exported(dir);
    const shown = steps[1]?.observation?.results[0]?.content as string;
    expect(shown).toMatch(/^begin-+\n\[42008 characters left out\]\n-+end$/);
    expect(steps[2]?.extra).toMatchObject({ saved: false, cut: { old: 0, new: 100_000 } });
    expect((await stat(path.join(dir, 'agent/trajectory.json'))).size).toBeLessThan(40_000);
  });

  test.each([
    ['gave-up', 'AgentGaveUpError', 'not graded'],
    ['lost', 'EnvironmentLostError', 'not graded'],
    ['disqualified', 'AgentDisqualifiedError', 'not graded'],
  ] as const)('%s is no zero: %s', async (state, type, verdict) => {
    const { id } = await storeAttempt(used.store, await aTask(used.dir), { record: { state } });
    const dir = path.join(used.dir, 'trial');
    const { marks } = await exportAttempt(used.store, id, { dir, anonymised: false }, signal);
    expect(marks.map(({ rule }) => rule)).toEqual(['no-files']);
    expect(await readTrialResult(dir)).toMatchObject({ verdict, rewards: null, exception: { type } });
  });

  test('whose time was up keeps its grade; a grade that was not made has its exception', async () => {
    const task = await aTask(used.dir);
    const late = await storeAttempt(used.store, task, {
      record: { state: 'timed-out', budgetSec: 60 },
      files: {},
      grade: {},
    });
    const failed = await storeAttempt(used.store, task, {
      record: over,
      files: {},
      grade: { verdict: 'not graded', reason: 'verifier-timeout', rewards: undefined as never },
    });
    const odd = await storeAttempt(used.store, task, {
      record: over,
      files: {},
      grade: { verdict: 'not graded', reason: 'reward-unreadable', rewards: { reward: null } },
    });
    const read = async ({ id }: { id: string }) => {
      const dir = path.join(used.dir, id);
      const { marks } = await exportAttempt(used.store, id, { dir, anonymised: false }, signal);
      return { ...(await readTrialResult(dir)), rules: marks.map(({ rule }) => rule) };
    };
    expect(await read(late)).toMatchObject({
      ...{ verdict: 'resolved', rewards: { reward: 1 } },
      exception: { type: 'AgentTimeoutError', message: 'Agent execution timed out after 60 seconds' },
    });
    expect(await read(failed)).toMatchObject({
      ...{ verdict: 'not graded', reason: 'verifier-timeout' },
      exception: { type: 'VerifierTimeoutError' },
    });
    expect(await read(odd)).toMatchObject({ rewards: null, rules: ['reward-not-a-number'] });
  });

  test('without a submission has the files of its newest whole snapshot, less what the task leaves out', async () => {
    const artifacts = '[{ source = "/app", exclude = ["*.log"] }]';
    const task = await aTask(used.dir);
    const toml = path.join(task, 'task.toml');
    await writeFile(
      toml,
      (await readFile(toml, 'utf8')).replace('artifacts = ["/app"]', `artifacts = ${artifacts}`),
    );
    const { id } = await storeAttempt(used.store, task, { record: { state: 'gave-up' } });
    const snapshots = new AttemptSnapshots(used.store).of(id);
    const tree = (text: string) => [
      planted('app', 'directory'),
      planted('app/a.log', 'file', { content: Buffer.from('x') }),
      planted('app/kept', 'file', { content: Buffer.from(text) }),
    ];
    await takeTar(snapshots, entriesOf(tree('old')));
    const newest = await takeTar(snapshots, entriesOf(tree('new')));
    const dir = path.join(used.dir, 'trial');
    const { marks } = await exportAttempt(used.store, id, { dir, anonymised: false }, signal);
    expect(marks[0]).toMatchObject({
      rule: 'files-of-snapshot',
      message: expect.stringContaining(newest.id) as string,
    });
    expect(await readdir(path.join(dir, 'artifacts/app'))).toEqual(['kept']);
    expect(await readFile(path.join(dir, 'artifacts/app/kept'), 'utf8')).toBe('new');
  });

  test('whose official grade cannot be read says so, and has all else', async () => {
    const made = await storeAttempt(used.store, await aTask(used.dir), {
      record: over,
      files: { x: 'x' },
      grade: {},
    });
    await writeFile(path.join(made.grades[0]?.dir ?? '', 'grade.json'), '{');
    const dir = path.join(used.dir, 'trial');
    const { marks } = await exportAttempt(used.store, made.id, { dir, anonymised: false }, signal);
    expect(marks.map(({ rule }) => rule)).toEqual(['grade-unreadable']);
    expect(await readdir(path.join(dir, 'artifacts/app'))).toEqual(['x']);
    expect(await readTrialResult(dir)).toMatchObject({ verdict: 'not graded', rewards: null });
  });

  test('is refused while it is measured and open, and leaves nothing where it fails', async () => {
    const task = await aTask(used.dir);
    const open = await storeAttempt(used.store, task, { record: { state: 'running', protocol: aProtocol } });
    const dir = path.join(used.dir, 'trial');
    const run = (id: string, to = signal) => exportAttempt(used.store, id, { dir, anonymised: false }, to);
    await expect(run(open.id)).rejects.toThrow('is measured and not over: an export would reveal its grades');
    expect(existsSync(dir)).toBe(false);
    const done = await storeAttempt(used.store, task, { record: over, files: { x: 'x' } });
    const stop = new AbortController();
    stop.abort();
    await expect(run(done.id, stop.signal)).rejects.toThrow(/cancelled/i);
    expect(existsSync(dir)).toBe(false);
    await mkdir(path.join(dir, 'mine'), { recursive: true });
    await expect(run(done.id)).rejects.toThrow('is not empty');
    expect(await readdir(dir)).toEqual(['mine']);
  });
});
