import * as vscode from 'vscode';
import type { CommandHandler } from './commandIds.ts';

/** Opens our settings, or the one that is named. */
export function openSettings(extensionId: string): CommandHandler {
  return (argument) =>
    vscode.commands.executeCommand(
      'workbench.action.openSettings',
      typeof argument === 'string' ? argument : `@ext:${extensionId}`,
    );
}
