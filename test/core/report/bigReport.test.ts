import { expect, test } from 'vitest';
import { countTests } from '#core/report/countTests.ts';
import { readReports } from '#core/report/readReports.ts';
import { bytes } from './fixtures.ts';

/** The shape of case 52: 200-character names, 1 % failures, about 25 MB. */
function bigReport(count: number, tail = ''): Uint8Array {
  const tests = Array.from({ length: count }, (_, index) => ({
    name: `case ${index} ${'n'.repeat(190)}`,
    status: index % 100 === 0 ? 'failed' : 'passed',
    duration: index % 7,
    suite: [`s${Math.floor(index / 1000)}`, `g${Math.floor(index / 100)}`],
    ...(index % 100 === 0 && { message: `expected ${index}` }),
  }));
  const summary = {
    tests: count,
    passed: count - Math.ceil(count / 100),
    failed: Math.ceil(count / 100),
    pending: 0,
    skipped: 0,
    other: 0,
    start: 1,
    stop: 2,
  };
  return bytes(
    JSON.stringify({
      reportFormat: 'CTRF',
      specVersion: '0.0.0',
      results: { tool: { name: 'gen' }, summary, tests },
    }) + tail,
  );
}

// Measured as processor time of this process, since other work on the machine may slow the clock.
test('100,000 tests are read in under a second', () => {
  const data = bigReport(100_000);
  expect(data.length).toBeGreaterThan(24e6);
  const started = process.cpuUsage();
  const report = readReports([{ name: 'ctrf.json', data }]);
  const { user, system } = process.cpuUsage(started);
  expect(countTests(report, 100_000)).toMatchObject({
    reported: 100_000,
    passed: 99_000,
    failed: 1000,
    notReported: 0,
  });
  expect(report.notes).toEqual([]);
  expect(new Set(report.tests.map((entry) => entry.id)).size).toBe(100_000);
  // No two of the different names share a hash.
  expect(report.tests.some((entry) => entry.id.includes('-'))).toBe(false);
  expect((user + system) / 1000).toBeLessThan(1000);
}, 30_000);

test('and also with text behind the report, where the slower reader is needed', () => {
  const report = readReports([{ name: 'ctrf.json', data: bigReport(20_000, '\nDone.\n') }]);
  expect(report.tests).toHaveLength(20_000);
  expect(report.notes).toHaveLength(1);
});
