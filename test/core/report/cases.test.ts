import { describe, expect, test } from 'vitest';
import { countTests } from '#core/report/countTests.ts';
import { decide } from '#core/report/decide.ts';
import { locateTest } from '#core/report/location.ts';
import { readReports } from '#core/report/readReports.ts';
import { readReward } from '#core/report/readReward.ts';
import { oneLine, stripAnsi } from '#core/report/text.ts';
import type { Report, Reward } from '#core/report/types.ts';
import { bytes, fixture, reportOf } from './fixtures.ts';

function report(path: string): Report {
  return readReports([{ name: 'ctrf.json', data: fixture(`cases/${path}`) }]);
}

function rewardTxt(path: string): Reward {
  return readReward({ rewardTxt: fixture(`cases/${path}`) });
}

describe('shared cases', () => {
  test('01 a report that is all green beside reward 0 is not green, and retries are not flaky', () => {
    const read = report('01-ctrf-param-collapse/verifier/ctrf.json');
    const decision = decide({
      reward: rewardTxt('01-ctrf-param-collapse/verifier/reward.txt'),
      report: read,
      expected: undefined,
    });
    expect(decision).toMatchObject({
      verdict: 'unresolved',
      reason: 'reward-disagrees',
      marks: [{ rule: 'reward-disagrees' }],
    });
    expect(read.tests[0]).toMatchObject({ retries: 2, durationMs: 850 });
    expect(read.tests[0]).not.toHaveProperty('flaky');
    expect(read.notes.join()).toContain('further parameters');
  });

  test('02 no test ran', () => {
    const reward = rewardTxt('02-ctrf-empty-tests-not-green/verifier/reward.txt');
    const read = report('02-ctrf-empty-tests-not-green/verifier/ctrf.json');
    expect(decide({ reward, report: read, expected: undefined })).toMatchObject({
      verdict: 'unresolved',
      reason: 'no-tests-ran',
      reportState: 'empty',
    });
  });

  test('03 the denominator is the task', () => {
    const read = report('03-ctrf-denominator-from-task/verifier/ctrf.json');
    const reward = rewardTxt('03-ctrf-denominator-from-task/verifier/reward.txt');
    expect(countTests(read, 31)).toMatchObject({ expected: 31, reported: 29, passed: 29, notReported: 2 });
    expect(decide({ reward, report: read, expected: 31 })).toMatchObject({
      verdict: 'unresolved',
      reason: 'tests-not-reported',
      reportState: 'short',
    });
  });

  test('05 suites as string, array, empty, null and absent', () => {
    const { tests } = report('05-ctrf-suite-string-and-array/ctrf.json');
    expect(tests.map((entry) => entry.suite)).toEqual([
      ['a.test.js', 'outer', 'inner', 'suite'],
      ['b.test.js', 'outer'],
      [],
      [],
      [],
    ]);
    expect(new Set(tests.map((entry) => entry.id)).size).toBe(5);
  });

  test('06 repeated names stay apart', () => {
    const { tests } = report('06-ctrf-duplicate-names/ctrf.json');
    expect(tests.map((entry) => entry.status)).toEqual(['passed', 'failed', 'passed', 'failed']);
    expect(new Set(tests.map((entry) => entry.id)).size).toBe(4);
    expect(tests.some((entry) => entry.flaky)).toBe(false);
  });

  test('07 hostile names get one-line labels and safe ids', () => {
    const { tests } = report('07-ctrf-id-hostile-names/ctrf.json');
    const labels = tests.map((entry) => oneLine(entry.name, 200));
    expect(labels.slice(0, 4)).toEqual(['line1 line2 line3', 'a/b\\c:d?e#f', 'nulbyte', 'gnp.exe']);
    expect(labels[4]).toBe(`${'L'.repeat(199)}…`);
    expect(labels.slice(5)).toEqual(['harborTasks', '(no name)', '(no name)']);
    for (const entry of tests) expect(entry.id).toMatch(/^t[0-9a-f]{16}(-\d+)?$/);
    expect(new Set(tests.map((entry) => entry.id)).size).toBe(8);
  });

  test('09 a synthetic BUILD failure is a build that failed', () => {
    const read = report('09-ctrf-not-spec-wrapper/verifier/ctrf.json');
    const reward = rewardTxt('09-ctrf-not-spec-wrapper/verifier/reward.txt');
    expect(decide({ reward, report: read, expected: 50 })).toMatchObject({
      verdict: 'unresolved',
      reason: 'build-failed',
      reportState: 'short',
    });
    expect(countTests(read, 50)).toMatchObject({ expected: 50, passed: 0, failed: 1 });
    expect(read.notes.join()).toContain('BUILD');
    expect(read.tests[0]).not.toHaveProperty('durationMs');
  });

  test('10 escapes are stripped for inline text and kept in the result', () => {
    const [entry] = report('10-ctrf-ansi-html-huge-message/ctrf.json').tests;
    expect(stripAnsi(entry?.message ?? '')).toBe(
      'red expected <script>alert(1)</script> [x](command:workbench.action.quit)',
    );
    const trace = stripAnsi(entry?.trace ?? '');
    expect(trace.startsWith('link\nE   assert 1 == 2\nyyy')).toBe(true);
    expect(entry?.trace?.length).toBeGreaterThan(190_000);
    expect(oneLine(entry?.trace ?? '', 80)).toHaveLength(80);
  });

  test('12 half a report is unreadable, and without a reward nothing is graded', () => {
    const read = report('12-ctrf-half-written/verifier/ctrf.json');
    expect(read).toMatchObject({
      state: 'unreadable',
      tests: [],
      notes: ['ctrf.json is cut off or still being written.'],
    });
    expect(decide({ reward: readReward({}), report: read, expected: 2 })).toMatchObject({
      verdict: 'not graded',
      reason: 'reward-missing',
    });
  });

  test('15 places map only into the tests folder', () => {
    const { tests } = report('15-ctrf-location-mapping/ctrf.json');
    const folder = new Map([['test_outputs.py', 2]]);
    const places = tests.map((entry) => locateTest(entry, folder));
    expect(places.slice(0, 2)).toEqual([
      { file: 'test_outputs.py', line: 2 },
      { file: 'test_outputs.py', line: 1 },
    ]);
    expect(places.slice(2)).toEqual([undefined, undefined, undefined, undefined]);
    expect(locateTest({ file: '/tests/test_outputs.py', line: 1e9 }, folder)).toEqual({
      file: 'test_outputs.py',
      line: 2,
    });
    expect(tests.map((entry) => entry.line)).toEqual([2, undefined, 1, 1, 1_000_000_000, undefined]);
    expect(tests.map((entry) => entry.file).slice(1, 4)).toEqual([
      'tests\\test_outputs.py',
      '../../etc/passwd',
      'C:\\x.py',
    ]);
  });

  test.each([
    ['float', 'unresolved', 0.981818],
    ['sci', 'resolved', 1],
    ['nonl', 'resolved', 1],
    ['crlf', 'resolved', 1],
    ['nan', 'not graded', null],
    ['inf', 'not graded', null],
    ['word', 'not graded', undefined],
    ['two', 'not graded', undefined],
    ['empty', 'not graded', undefined],
    ['neg', 'unresolved', -1],
  ] as const)('16 reward.txt form %s is %s', (form, verdict, value) => {
    const reward = rewardTxt(`16-reward-txt-forms/${form}.txt`);
    expect(decide({ reward, report: reportOf('passed'), expected: 1 }).verdict).toBe(verdict);
    expect(reward.state === 'read' ? reward.value : undefined).toBe(value);
  });

  test('17 both reward files: a mark says which one counts', () => {
    const reward = readReward({
      rewardJson: fixture('cases/17-reward-json-and-txt/verifier/reward.json'),
      rewardTxt: fixture('cases/17-reward-json-and-txt/verifier/reward.txt'),
    });
    const decision = decide({ reward, report: reportOf('passed'), expected: 1 });
    expect(decision).toMatchObject({ verdict: 'resolved', marks: [{ rule: 'two-reward-files' }] });
  });

  test('20 the exit code is no input: only the reward decides', () => {
    const decision = decide({
      reward: readReward({ rewardTxt: bytes('1\n') }),
      report: { tests: [], state: 'none', notes: [] },
      expected: undefined,
    });
    expect(decision.verdict).toBe('resolved');
  });
});
