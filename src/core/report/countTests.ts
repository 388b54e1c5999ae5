import type { Counts, Report, TestResult } from './types.ts';

/** Counts the tests of a report by status, always from the list itself. `expected` is the task's `test_case_count`. */
export function countTests(report: Report, expected: number | undefined): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0, other: 0 };
  for (const test of report.tests) counts[test.status]++;
  const reported = report.tests.length;
  return {
    expected: expected ?? null,
    reported,
    ...counts,
    notReported: expected === undefined ? 0 : Math.max(0, expected - reported),
  };
}

/**
 * The tests of an oracle's report that another report of the same tests does not list, as `suite > name`. Equal names
 * count as often as they occur. Report files are not compared: a whole missing report shows as its missing tests.
 */
export function missingTests(
  report: Report,
  oracleTests: readonly Pick<TestResult, 'suite' | 'name'>[],
): readonly string[] {
  const left = new Map<string, number>();
  for (const test of report.tests) left.set(testKey(test), (left.get(testKey(test)) ?? 0) + 1);
  const missing: string[] = [];
  for (const test of oracleTests) {
    const key = testKey(test);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    else missing.push([...test.suite, test.name].join(' > '));
  }
  return missing;
}

function testKey(test: Pick<TestResult, 'suite' | 'name'>): string {
  return JSON.stringify([test.suite, test.name]);
}
