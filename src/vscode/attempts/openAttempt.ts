import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { attemptUri } from '#vscode/workspace/attemptUri.ts';
import { pickAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

/** Opens an attempt's workspace in a window of its own, also after a crash or a restart of the machine. */
export function openAttempt(deps: { readonly room: Pick<AttemptRoom, 'list' | 'read'> }): CommandHandler {
  return async (argument) => {
    const record = await pickAttempt(deps.room, argument, { title: 'Open attempt', ofWindow: false });
    if (record.state === 'preparing' || record.damage !== undefined) {
      throw new UserError(record.damage ?? `The attempt at ${record.task.name} is still being prepared.`, {
        nextStep: record.damage === undefined ? 'Wait until it is ready.' : 'Delete the attempt.',
      });
    }
    await openWorkspaceWindow(record.id);
  };
}

/** The window opens the files itself, by `onFileSystem`. */
export async function openWorkspaceWindow(attemptId: string): Promise<void> {
  await vscode.commands.executeCommand('vscode.openFolder', attemptUri(attemptId), {
    forceNewWindow: true,
  });
}
