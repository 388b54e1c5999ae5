import * as vscode from 'vscode';
import type { GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { readVerifierLog } from '#vscode/documents/gradeLog.ts';
import { sourceKindLabel } from '#vscode/grading/words.ts';
import type { HiddenTests } from '#vscode/testing/hiddenTests.ts';
import type { CommandHandler } from './commandIds.ts';
import { passStored, type StoredGradeDeps } from './passStored.ts';
import { pickGrade } from './pickGrade.ts';

/** More of a log than this is not put into the run's output; the log itself can be opened. */
const outputLimit = 1_000_000;

/** Shows a stored grade in the Testing view, as if it had just been made. */
export function openGrade(deps: StoredGradeDeps & { readonly tests: HiddenTests }): CommandHandler {
  return async (argument) => {
    const { task, summary } = await pickGrade(deps, argument, 'Show grade in Testing view');
    const result = await passStored(deps, { task, summary }, 'stored-grade');
    await showInTestingView(deps.tests, task, result);
  };
}

/** With the verifier's log, where there is one. */
export async function showInTestingView(tests: HiddenTests, task: Task, result: GradeResult): Promise<void> {
  const { dir, evidence, startedAt } = result;
  const log = await readVerifierLog(dir);
  const name = `${task.name}, ${sourceKindLabel(evidence.source)}, ${new Date(startedAt).toLocaleString()}`;
  await tests.show(task, name, result, log?.subarray(-outputLimit).toString('utf8'));
  await vscode.commands.executeCommand('workbench.view.testing.focus');
}
