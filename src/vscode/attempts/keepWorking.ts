import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

export interface KeepWorkingDeps {
  readonly room: Pick<AttemptRoom, 'keepWorking'>;
  readonly sessions: WorkspaceSessions;
  readonly notifier: Notifier;
}

/** Thaws this window's workspace while its grade goes on; the status bar shows it. */
export function keepWorking({ room, sessions, notifier }: KeepWorkingDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    await room.keepWorking(id);
    if (sessions.current(id)?.isFrozenForGrade)
      notifier.info('The workspace is thawed as soon as its submission is taken.');
  };
}
