import path from 'node:path';
import * as vscode from 'vscode';
import type { Span } from './tomlTokens.ts';

/** By name, whatever language the editor takes it for: VS Code itself knows no TOML. */
export const taskTomlSelector: vscode.DocumentSelector = { pattern: '**/task.toml' };

/** Versions in git and other read-only copies are not checked. */
const schemes: readonly string[] = ['file', 'untitled', 'vscode-remote', 'vscode-vfs'];

export function isTaskToml({ uri }: vscode.TextDocument): boolean {
  return schemes.includes(uri.scheme) && path.posix.basename(uri.path) === 'task.toml';
}

export function rangeOf(document: vscode.TextDocument, { start, end }: Span): vscode.Range {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}
