import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { AttemptRoom } from './ports.ts';

export interface CleanUpDeps {
  readonly room: Pick<AttemptRoom, 'orphans' | 'removeOrphan'>;
  readonly notifier: Notifier;
}

/** Lists workspaces whose attempt is in no store any more; one click removes them. Nothing alive is among them. */
export function cleanUpWorkspaces({ room, notifier }: CleanUpDeps): CommandHandler {
  return async () => {
    const orphans = await room.orphans();
    if (orphans.length === 0) {
      notifier.info('No workspace is left over: each belongs to an attempt.');
      return;
    }
    const names = orphans.map(({ taskName, attemptId }) =>
      // Most ids begin with the task's name.
      taskName !== '' && attemptId.startsWith(taskName)
        ? attemptId
        : `${taskName || 'unknown task'} (${attemptId})`,
    );
    const what = orphans.length === 1 ? '1 workspace is' : `${orphans.length} workspaces are`;
    notifier.warn(`${what} left over from deleted attempts: ${names.join(', ')}.`, {
      title: orphans.length === 1 ? 'Remove it' : 'Remove them',
      run: async () => {
        for (const { name } of orphans) await room.removeOrphan(name);
        notifier.info(
          orphans.length === 1 ? 'It was removed.' : `${orphans.length} workspaces were removed.`,
        );
      },
    });
  };
}
