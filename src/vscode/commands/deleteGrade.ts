import { rm } from 'node:fs/promises';
import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { KeptIndex } from '#vscode/grades/keptIndex.ts';
import type { CommandHandler } from './commandIds.ts';
import { type PickGradeDeps, pickGrade } from './pickGrade.ts';

/** Deletes a stored grade, with the container that was kept of it, after the person confirmed it. */
export function deleteGrade(deps: PickGradeDeps & { readonly kept: KeptIndex }): CommandHandler {
  return async (argument) => {
    const { task, summary } = await pickGrade(deps, argument, 'Delete grade');
    const answer = await vscode.window.showWarningMessage(
      `Delete this grade of ${task.name}?`,
      {
        modal: true,
        detail: `Its submission, reports and logs in ${summary.dir} are deleted for good, and its container where it was kept.`,
      },
      'Delete',
    );
    if (answer !== 'Delete') throw new CancelledError();
    await deps.kept.remove(summary.dir);
    await rm(summary.dir, { recursive: true, force: true });
    await deps.grades.reload(task);
  };
}
