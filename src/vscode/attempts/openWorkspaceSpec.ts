import * as vscode from 'vscode';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { specUri } from '#vscode/documents/specDocument.ts';
import type { AttemptTasks } from './attemptTasks.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

/** Shows the spec of this window's attempt again, beside what is being edited. */
export function openWorkspaceSpec(deps: {
  readonly room: Pick<AttemptRoom, 'read'>;
  readonly tasks: AttemptTasks;
}): CommandHandler {
  return async () => {
    const record = await deps.room.read(requireWindowAttempt());
    await vscode.commands.executeCommand('markdown.showPreviewToSide', specUri(await deps.tasks.of(record)));
  };
}
