import type { GradeResult } from '#core/grading/types.ts';
import type { TestResult } from '#core/report/types.ts';
import { hasMissingTests, testCount } from '#vscode/grading/words.ts';
import { oneLine } from '#vscode/text.ts';
import type { GradeNode, NoteNode, SuiteNode, TestNode } from './nodes.ts';

/** What a grade shows when it is opened: why it ended so, then its suites, those with failures first. */
export function gradeRows(parent: GradeNode, result: GradeResult): (NoteNode | SuiteNode)[] {
  return [...noteRows(parent, result), ...suiteRows(parent, result.tests)];
}

function noteRows(parent: GradeNode, result: GradeResult): NoteNode[] {
  const notes: NoteNode[] = [];
  const note = (key: string, severity: NoteNode['severity'], text: string, detail?: string): void => {
    notes.push({
      kind: 'note',
      id: `${parent.id}#${key}`,
      parent,
      severity,
      text,
      ...(detail === undefined ? {} : { detail }),
    });
  };
  if (result.verdict !== 'resolved' && result.explanation) {
    note(
      'why',
      result.verdict === 'unresolved' ? 'info' : 'warning',
      result.explanation.text,
      result.explanation.nextStep,
    );
  }
  if (hasMissingTests(result)) {
    note('not-reported', 'error', `${testCount(result.counts.notReported)} not reported`);
  }
  for (const [index, mark] of result.marks.entries())
    note(`mark-${index}`, 'warning', mark.message, mark.rule);
  return notes;
}

function suiteRows(parent: GradeNode, tests: readonly TestResult[]): SuiteNode[] {
  const bySuite = new Map<string, { readonly label: string; readonly tests: TestResult[] }>();
  for (const test of tests) {
    const key = JSON.stringify(test.suite);
    const suite = bySuite.get(key) ?? { label: suiteLabel(test.suite), tests: [] };
    suite.tests.push(test);
    bySuite.set(key, suite);
  }
  const rows = [...bySuite.entries()].map(
    ([key, suite]): SuiteNode => ({
      kind: 'suite',
      id: `${parent.id}#suite:${key}`,
      parent,
      label: suite.label,
      tests: suite.tests,
    }),
  );
  return rows.sort((a, b) => Number(hasFailure(b.tests)) - Number(hasFailure(a.tests)));
}

function suiteLabel(suite: readonly string[]): string {
  return suite.length === 0 ? 'Tests' : suite.map((part) => oneLine(part)).join(' › ');
}

function hasFailure(tests: readonly TestResult[]): boolean {
  return tests.some((test) => test.status !== 'passed');
}

/** The tests of a suite, what did not pass first. */
export function testRows(parent: SuiteNode): TestNode[] {
  const rows = parent.tests.map(
    (result): TestNode => ({ kind: 'test', id: `${parent.id}#${result.id}`, parent, result }),
  );
  return rows.sort((a, b) => Number(a.result.status === 'passed') - Number(b.result.status === 'passed'));
}
