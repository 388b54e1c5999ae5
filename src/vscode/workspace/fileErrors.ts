import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import type { FsFailure } from '#core/container/fsChannelErrors.ts';

/** As far as an `FsError` matters here; by shape, since core is loaded late. */
interface FsErrorLike extends Error {
  readonly failure: FsFailure;
  readonly detail: string;
}

export function isFsError(error: unknown): error is FsErrorLike {
  return error instanceof Error && error.name === 'FsError' && 'failure' in error && 'detail' in error;
}

/** What VS Code is told when a file operation failed: its own kind of error, with the container's words. */
export function fileSystemError(error: unknown, uri: vscode.Uri): unknown {
  if (error instanceof vscode.FileSystemError) return error;
  if (error instanceof UserError) {
    return vscode.FileSystemError.Unavailable([error.message, error.nextStep].filter(Boolean).join(' '));
  }
  if (!isFsError(error)) return error;
  switch (error.failure) {
    case 'not-found':
      return vscode.FileSystemError.FileNotFound(uri);
    case 'exists':
      return vscode.FileSystemError.FileExists(uri);
    case 'not-a-directory':
      return vscode.FileSystemError.FileNotADirectory(uri);
    case 'is-a-directory':
      return vscode.FileSystemError.FileIsADirectory(uri);
    case 'no-permission':
      return vscode.FileSystemError.NoPermissions(`The container refuses it: ${error.message}`);
    case 'not-empty':
      return vscode.FileSystemError.NoPermissions('The folder is not empty.');
    case 'no-space':
      return vscode.FileSystemError.Unavailable(`The workspace has no space left: ${error.message}`);
    case 'too-large':
      return vscode.FileSystemError.Unavailable(error.message);
    case 'unavailable':
      // Never tried again here: what a write did is unknown, the editor stays dirty and the person saves again.
      // The engine's words for it name containers by their ids.
      return vscode.FileSystemError.Unavailable(
        'The container did not answer. One that has stopped is started again: try once more.',
      );
    case 'other':
      return vscode.FileSystemError.Unavailable(error.message);
  }
}
