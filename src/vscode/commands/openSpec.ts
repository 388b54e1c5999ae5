import * as vscode from 'vscode';
import type { AttemptIndex } from '#vscode/attempts/attemptIndex.ts';
import { refuseBeforeStart } from '#vscode/attempts/openWorkspaceSpec.ts';
import { specUri } from '#vscode/documents/specDocument.ts';
import type { CommandHandler } from './commandIds.ts';
import { type PickTaskDeps, pickTask } from './pickTask.ts';

/** Shows what a builder is shown: the spec, rendered, without canary lines. */
export function openSpec(
  deps: PickTaskDeps & { readonly attempts: Pick<AttemptIndex, 'of'> },
): CommandHandler {
  return async (argument) => {
    const task = await pickTask(deps, argument, 'Open spec');
    refuseBeforeStart(await deps.attempts.of(task));
    await vscode.commands.executeCommand('markdown.showPreview', specUri(task));
  };
}
