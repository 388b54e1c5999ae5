import type { GradeResult } from '#core/grading/types.ts';
import { testLabel } from '#core/report/testLabel.ts';
import { oneLine, stripAnsi } from '#core/report/text.ts';
import type { Counts } from '#core/report/types.ts';

/** A grade for a terminal: verdict first, then what failed, then where everything is. */
export function renderGrade(result: GradeResult): string {
  const { counts, verdict, explanation } = result;
  const total = counts.expected ?? counts.reported;
  const lines = [
    `${result.task.name}: ${verdict}${result.reason ? ` (${result.reason})` : ''}`,
    `  ${counts.passed} of ${total} tests passed${result.tier ? otherCounts(counts) : `, reward ${result.reward ?? 'none'}`}`,
  ];
  if (result.tier) lines.push(`  The attempt is open: ${tierWords[result.tier]}.`);
  if (explanation) lines.push(`  ${explanation.text}`, `  ${explanation.nextStep}`);
  const failed = result.tests.filter(({ status }) => status !== 'passed');
  for (const test of failed.slice(0, maxListed)) {
    lines.push(`  ${test.status}: ${oneLine([...test.suite, testLabel(test)].join(' > '), 160)}`);
    if (test.message) lines.push(`      ${oneLine(stripAnsi(test.message), 200)}`);
  }
  if (failed.length > maxListed) lines.push(`  … and ${failed.length - maxListed} more`);
  if (counts.notReported > 0)
    lines.push(`  ${counts.notReported} ${counts.notReported === 1 ? 'test' : 'tests'} not reported`);
  for (const name of result.missingTests?.slice(0, maxListed) ?? [])
    lines.push(`      ${oneLine(name, 160)}`);
  for (const mark of result.marks) lines.push(`  mark: ${mark.message}`);
  for (const problem of result.problems) lines.push(`  note: ${problem.message}`);
  const phases = result.phases.map(({ name, durationMs }) => `${name} ${(durationMs / 1000).toFixed(1)} s`);
  if (phases.length > 0) lines.push(`  ${phases.join(', ')}`);
  lines.push(`  ${result.dir}`);
  return `${lines.join('\n')}\n`;
}

const maxListed = 20;

const tierWords: Readonly<Record<NonNullable<GradeResult['tier']>, string>> = {
  counts: 'no more than these numbers is shown before it is over',
  names: 'no more than the names of the tests is shown before it is over',
  messages: 'no more than the messages of the tests is shown before it is over',
};

/** ", 3 failed, 1 skipped": where the tests themselves do not say it. */
function otherCounts({ failed, skipped, pending, other }: Counts): string {
  return Object.entries({ failed, skipped, pending, other })
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `, ${count} ${status}`)
    .join('');
}
