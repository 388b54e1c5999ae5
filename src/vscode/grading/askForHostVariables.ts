import * as vscode from 'vscode';
import type { Task } from '#core/task/types.ts';

/** Asks before variables of this machine go into a task's container: they may be keys to something. */
export async function askForHostVariables(task: Task, names: readonly string[]): Promise<boolean> {
  const answer = await vscode.window.showWarningMessage(
    `Give variables of this machine to the container of ${task.name}?`,
    {
      modal: true,
      detail: `The task asks for ${names.join(', ')}. The code that is graded can read what is given.`,
    },
    'Give them',
  );
  return answer === 'Give them';
}
