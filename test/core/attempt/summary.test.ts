import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AttemptProtocol } from '#core/attempt/protocol.ts';
import { exclusionOf, type Summary, summarise } from '#core/attempt/summary.ts';
import { toCsv } from '#core/attempt/summaryCsv.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import type { GradeResult } from '#core/grading/types.ts';
import { aTask, storeAttempt } from './storedAttempt.ts';
import { useStore } from './support.ts';

const used = useStore();

const protocol: AttemptProtocol = {
  pseudonym: 'builder-one',
  exposure: 'none',
  experienceYears: 5,
  expertise: ['go', 'rust'],
  aiPolicy: 'none',
  otherDevice: 'documentation',
  tier: 'counts',
  interimGrading: true,
  consent: 'ETHICS-9',
};

let made = 0;

/** A measured attempt of so many minutes of work, all of it active. */
function attempt(
  task: string,
  minutes: number,
  record: Partial<AttemptRecord> = {},
  grade?: Partial<GradeResult>,
): Promise<AttemptRecord> {
  return storeAttempt(used.store, task, {
    record: {
      id: `a${String(++made).padStart(8, '0')}`,
      ...{ state: 'submitted', protocol, budgetSec: 14_400 },
      history: [
        { state: 'ready', at: '2026-01-02T03:04:00.000Z' },
        { state: record.state ?? 'submitted', at: '2026-01-02T04:04:05.000Z' },
      ],
      ...record,
    },
    happenings: [
      { kind: 'editor', name: 'VS Code', version: '1.107.0', extensions: [] },
      { kind: 'thawed' },
      ...Array.from({ length: minutes }, () => [60_000, { kind: 'note', text: 'on' } as const]).flat(),
      { kind: 'state', state: 'submitted' },
    ],
    ...(grade ? { grade } : {}),
  });
}

const sum = (more: Partial<Parameters<typeof summarise>[1]> = {}): Promise<Summary> =>
  summarise(used.store, { anonymised: false, practice: false, ...more });

describe('a summary', () => {
  test('has a row an attempt, and counts what says something of its builder', async () => {
    const task = await aTask(used.dir);
    await attempt(task, 10, {}, {});
    await attempt(task, 40, { protocol: { ...protocol, pseudonym: 'builder-two' } }, {});
    await attempt(task, 7, {}, { verdict: 'unresolved' });
    await attempt(task, 3, { state: 'gave-up' });
    await attempt(
      task,
      9,
      {},
      {
        verdict: 'not graded',
        reason: 'verifier-timeout',
        explanation: { text: '', nextStep: '', cause: 'submission' },
      },
    );
    await attempt(
      task,
      9,
      {},
      {
        verdict: 'not graded',
        reason: 'engine-failed',
        explanation: { text: '', nextStep: '', cause: 'engine' },
      },
    );
    await attempt(task, 9, { state: 'disqualified' }, {});
    await attempt(task, 9, { state: 'lost' });
    const { protocol: _, ...practice } = await attempt(task, 20, { state: 'submitted' }, {});
    await used.store.update(practice.id, () => practice);
    const { attempts, tasks, checklist } = await sum();
    expect(attempts.map(({ excluded }) => excluded)).toEqual([
      ...[null, null, null, null, null],
      ...['not graded: engine-failed', 'disqualified', 'lost', 'practice'],
    ]);
    expect(attempts[0]).toMatchObject({
      ...{
        builder: 'builder-one',
        task: 'some-task',
        spec_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
      ...{ unpaused_sec: 600, active_sec: 540, wall_sec: 600, idle_sec: 60, pauses: [], notes: 10 },
      ...{ editor: 'VS Code 1.107.0', budget_sec: 14_400, tier: 'counts', consent: 'ETHICS-9' },
      ...{ started_at: '2026-01-02T03:04:05.000Z', ended_at: '2026-01-02T04:04:05.000Z' },
      ...{ outcome: 'submitted', official_verdict: 'resolved', official_passed: 2, official_expected: 2 },
    });
    const [only] = tasks;
    expect(only).toMatchObject({
      ...{ task: 'some-task', attempts: 9, counted: 5, resolved: 2, completion_rate: 0.4, builders: 2 },
      excluded: { 'not graded: engine-failed': 1, disqualified: 1, lost: 1, practice: 1 },
    });
    expect(only?.completion_rate_interval?.low).toBeCloseTo(0.1176, 4);
    expect(only?.completion_rate_interval?.high).toBeCloseTo(0.7693, 4);
    // Of 600 s and 2,400 s.
    expect(only?.unpaused_sec?.mean).toBeCloseTo(1_200, 6);
    expect(only?.unpaused_sec?.interval?.low).toBeCloseTo(1_200 / Math.exp(12.7062 * Math.log(2)), 3);
    expect(checklist).toMatchObject({
      ...{ baseliners: 2, tasks: 1, same_tasks: true, exclusion_rate: 4 / 9 },
      attempts_per_baseliner: { min: 1, median: 4, max: 7 },
      modes: { channel: 9 },
      tiers: { counts: 8, full: 1 },
      outcomes: { submitted: 6, 'gave-up': 1, disqualified: 1, lost: 1 },
    });
    expect((await sum({ practice: true })).tasks[0]).toMatchObject({ counted: 6, resolved: 3 });
    expect(await sum({ task: 'another' })).toMatchObject({
      attempts: [],
      checklist: { counted: 0, completion_rate: null, completion_rate_interval: null, unpaused_sec: null },
    });
  });

  test('tells pauses by what was said of them, and scores by what they revealed', async () => {
    await storeAttempt(used.store, await aTask(used.dir), {
      record: {
        state: 'submitted',
        protocol,
        history: [{ state: 'paused', at: '2026-01-02T03:05:05.000Z', reason: 'lunch' }],
      },
      happenings: [
        { kind: 'ai-features', off: ['x'], on: ['chat.y'], extensions: ['a.copilot'] },
        { kind: 'milestone', what: 'spec-opened' },
        { kind: 'thawed' },
        {
          ...{ kind: 'revealed-outside', at: '2026-01-02T03:04:01.000Z', what: 'grade', tier: 'full' },
          of: `${used.dir}/secret-place`,
        },
        60_000,
        { kind: 'milestone', what: 'spec-opened' },
        { kind: 'state', state: 'paused', reason: 'lunch' },
        { kind: 'frozen', reason: 'pause' },
        120_000,
        { kind: 'thawed' },
        {
          ...{ kind: 'graded', official: false, dir: '1', verdict: 'unresolved' },
          revealed: { tier: 'counts', passed: 1, total: 2 },
        },
        {
          ...{ kind: 'revealed-outside', at: '2026-01-02T03:05:00.000Z', what: 'verifier-log' },
          ...{ of: '/store/grades/1', tier: 'full' },
        },
      ],
    });
    expect((await sum()).attempts[0]).toMatchObject({
      ...{ paused_sec: 120, excluded: 'no official grade' },
      ...{ spec_opened_at: '2026-01-02T03:04:05.000Z', ai_features_on: ['chat.y', 'a.copilot'] },
      shown_elsewhere: [
        { at: '2026-01-02T03:04:01.000Z', what: 'grade', tier: 'full' },
        { at: '2026-01-02T03:05:00.000Z', what: 'verifier-log', tier: 'full' },
      ],
      pauses: [{ since: '2026-01-02T03:05:05.000Z', sec: 120, reason: 'lunch' }],
      score_events: [
        { unpaused_sec: 60, verdict: 'unresolved', revealed: { tier: 'counts', passed: 1, total: 2 } },
      ],
    });
    const [row] = (await sum({ anonymised: true })).attempts;
    expect(row?.pauses).toMatchObject([{ reason: 'in the words of a person' }]);
  });

  test('reveals nothing of a measured attempt that is open', async () => {
    const { id } = await attempt(await aTask(used.dir), 5, { state: 'running' });
    await used.store.update(id, (old) => ({
      ...old,
      grades: [{ dir: path.join(used.dir, 'x'), verdict: 'resolved', at: '', official: false }],
    }));
    expect((await sum()).attempts[0]).toMatchObject({
      ...{ excluded: 'not over', score_events: [], official_verdict: null },
    });
  });

  test('has a row of one whose files are damaged', async () => {
    const task = await aTask(used.dir);
    const { id } = await attempt(task, 5, {}, {});
    const torn = await attempt(task, 5, {}, {});
    await writeFile(path.join(used.store.dirOf(id), 'attempt.json'), '{');
    await writeFile(path.join(used.store.dirOf(torn.id), 'grades', '1', 'grade.json'), '{');
    expect((await sum()).attempts.map(({ excluded, damage }) => [excluded, damage])).toEqual([
      ['damaged', 'attempt.json cannot be used'],
      ['no official grade', null],
    ]);
  });

  test('anonymised, builders have the same name in all rows and nothing tells who they are', async () => {
    const task = await aTask(used.dir);
    const other = {
      ...protocol,
      pseudonym: 'agent',
      exposureNote: 'knows builder-one',
      compensation: 'much',
    };
    await attempt(task, 1, {}, {});
    await attempt(task, 1, { protocol: other, state: 'gave-up' });
    await attempt(task, 1, { image: { reference: 'host-9.example/x:1', id: 'i' } }, {});
    const identity = new Map([['host-9.example', '[host]']]);
    const summary = await sum({ anonymised: true, identity });
    expect(summary.attempts.map(({ builder }) => builder)).toEqual(['p1', 'p2', 'p1']);
    expect(summary.attempts[2]).toMatchObject({ image: '[host]/x:1' });
    const text = JSON.stringify(summary);
    for (const planted of ['builder-one', 'host-9', 'ETHICS-9', 'much', used.dir])
      expect([planted, text.includes(planted)]).toEqual([planted, false]);
  });
});

test.each([
  [{ official_verdict: 'not graded', official_cause: 'submission' }, null],
  [
    { official_verdict: 'not graded', official_cause: 'unknown', official_reason: 'verifier-killed' },
    'not graded: verifier-killed',
  ],
  [{ official_verdict: null }, 'no official grade'],
  [{ outcome: 'timed-out', official_verdict: 'unresolved' }, null],
  [{ outcome: 'running' }, 'not over'],
] as const)('%o is excluded as %s', (parts, reason) => {
  const row = {
    ...{ damage: null, outcome: 'submitted', measured: true, official_verdict: 'resolved' },
    ...{ official_reason: null, official_cause: null },
    ...parts,
  };
  expect(exclusionOf(row as Parameters<typeof exclusionOf>[0], false)).toBe(reason);
});

test('CSV quotes, keeps lists as JSON, and makes no formulas', () => {
  expect(toCsv([])).toBe('\r\n');
  expect(toCsv([{ a: 'x,"y"', b: ['1', 2], c: null, d: '=1+1', e: -1, f: 'two\nlines' }])).toBe(
    'a,b,c,d,e,f\r\n"x,""y""","[""1"",2]",,\'=1+1,-1,"two\nlines"\r\n',
  );
});
