import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { countTests } from '#core/report/countTests.ts';
import { readReports } from '#core/report/readReports.ts';
import type { Report } from '#core/report/types.ts';

/** Public reports for local tests; they lie beside the repository and are not part of it. */
const data = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));
const present = existsSync(path.join(data, 'ctrf'));
if (!present) console.log('Skipped: the real CTRF reports (../shared/data) are not on this machine.');

function read(file: string): Report {
  return readReports([{ name: 'ctrf.json', data: readFileSync(path.join(data, file)) }]);
}

// File, then: reported, passed, failed, skipped, pending, other, flaky, notes.
const counts: readonly (readonly [string, ...number[]])[] = [
  ['ctrf/01-playwright-flaky-72k.json', 10, 0, 10, 0, 0, 0, 0, 0],
  ['ctrf/03-playwright-cryptpad-219k.json', 183, 155, 25, 3, 0, 0, 0, 0],
  ['ctrf/05-playwright-cryptpad-small.json', 1, 0, 1, 0, 0, 0, 0, 0],
  ['ctrf/07-playwright-cryptpad-7k.json', 11, 10, 1, 0, 0, 0, 0, 0],
  ['ctrf/09-ctrf-js-vitest-18k.json', 34, 34, 0, 0, 0, 0, 0, 0],
  ['ctrf/11-github-test-reporter-ctrf-report.json', 10, 5, 2, 1, 1, 1, 3, 0],
  ['ctrf/13-spec-example-comprehensive.json', 3, 2, 1, 0, 0, 0, 1, 0],
  ['ctrf/15-spec-example-with-diagnostics.json', 1, 0, 1, 0, 0, 0, 0, 0],
  ['ctrf/17-spec-example-with-retries.json', 2, 2, 0, 0, 0, 0, 1, 0],
  ['ctrf/19-gen-pytest-json-ctrf-importerror-empty.json', 0, 0, 0, 0, 0, 0, 0, 0],
  ['ctrf/21-gen-jest-retries-todo-dup.json', 9, 4, 3, 0, 1, 1, 1, 0],
  ['ctrf/23-gen-vitest-float-durations.json', 7, 4, 1, 2, 0, 0, 1, 0],
  ['ctrf/25-gen-junit-nextest-flaky.json', 3, 2, 1, 0, 0, 0, 1, 0],
  ['ctrf/27-gen-junit-xctest.json', 2, 1, 1, 0, 0, 0, 0, 0],
  ['ctrf/29-pytest-harbor-skillsbench-seconds.json', 2, 2, 0, 0, 0, 0, 0, 0],
  // An excerpt: its summary still counts all four.
  ['ctrf/31-pytest-harbor-114-seconds-EXCERPT.json', 2, 1, 1, 0, 0, 0, 0, 1],
  ['harbor-trials/ctrf/pytest-json-ctrf-0.3.5-nop-fail.json', 5, 0, 5, 0, 0, 0, 0, 0],
  ['harbor-trials/ctrf/pytest-json-ctrf-0.3.5-oracle-pass.json', 5, 5, 0, 0, 0, 0, 0, 0],
];

describe.skipIf(!present)('real reports', () => {
  test.each(counts.map(([file, ...numbers]) => ({ file, numbers })))('$file', ({ file, numbers }) => {
    const report = read(file);
    const { reported, passed, failed, skipped, pending, other } = countTests(report, undefined);
    const flaky = report.tests.filter((entry) => entry.flaky).length;
    expect(report.state).toBe('read');
    expect([reported, passed, failed, skipped, pending, other, flaky, report.notes.length]).toEqual(numbers);
    expect(new Set(report.tests.map((entry) => entry.id)).size).toBe(reported);
  });

  test('pytest in seconds, playwright in milliseconds', () => {
    expect(read('ctrf/31-pytest-harbor-114-seconds-EXCERPT.json').tests[1]).toMatchObject({
      durationMs: 114_119.445,
      line: 34,
      rawStatus: 'call_failed',
    });
    expect(read('ctrf/01-playwright-flaky-72k.json').tests[0]).toMatchObject({ durationMs: 11_225 });
    expect(read('ctrf/03-playwright-cryptpad-219k.json').tests[0]).toMatchObject({
      durationMs: 6836,
      suite: ['chrome', 'code_anon.spec.js'],
    });
  });

  test('jest and vitest', () => {
    const jest = read('ctrf/21-gen-jest-retries-todo-dup.json').tests;
    expect(jest.find((entry) => entry.message?.includes('Expected: 1'))).toMatchObject({
      expected: '1',
      actual: '2',
      line: 8,
    });
    const vitest = read('ctrf/23-gen-vitest-float-durations.json').tests;
    expect(vitest[1]).toMatchObject({ suite: ['v'], durationMs: 2.415, line: 3 });
  });
});
