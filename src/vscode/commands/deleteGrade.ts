import { rm } from 'node:fs/promises';
import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { CommandHandler } from './commandIds.ts';
import { type PickGradeDeps, pickGrade } from './pickGrade.ts';

/** Deletes a stored grade after the person confirmed it. */
export function deleteGrade(deps: PickGradeDeps): CommandHandler {
  return async (argument) => {
    const { task, summary } = await pickGrade(deps, argument, 'Delete grade');
    const answer = await vscode.window.showWarningMessage(
      `Delete this grade of ${task.name}?`,
      { modal: true, detail: `Its submission, reports and logs in ${summary.dir} are deleted for good.` },
      'Delete',
    );
    if (answer !== 'Delete') throw new CancelledError();
    await rm(summary.dir, { recursive: true, force: true });
    await deps.grades.reload(task);
  };
}
