import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';

/** Asks for folders. Errors: `CancelledError` where none is chosen. */
export async function chooseFolders(options: {
  readonly title: string;
  /** Of the dialog's button. */
  readonly openLabel: string;
  readonly many?: boolean;
}): Promise<readonly vscode.Uri[]> {
  const { title, openLabel, many = false } = options;
  const uris = await vscode.window.showOpenDialog({
    ...{ title, openLabel },
    ...{ canSelectFiles: false, canSelectFolders: true, canSelectMany: many },
  });
  if (!uris || uris.length === 0) throw new CancelledError();
  return uris;
}
