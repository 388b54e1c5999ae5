import * as vscode from 'vscode';
import { requireWindowAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { conditionsUri } from './conditionsDocument.ts';

/** Shows under what this window's attempt is measured, and what is not controlled. */
export function showConditions(): CommandHandler {
  return async () => {
    await vscode.commands.executeCommand('markdown.showPreview', conditionsUri(requireWindowAttempt()));
  };
}
