import * as vscode from 'vscode';
import { specUri } from '#vscode/documents/specDocument.ts';
import type { CommandHandler } from './commandIds.ts';
import { type PickTaskDeps, pickTask } from './pickTask.ts';

/** Shows what a builder is shown: the spec, rendered, without canary lines. */
export function openSpec(deps: PickTaskDeps): CommandHandler {
  return async (argument) => {
    const task = await pickTask(deps, argument, 'Open spec');
    await vscode.commands.executeCommand('markdown.showPreview', specUri(task));
  };
}
