import type { GradeResult } from '#core/grading/types.ts';
import { countTests } from '#core/report/countTests.ts';
import type { TestResult } from '#core/report/types.ts';
import { hasMissingTests, testCount } from '#vscode/grading/words.ts';
import { oneLine } from '#vscode/text.ts';
import type { GradeNode, ImportedNode, NoteNode, SuiteNode, TestNode } from './nodes.ts';

/** What a grade shows when it is opened: why it ended so, then its suites, those with failures first. */
export function gradeRows(parent: Parent, result: Shown): (NoteNode | SuiteNode)[] {
  return [...noteRows(parent, result), ...suiteRows(parent, result.tests)];
}

/** What an imported trial shows: the same, by what its folder tells. */
export function importedRows(parent: ImportedNode): (NoteNode | SuiteNode)[] {
  const { trial, damage } = parent.attempt;
  if (!trial) {
    const text = damage ?? 'It has no result.';
    return [{ kind: 'note', id: `${parent.id}#damage`, parent, severity: 'error', text }];
  }
  const { verdict, marks, exception, reason, report } = trial;
  const ended = exception && [exception.type, exception.message].filter(Boolean).join(': ');
  return gradeRows(parent, {
    ...{ verdict, marks, tests: report.tests, counts: countTests(report, undefined) },
    explanation: { text: oneLine(ended ?? reason ?? verdict), nextStep: '' },
  });
}

type Parent = GradeNode | ImportedNode;
type Shown = Pick<GradeResult, 'verdict' | 'counts' | 'tests' | 'marks' | 'explanation'>;

function noteRows(parent: Parent, result: Shown): NoteNode[] {
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

function suiteRows(parent: Parent, tests: readonly TestResult[]): SuiteNode[] {
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
