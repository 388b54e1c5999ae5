import * as vscode from 'vscode';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { requireWindowAttempt } from './pickAttempt.ts';

/** Closes the window; the container is frozen then, and the attempt can be opened again. */
export function closeWorkspace(): CommandHandler {
  return async () => {
    requireWindowAttempt();
    // A browser lets no page close a tab that it did not open.
    const isWeb = vscode.env.uiKind === vscode.UIKind.Web;
    await vscode.commands.executeCommand(
      isWeb ? 'workbench.action.closeFolder' : 'workbench.action.closeWindow',
    );
  };
}
