import * as vscode from 'vscode';
import { CancelledError, UserError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { Notifier } from '#vscode/notify.ts';
import { isTreeNode } from '#vscode/tree/nodes.ts';
import type { ImportIndex } from './importIndex.ts';

export interface RemoveImportDeps {
  readonly imports: ImportIndex;
  readonly notifier: Notifier;
}

/** Takes an imported folder out of the list, the row's or the person's choice; its trials stay where they are. */
export function removeImport({ imports, notifier }: RemoveImportDeps): CommandHandler {
  return async (argument) => {
    const isRow = isTreeNode(argument) && argument.kind === 'imported';
    const folder = isRow ? argument.attempt.from : await chooseFolder(imports);
    await imports.remove(folder);
    notifier.info(`The trials of ${folder} are not listed any more; they stay where they are.`);
  };
}

async function chooseFolder(imports: ImportIndex): Promise<string> {
  const folders = await imports.folders();
  if (folders.length === 0)
    throw new UserError('No trials are imported.', { nextStep: 'Use "Import trials" to list some.' });
  const picked = await vscode.window.showQuickPick(
    folders.map((label) => ({ label })),
    { title: 'Remove imported trials', placeHolder: 'Choose the folder that is not to be listed any more' },
  );
  if (!picked) throw new CancelledError();
  return picked.label;
}
