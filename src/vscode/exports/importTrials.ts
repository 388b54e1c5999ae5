import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import { withCancel } from '#vscode/cancellation.ts';
import { chooseFolders } from '#vscode/chooseFolder.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { ImportIndex } from './importIndex.ts';

export interface ImportTrialsDeps {
  readonly imports: ImportIndex;
  readonly index: Pick<TaskIndex, 'tasks'>;
  readonly notifier: Notifier;
}

/** Lists the trials of a folder of Harbor's among the attempts at their tasks; the folder's, or the person's choice. */
export function importTrials({ imports, index, notifier }: ImportTrialsDeps): CommandHandler {
  return async (argument) => {
    const choices = { title: 'Import trials of Harbor', openLabel: 'Import' };
    const [folder] = argument instanceof vscode.Uri ? [argument] : await chooseFolders(choices);
    if (!folder) throw new CancelledError();
    const found = await withCancel(`Reading the trials in ${folder.fsPath}`, (signal) =>
      imports.add(folder.fsPath, signal),
    );
    const known = found.filter(({ taskName }) => index.tasks.some(({ name }) => name === taskName)).length;
    const damaged = found.filter(({ damage }) => damage !== undefined).length;
    const parts = [
      `${found.length} ${found.length === 1 ? 'trial is' : 'trials are'} imported`,
      known < found.length && `${known} of them at tasks of the Tasks view, which shows them there`,
      damaged > 0 && `${damaged} without a result that can be read`,
    ];
    notifier.info(`${parts.filter(Boolean).join('; ')}.`);
  };
}
