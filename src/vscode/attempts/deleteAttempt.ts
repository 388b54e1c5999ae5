import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import type { AttemptIndex } from './attemptIndex.ts';
import { pickAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

export interface DeleteAttemptDeps {
  readonly room: Pick<AttemptRoom, 'list' | 'read' | 'delete'>;
  readonly attempts: AttemptIndex;
  readonly sessions: WorkspaceSessions;
}

/** Deletes an attempt with its workspace after the person confirmed it. */
export function deleteAttempt({ room, attempts, sessions }: DeleteAttemptDeps): CommandHandler {
  return async (argument) => {
    const record = await pickAttempt(room, argument, { title: 'Delete attempt', ofWindow: false });
    const answer = await vscode.window.showWarningMessage(
      `Delete this attempt at ${record.task.name}?`,
      {
        modal: true,
        detail: `All files of its workspace, its ${record.grades.length} grades and its submissions are deleted for good.`,
      },
      'Delete',
    );
    if (answer !== 'Delete') throw new CancelledError();
    await sessions.close(record.id);
    try {
      await room.delete(record.id);
    } finally {
      await attempts.reload();
    }
  };
}
