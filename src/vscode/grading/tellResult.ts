import * as vscode from 'vscode';
import type { GradeResult } from '#core/grading/types.ts';
import type { NextAction, Notifier } from '#vscode/notify.ts';
import {
  countsLabel,
  hasMissingTests,
  sourceKindLabel,
  testCount,
  tierSentence,
  verdictLabel,
} from './words.ts';

/** Tells the verdict in one line, with the one thing to do next. */
export function tellResult(notifier: Notifier, result: GradeResult, showLog: () => void): void {
  const message = resultSentence(result);
  // Of counts there is nothing more to see.
  const showTests: readonly NextAction[] =
    result.tier === 'counts' ? [] : [{ title: 'Show tests', run: focusTests }];
  if (result.verdict === 'resolved') notifier.info(message, ...showTests);
  else if (result.verdict === 'unresolved') notifier.warn(message, ...showTests);
  else notifier.error(message, { title: 'Show log', run: showLog });
}

function focusTests(): Thenable<unknown> {
  return vscode.commands.executeCommand('workbench.view.testing.focus');
}

/** "tidequery: Unresolved. 0 of 31 passed, 31 tests not reported (Empty workspace)." */
export function resultSentence(result: GradeResult): string {
  const head = `${result.task.name}: ${verdictLabel(result.verdict)}.`;
  if (result.verdict === 'not graded') {
    const { explanation } = result;
    return explanation
      ? `${head} ${explanation.text} ${explanation.nextStep}`
      : `${head} ${result.reason ?? ''}`;
  }
  // Failed tests speak for themselves; every other reason is news.
  const why = result.verdict === 'unresolved' && result.reason !== 'tests-failed' && result.explanation?.text;
  const missing = hasMissingTests(result) ? `, ${testCount(result.counts.notReported)} not reported` : '';
  const { failed } = result.counts;
  // Where the tests themselves do not tell.
  const bad = result.tier === 'counts' && failed > 0 ? `, ${failed} failed` : '';
  const counts = `${countsLabel(result.counts)}${bad}${missing} (${sourceKindLabel(result.evidence.source)}).`;
  return [head, why, counts, tierSentence(result)].filter(Boolean).join(' ');
}
