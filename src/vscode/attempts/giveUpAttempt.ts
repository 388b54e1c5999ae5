import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { type AttemptGraderDeps, settle } from './attemptGrader.ts';
import { cannot } from './gradeAttempt.ts';
import { requireWindowAttempt } from './pickAttempt.ts';

/** Ends the attempt without a submission, after the person confirmed it; its files can be read on. */
export function giveUpAttempt(deps: AttemptGraderDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = await deps.sessions.get(id);
    if (session.readOnly !== undefined) throw cannot('given up', session.readOnly);
    const answer = await vscode.window.showWarningMessage(
      `Give up this attempt at ${session.record.task.name}?`,
      {
        modal: true,
        detail: 'It ends without a submission. Its files stay and can be read until you delete the attempt.',
      },
      'Give up',
    );
    if (answer !== 'Give up') throw new CancelledError();
    try {
      await deps.room.giveUp(id);
    } finally {
      await settle(deps, id);
    }
  };
}
