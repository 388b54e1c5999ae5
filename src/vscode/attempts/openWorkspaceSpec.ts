import * as vscode from 'vscode';
import { awaitsStart } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { UserError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { specUri } from '#vscode/documents/specDocument.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import type { AttemptTasks } from './attemptTasks.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

/** Errors: `UserError` where one of the attempts at a task is measured and waits for its start. */
export function refuseBeforeStart(attempts: readonly AttemptRecord[]): void {
  const waiting = attempts.find(awaitsStart);
  if (!waiting) return;
  throw new UserError(
    `The spec of ${waiting.task.name} is not shown before the clock of the measured attempt at it is started.`,
    { nextStep: 'Start the clock in its window, or delete that attempt.' },
  );
}

/** Shows the spec of this window's attempt again, beside what is being edited. */
export function openWorkspaceSpec(deps: {
  readonly room: Pick<AttemptRoom, 'read'>;
  readonly sessions: Pick<WorkspaceSessions, 'current'>;
  readonly tasks: AttemptTasks;
}): CommandHandler {
  return async () => {
    const record = await deps.room.read(requireWindowAttempt());
    refuseBeforeStart([record]);
    const spec = specUri(await deps.tasks.of(record));
    await vscode.commands.executeCommand('markdown.showLockedPreviewToSide', spec);
    deps.sessions.current(record.id)?.open.recorder?.append({ kind: 'milestone', what: 'spec-opened' });
  };
}
