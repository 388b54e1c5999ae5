import * as vscode from 'vscode';
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
    const log = await readVerifierLog(summary.dir);
    const name = `${task.name}, ${sourceKindLabel(summary.source)}, ${new Date(summary.startedAt).toLocaleString()}`;
    await deps.tests.show(task, name, result, log?.subarray(-outputLimit).toString('utf8'));
    await vscode.commands.executeCommand('workbench.view.testing.focus');
  };
}
