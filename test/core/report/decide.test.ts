import { describe, expect, test } from 'vitest';
import { type Decision, decide, type ReportState } from '#core/report/decide.ts';
import { readReward } from '#core/report/readReward.ts';
import type { Report, Reward } from '#core/report/types.ts';
import { unresolvedReasons } from '#core/report/unresolvedReasons.ts';
import { bytes, readResults, reportOf } from './fixtures.ts';

type RewardCell = '1' | '0' | 'other' | 'none' | 'unreadable';

const rewards: Readonly<Record<RewardCell, Reward>> = {
  '1': readReward({ rewardTxt: bytes('1\n') }),
  '0': readReward({ rewardTxt: bytes('0\n') }),
  other: readReward({ rewardTxt: bytes('0.98') }),
  none: readReward({}),
  unreadable: readReward({ rewardTxt: bytes('PASS') }),
};
const expectedCount = 3;

/** With no expected number, a report is short or over by its own summary. */
function greenReport(state: ReportState): Report {
  if (state === 'none') return { tests: [], state: 'none', notes: [] };
  const listed = { complete: 3, short: 2, over: 4, empty: 0 }[state];
  const tests = Array.from({ length: listed }, (_, index) => ({ name: `t${index}`, status: 'passed' }));
  return readResults({ tests, summary: { tests: expectedCount } });
}

/** Verdict, reason, rules of the marks. */
type Row = readonly [RewardCell, ReportState, 'known' | 'unknown', string, (string | undefined)?, string?];

// Every report here is green as far as it goes; failures are below.
const table: readonly Row[] = [
  ['1', 'complete', 'known', 'resolved'],
  ['1', 'short', 'known', 'unresolved', 'tests-not-reported', 'reward-disagrees'],
  ['1', 'over', 'known', 'unresolved', 'too-many-tests', 'reward-disagrees more-tests-than-expected'],
  ['1', 'empty', 'known', 'unresolved', 'no-tests-ran', 'reward-disagrees'],
  ['1', 'none', 'known', 'unresolved', 'report-missing', 'reward-disagrees'],
  ['0', 'complete', 'known', 'unresolved', 'reward-disagrees', 'reward-disagrees'],
  ['0', 'short', 'known', 'unresolved', 'tests-not-reported'],
  ['0', 'over', 'known', 'unresolved', 'too-many-tests', 'more-tests-than-expected'],
  ['0', 'empty', 'known', 'unresolved', 'no-tests-ran'],
  ['0', 'none', 'known', 'unresolved', 'report-missing'],
  ['other', 'complete', 'known', 'unresolved', 'reward-disagrees', 'reward-disagrees'],
  ['other', 'short', 'known', 'unresolved', 'tests-not-reported'],
  ['other', 'over', 'known', 'unresolved', 'too-many-tests', 'more-tests-than-expected'],
  ['other', 'empty', 'known', 'unresolved', 'no-tests-ran'],
  ['other', 'none', 'known', 'unresolved', 'report-missing'],
  ['none', 'complete', 'known', 'not graded', 'reward-missing'],
  ['none', 'short', 'known', 'not graded', 'reward-missing'],
  ['none', 'over', 'known', 'not graded', 'reward-missing', 'more-tests-than-expected'],
  ['none', 'empty', 'known', 'not graded', 'reward-missing'],
  ['none', 'none', 'known', 'not graded', 'reward-missing'],
  ['unreadable', 'complete', 'known', 'not graded', 'reward-unreadable'],
  ['unreadable', 'short', 'known', 'not graded', 'reward-unreadable'],
  ['unreadable', 'over', 'known', 'not graded', 'reward-unreadable', 'more-tests-than-expected'],
  ['unreadable', 'empty', 'known', 'not graded', 'reward-unreadable'],
  ['unreadable', 'none', 'known', 'not graded', 'reward-unreadable'],
  ['1', 'complete', 'unknown', 'resolved'],
  ['1', 'short', 'unknown', 'resolved', undefined, 'report-contradicts-itself'],
  ['1', 'over', 'unknown', 'resolved', undefined, 'report-contradicts-itself'],
  ['1', 'empty', 'unknown', 'resolved', undefined, 'reward-disagrees'],
  ['1', 'none', 'unknown', 'resolved'],
  ['0', 'complete', 'unknown', 'unresolved', 'reward-disagrees', 'reward-disagrees'],
  ['0', 'short', 'unknown', 'unresolved', 'reward-disagrees', 'reward-disagrees report-contradicts-itself'],
  ['0', 'over', 'unknown', 'unresolved', 'reward-disagrees', 'reward-disagrees report-contradicts-itself'],
  ['0', 'empty', 'unknown', 'unresolved', 'no-tests-ran'],
  ['0', 'none', 'unknown', 'unresolved', 'reward-not-1'],
  ['other', 'complete', 'unknown', 'unresolved', 'reward-disagrees', 'reward-disagrees'],
  [
    'other',
    'short',
    'unknown',
    'unresolved',
    'reward-disagrees',
    'reward-disagrees report-contradicts-itself',
  ],
  [
    'other',
    'over',
    'unknown',
    'unresolved',
    'reward-disagrees',
    'reward-disagrees report-contradicts-itself',
  ],
  ['other', 'empty', 'unknown', 'unresolved', 'no-tests-ran'],
  ['other', 'none', 'unknown', 'unresolved', 'reward-not-1'],
  ['none', 'complete', 'unknown', 'not graded', 'reward-missing'],
  ['none', 'short', 'unknown', 'not graded', 'reward-missing', 'report-contradicts-itself'],
  ['none', 'over', 'unknown', 'not graded', 'reward-missing', 'report-contradicts-itself'],
  ['none', 'empty', 'unknown', 'not graded', 'reward-missing'],
  ['none', 'none', 'unknown', 'not graded', 'reward-missing'],
  ['unreadable', 'complete', 'unknown', 'not graded', 'reward-unreadable'],
  ['unreadable', 'short', 'unknown', 'not graded', 'reward-unreadable', 'report-contradicts-itself'],
  ['unreadable', 'over', 'unknown', 'not graded', 'reward-unreadable', 'report-contradicts-itself'],
  ['unreadable', 'empty', 'unknown', 'not graded', 'reward-unreadable'],
  ['unreadable', 'none', 'unknown', 'not graded', 'reward-unreadable'],
];

function summary(decision: Decision): readonly unknown[] {
  return [decision.verdict, decision.reason, decision.marks.map((mark) => mark.rule).join(' ')];
}

describe('the decision table', () => {
  for (const [reward, state, known, verdict, reason, marks = ''] of table)
    test(`reward ${reward}, report ${state}, expected ${known}: ${verdict}`, () => {
      const expected = known === 'known' ? expectedCount : undefined;
      const decision = decide({ reward: rewards[reward], report: greenReport(state), expected });
      expect(summary(decision)).toEqual([verdict, reason, marks]);
      expect(decision.reportState).toBe(state);
    });

  test('has one row a cell', () => {
    expect(new Set(table.map((row) => row.slice(0, 3).join())).size).toBe(50);
  });
});

function decideOn(
  reward: Reward,
  report: Report,
  expected?: number,
  setupFailed?: boolean,
): readonly unknown[] {
  return summary(decide({ reward, report, expected, ...(setupFailed !== undefined && { setupFailed }) }));
}

describe('beyond the table', () => {
  test.each([
    ['failed', 'tests-failed'],
    ['skipped', 'tests-skipped'],
    ['pending', 'tests-skipped'],
    ['other', 'tests-skipped'],
  ] as const)('a %s test beside reward 1 is unresolved where the count is known', (status, reason) => {
    expect(decideOn(rewards['1'], reportOf('passed', 'passed', status), 3)).toEqual([
      'unresolved',
      reason,
      'reward-disagrees',
    ]);
  });

  test('three passed and one skipped of three is not resolved', () => {
    const decision = decide({
      reward: rewards['1'],
      report: reportOf('passed', 'passed', 'passed', 'skipped'),
      expected: 3,
    });
    expect(decision).toMatchObject({ verdict: 'unresolved', reason: 'tests-skipped', reportState: 'over' });
  });

  test('failures beside reward 1 are a mark where the count is not known', () => {
    expect(decideOn(rewards['1'], reportOf('passed', 'failed'))).toEqual([
      'resolved',
      undefined,
      'reward-disagrees',
    ]);
    expect(decideOn(rewards['1'], reportOf('passed', 'skipped'))).toEqual(['resolved', undefined, '']);
  });

  test('reasons without an expected count', () => {
    expect(decideOn(rewards['0'], reportOf('passed', 'failed'))).toEqual(['unresolved', 'tests-failed', '']);
    expect(decideOn(rewards['0'], reportOf('passed', 'skipped'))).toEqual(['unresolved', 'reward-not-1', '']);
  });

  test('an unreadable report is named', () => {
    const report: Report = { tests: [], state: 'unreadable', notes: [], unreadable: ['ctrf.json'] };
    expect(decideOn(rewards['1'], report, 3)).toEqual([
      'unresolved',
      'report-unreadable',
      'reward-disagrees report-unreadable',
    ]);
    expect(decideOn(rewards['1'], report)).toEqual(['resolved', undefined, 'report-unreadable']);
    expect(decideOn(rewards['0'], report)).toEqual(['unresolved', 'report-unreadable', 'report-unreadable']);
  });

  test('a failed setup is named where there is a reward', () => {
    const failed = reportOf('failed', 'failed', 'failed');
    expect(decideOn(rewards['0'], failed, 3, true)).toEqual(['unresolved', 'setup-failed', '']);
    expect(decideOn(rewards.none, failed, 3, true)).toEqual(['not graded', 'reward-missing', '']);
    expect(decideOn(rewards['1'], reportOf('passed', 'passed', 'passed'), 3, true)).toEqual([
      'resolved',
      undefined,
      'setup-failed',
    ]);
  });

  test('nan and inf are never 0 and never a pass', () => {
    for (const text of ['nan', 'inf', '-inf'])
      expect(decideOn(readReward({ rewardTxt: bytes(text) }), reportOf('passed'), 1)).toEqual([
        'not graded',
        'reward-unreadable',
        '',
      ]);
  });

  test('-1 and 2 are graded and not a pass', () => {
    for (const text of ['-1', '2'])
      expect(decideOn(readReward({ rewardTxt: bytes(text) }), reportOf('failed'), 1)).toEqual([
        'unresolved',
        'tests-failed',
        '',
      ]);
  });

  test('a single reward of another name counts, several without `reward` do not', () => {
    const one = readReward({ rewardJson: bytes('{"score":1}') });
    const several = readReward({ rewardJson: bytes('{"a":1,"b":1}') });
    expect(decideOn(one, reportOf('passed'), 1)).toEqual(['resolved', undefined, 'reward-key']);
    expect(decideOn(several, reportOf('passed'), 1)).toEqual([
      'not graded',
      'reward-missing',
      'reward-key-missing',
    ]);
    for (const text of ['{}', 'null'])
      expect(decideOn(readReward({ rewardJson: bytes(text) }), reportOf('passed'))).toEqual([
        'not graded',
        'reward-missing',
        'reward-key-missing',
      ]);
  });

  test('zero expected tests are never green', () => {
    expect(decideOn(rewards['1'], greenReport('empty'), 0)).toEqual([
      'unresolved',
      'no-tests-ran',
      'reward-disagrees',
    ]);
  });

  test('every reason has a text and a next step of one sentence each', () => {
    for (const { text, nextStep } of Object.values(unresolvedReasons))
      for (const sentence of [text, nextStep]) expect(sentence).toMatch(/^[A-Z][^\n]*\.$/);
  });
});
