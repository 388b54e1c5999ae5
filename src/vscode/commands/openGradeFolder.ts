import * as vscode from 'vscode';
import type { Notifier } from '#vscode/notify.ts';
import type { CommandHandler } from './commandIds.ts';
import { passStored, type StoredGradeDeps } from './passStored.ts';
import { pickGrade } from './pickGrade.ts';

/** Shows the folder of a grade in the system's file manager; in a remote window, where it is. */
export function openGradeFolder(deps: StoredGradeDeps & { readonly notifier: Notifier }): CommandHandler {
  return async (argument) => {
    const { task, summary } = await pickGrade(deps, argument, 'Reveal grade folder');
    await passStored(deps, { task, summary }, 'grade-folder');
    const local = vscode.env.remoteName === undefined && vscode.env.uiKind === vscode.UIKind.Desktop;
    if (local) {
      await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(summary.dir));
      return;
    }
    deps.notifier.info(`The grade is kept in ${summary.dir}.`, {
      title: 'Copy path',
      run: () => vscode.env.clipboard.writeText(summary.dir),
    });
  };
}
