import * as vscode from 'vscode';
import type { NextAction } from './notify.ts';

/** Shows a folder in the system's file manager; where this window has none, its path can be copied. */
export function revealAction(dir: string): NextAction {
  return isLocalWindow()
    ? { title: 'Open folder', run: () => reveal(dir) }
    : { title: 'Copy path', run: () => vscode.env.clipboard.writeText(dir) };
}

/** Files of this window are on the person's own machine. */
export function isLocalWindow(): boolean {
  return vscode.env.remoteName === undefined && vscode.env.uiKind === vscode.UIKind.Desktop;
}

export function reveal(dir: string): Thenable<unknown> {
  return vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(dir));
}
