import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import { cannot } from '#vscode/attempts/gradeAttempt.ts';
import { requireWindowAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';

export interface PauseDeps {
  readonly room: Pick<AttemptRoom, 'pause' | 'resume' | 'note'>;
  readonly sessions: WorkspaceSessions;
}

/** Asks why, then stops the clock: the workspace is frozen, and editors are read-only. */
export function pauseAttempt({ room, sessions }: PauseDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = await sessions.get(id);
    if (session.readOnly !== undefined) throw cannot('paused', session.readOnly);
    const reason = await vscode.window.showInputBox({
      title: 'Pause the attempt',
      prompt: 'The workspace is frozen and the clock stands until you resume. Why do you pause?',
      placeHolder: 'Lunch, a call, …',
    });
    if (reason === undefined) throw new CancelledError();
    session.record = await room.pause(id, reason.trim() || undefined);
  };
}

/** The clock goes on, and so can the work. */
export function resumeAttempt({ room, sessions }: PauseDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = await sessions.get(id);
    session.record = await room.resume(id);
  };
}

/** A line of the builder's own in the record. */
export function addNote({ room, sessions }: PauseDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = await sessions.get(id);
    if (!session.open.recorder) throw cannot('noted in', session.readOnly ?? '');
    const text = await vscode.window.showInputBox({
      title: 'Add note',
      prompt: 'It is kept in the record of the attempt, with its time.',
    });
    if (text === undefined || text.trim() === '') throw new CancelledError();
    await room.note(id, text.trim());
  };
}
