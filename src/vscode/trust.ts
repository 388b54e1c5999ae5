import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import type { Task } from '#core/task/types.ts';

/** True when the task lies in a folder of this window: the person at the keyboard works on it. */
export function isWorkspaceTask(task: Task): boolean {
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.file(task.dir)) !== undefined;
}

/** Refuses to build and run what an untrusted workspace brings along. */
export function requireTrust(task: Task): void {
  if (vscode.workspace.isTrusted || !isWorkspaceTask(task)) return;
  throw new UserError(`The task ${task.name} belongs to a workspace in Restricted Mode.`, {
    nextStep: 'Trust the workspace to grade its tasks.',
  });
}
