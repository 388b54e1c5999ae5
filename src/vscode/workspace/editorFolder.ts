import * as vscode from 'vscode';
import { parseAttemptUri } from './attemptUri.ts';

/**
 * `.vscode` at the top of a workspace is not there for VS Code: a workspace on a virtual file system counts as trusted
 * always, and settings, tasks and launch files in it would run programs on this machine that an agent or a submission
 * chose (threats: opening submitted files). Programs in the container see it, and it is part of the submission.
 */
export const editorFolder = '.vscode';

export function isEditorFolder(path: string): boolean {
  return path === editorFolder || path.startsWith(`${editorFolder}/`);
}

export function isEditorFolderUri(uri: vscode.Uri): boolean {
  return isEditorFolder(parseAttemptUri(uri)?.path ?? '');
}

/** Errors: `FileNotFound` for what is in that folder. */
export function refuseToRead(uri: vscode.Uri): void {
  if (isEditorFolderUri(uri)) throw vscode.FileSystemError.FileNotFound(uri);
}

/** Errors: `NoPermissions`, with the reason. */
export function refuseToWrite(uri: vscode.Uri): void {
  if (!isEditorFolderUri(uri)) return;
  throw vscode.FileSystemError.NoPermissions(
    'VS Code does not use the folder .vscode of a workspace: what is in there could run programs on this machine. Use the user settings, or a container terminal to write the folder.',
  );
}
