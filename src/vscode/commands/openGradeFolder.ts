import * as vscode from 'vscode';
import type { Notifier } from '#vscode/notify.ts';
import type { CommandHandler } from './commandIds.ts';
import { type PickGradeDeps, pickGrade } from './pickGrade.ts';

/** Shows the folder of a grade in the system's file manager; in a remote window, where it is. */
export function openGradeFolder(deps: PickGradeDeps & { readonly notifier: Notifier }): CommandHandler {
  return async (argument) => {
    const { summary } = await pickGrade(deps, argument, 'Reveal grade folder');
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
