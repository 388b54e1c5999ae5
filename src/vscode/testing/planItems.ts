import type * as vscode from 'vscode';
import type { GradeResult } from '#core/grading/types.ts';
import { testLabel } from '#core/report/testLabel.ts';
import type { TestResult } from '#core/report/types.ts';
import { hasMissingTests, sourceKindLabel, testCount, tierSentence } from '#vscode/grading/words.ts';
import { oneLine, stripAnsi } from '#vscode/text.ts';
import type { TestPlace } from './locateTests.ts';
import { notReportedItemId, suiteItemId, testItemId } from './testIds.ts';

/** What an item of the Testing view is to show after a grade, as plain data; `publishItems` does it. */
export interface PlannedItem {
  readonly id: string;
  readonly label: string;
  readonly sortText: string;
  readonly place?: TestPlace;
  readonly outcome?: PlannedOutcome;
  readonly children: readonly PlannedItem[];
}

export type PlannedOutcome =
  | { readonly state: 'passed'; readonly durationMs?: number }
  | { readonly state: 'skipped' }
  | { readonly state: 'failed' | 'errored'; readonly message: PlannedMessage; readonly durationMs?: number };

export interface PlannedMessage {
  readonly text: string;
  readonly expected?: string;
  readonly actual?: string;
  /** The line of the workspace that it is about. */
  readonly at?: MessagePlace;
}

/** A line of a file that this window may open. */
export interface MessagePlace {
  readonly uri: vscode.Uri;
  /** 1-based. */
  readonly line: number;
}

/** Longer messages slow the view down; the log has the rest. */
const messageLimit = 50_000;

/**
 * Plans the items of a task after a grade. `places` has an entry for the tests that may be opened, `messagePlaces` for
 * the messages that belong to a line of the workspace.
 */
export function planItems(
  taskId: string,
  name: string,
  result: GradeResult,
  places: ReadonlyMap<string, TestPlace>,
  messagePlaces: ReadonlyMap<string, MessagePlace> = new Map(),
): PlannedItem {
  const unsaid = tierSentence(result);
  const children = planSuites(taskId, result.tests, { places, messagePlaces, unsaid });
  if (hasMissingTests(result)) children.push(planNotReported(taskId, result));
  return {
    id: taskId,
    // Descriptions would do, but VS Code reads them to screen readers instead of the label.
    label: `${name} (${sourceKindLabel(result.evidence.source)})`,
    sortText: name,
    ...(isSaidByChildren(result, children) ? {} : { outcome: planVerdict(result) }),
    children,
  };
}

/** An outcome of the task itself would count as one more test, so it has one only where its tests do not say it. */
function isSaidByChildren(result: GradeResult, children: readonly PlannedItem[]): boolean {
  if (children.length === 0 || result.verdict === 'not graded') return false;
  const bad = children.some(isBad);
  return result.verdict === 'resolved' ? !bad : bad;
}

function isBad(item: PlannedItem): boolean {
  const state = item.outcome?.state;
  return state === 'failed' || state === 'errored' || item.children.some(isBad);
}

function planVerdict(result: GradeResult): PlannedOutcome {
  const durationMs = result.phases.reduce((sum, phase) => sum + phase.durationMs, 0);
  if (result.verdict === 'resolved') return { state: 'passed', durationMs };
  const message = { text: verdictText(result) };
  return { state: result.verdict === 'unresolved' ? 'failed' : 'errored', message, durationMs };
}

/** Why a grade ended as it did, and what to do next. */
export function verdictText(result: GradeResult): string {
  const { explanation, reason, verdict } = result;
  if (explanation && verdict !== 'resolved') return `${explanation.text}\n${explanation.nextStep}`;
  return `The verdict is ${verdict}${reason === undefined ? '' : `: ${reason}`}.`;
}

function planNotReported(taskId: string, result: GradeResult): PlannedItem {
  const { notReported, expected, reported } = result.counts;
  const log = result.tier ? '' : ' Open the verifier log to see why the others did not run.';
  const text = `The task expects ${expected} hidden tests, the report has ${reported}.${log}`;
  return {
    id: notReportedItemId(taskId),
    label: `${testCount(notReported)} not reported`,
    sortText: '0',
    outcome: { state: 'errored', message: { text } },
    children: [],
  };
}

/** By the tests' ids. */
interface Places {
  readonly places: ReadonlyMap<string, TestPlace>;
  readonly messagePlaces: ReadonlyMap<string, MessagePlace>;
  /** Why a test has no message, where its report may have one. */
  readonly unsaid: string | undefined;
}

interface SuiteDraft {
  readonly suites: Map<string, SuiteDraft>;
  readonly tests: PlannedItem[];
}

/** Suites inside suites, as the report nests them; items with failures sort first. */
function planSuites(taskId: string, tests: readonly TestResult[], places: Places): PlannedItem[] {
  const root: SuiteDraft = { suites: new Map(), tests: [] };
  for (const [index, test] of tests.entries()) {
    let draft = root;
    for (const name of test.suite) {
      const next = draft.suites.get(name) ?? { suites: new Map(), tests: [] };
      draft.suites.set(name, next);
      draft = next;
    }
    draft.tests.push(planTest(taskId, test, index, places));
  }
  return finishSuite(taskId, [], root);
}

function finishSuite(taskId: string, above: readonly string[], draft: SuiteDraft): PlannedItem[] {
  const suites = [...draft.suites].map(([name, inner]): PlannedItem => {
    const suite = [...above, name];
    const children = finishSuite(taskId, suite, inner);
    const bad = children.some((child) => child.sortText.startsWith('0'));
    return {
      id: suiteItemId(taskId, suite),
      label: oneLine(name, '(no suite name)'),
      sortText: `${bad ? '0' : '1'} ${name}`,
      children,
    };
  });
  return [...suites, ...draft.tests];
}

const orderDigits = 7;

function planTest(
  taskId: string,
  test: TestResult,
  index: number,
  { places, messagePlaces, unsaid }: Places,
): PlannedItem {
  const order = String(index).padStart(orderDigits, '0');
  const place = places.get(test.id);
  return {
    id: testItemId(taskId, test.id),
    label: `${oneLine(testLabel(test))}${test.flaky ? ' (flaky)' : ''}`,
    sortText: `${test.status === 'passed' ? '1' : '0'} ${order}`,
    ...(place ? { place } : {}),
    outcome: planOutcome(test, messagePlaces.get(test.id), unsaid),
    children: [],
  };
}

function planOutcome(
  test: TestResult,
  at: MessagePlace | undefined,
  unsaid: string | undefined,
): PlannedOutcome {
  const duration = test.durationMs === undefined ? {} : { durationMs: test.durationMs };
  switch (test.status) {
    case 'passed':
      return { state: 'passed', ...duration };
    case 'skipped':
    case 'pending':
      return { state: 'skipped' };
    case 'failed':
      return { state: 'failed', message: planMessage(test, at, unsaid), ...duration };
    case 'other':
      return { state: 'errored', message: planMessage(test, at, unsaid), ...duration };
  }
}

function planMessage(
  test: TestResult,
  at: MessagePlace | undefined,
  unsaid: string | undefined,
): PlannedMessage {
  const message = stripAnsi(test.message ?? '').trim();
  const trace = stripAnsi(test.trace ?? '').trim();
  const parts = trace.includes(message) ? [trace] : [message, trace];
  const text =
    parts.filter((part) => part !== '').join('\n\n') ||
    unsaid ||
    `The report gives no message (status "${test.status}").`;
  return {
    text: text.length > messageLimit ? `${text.slice(0, messageLimit)}\n… (cut)` : text,
    ...(test.expected !== undefined && test.actual !== undefined
      ? { expected: stripAnsi(test.expected), actual: stripAnsi(test.actual) }
      : {}),
    ...(at ? { at } : {}),
  };
}
