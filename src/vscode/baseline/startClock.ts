import { UserError } from '#core/base/errors.ts';
import { requireWindowAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';

/** Starts this window's measured attempt: the workspace is thawed, and its spec shown by whoever follows the session. */
export function startClock(deps: {
  readonly room: Pick<AttemptRoom, 'resume'>;
  readonly sessions: WorkspaceSessions;
}): CommandHandler {
  return async () => {
    const session = await deps.sessions.get(requireWindowAttempt());
    if (!session.isWaiting)
      throw new UserError('The clock of this attempt does not wait for a start.', {
        nextStep: 'Where the attempt is paused, resume it.',
      });
    session.record = await deps.room.resume(session.id);
  };
}
