import path from 'node:path';
import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { SubmissionSource } from '#core/grading/types.ts';

/** The part of `vscode.Memento` that choices are kept in. */
export interface ChoiceMemory {
  get(key: string): unknown;
  update(key: string, value: unknown): Thenable<void>;
}

const recentKey = 'grade.recentFolders';
const lastKey = 'grade.lastSource';
const recentLimit = 5;

interface SourceItem extends vscode.QuickPickItem {
  readonly source?: SubmissionSource;
  readonly browse?: true;
}

/** Asks what to grade; the last choice comes first. Rejects with `CancelledError` when the person gives up. */
export async function chooseSource(title: string, memory: ChoiceMemory): Promise<SubmissionSource> {
  const picked = await vscode.window.showQuickPick(sourceItems(memory), {
    title,
    placeHolder: 'Choose what to grade',
    matchOnDescription: true,
  });
  if (!picked) throw new CancelledError();
  const source = picked.browse ? await browse() : picked.source;
  if (!source) throw new CancelledError();
  await remember(source, memory);
  return source;
}

function sourceItems(memory: ChoiceMemory): SourceItem[] {
  const folders = (vscode.workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === 'file')
    .map((folder) => folderItem(folder.uri.fsPath));
  const known = new Set(folders.map((item) => item.description));
  const recent = recentFolders(memory)
    .filter((folder) => !known.has(folder))
    .map(folderItem);
  const items: SourceItem[] = [
    { label: '$(pass) Reference solution', source: { kind: 'solution' } },
    { label: '$(circle-outline) Empty workspace', source: { kind: 'empty' } },
    ...group('Workspace folders', folders),
    ...group('Recent folders', recent),
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: '$(folder-opened) Choose a folder…', browse: true },
  ];
  return lastFirst(items, parseSource(memory.get(lastKey)));
}

function group(label: string, items: readonly SourceItem[]): SourceItem[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function folderItem(folder: string): SourceItem {
  return {
    label: `$(folder) ${path.basename(folder)}`,
    description: folder,
    source: { kind: 'folder', path: folder },
  };
}

function lastFirst(items: readonly SourceItem[], last: SubmissionSource | undefined): SourceItem[] {
  const found = items.find((item) => last && item.source && sameSource(item.source, last));
  if (!found) return [...items];
  return [
    { label: 'Last choice', kind: vscode.QuickPickItemKind.Separator },
    found,
    { label: 'Other', kind: vscode.QuickPickItemKind.Separator },
    ...items.filter((item) => item !== found),
  ];
}

async function browse(): Promise<SubmissionSource | undefined> {
  const uris = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
    openLabel: 'Grade',
    title: 'Choose the folder to grade',
  });
  const folder = uris?.[0];
  return folder && { kind: 'folder', path: folder.fsPath };
}

async function remember(source: SubmissionSource, memory: ChoiceMemory): Promise<void> {
  await memory.update(lastKey, source);
  if (source.kind !== 'folder') return;
  const others = recentFolders(memory).filter((folder) => folder !== source.path);
  await memory.update(recentKey, [source.path, ...others].slice(0, recentLimit));
}

function recentFolders(memory: ChoiceMemory): string[] {
  const value = memory.get(recentKey);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** What was stored by an older version of us counts only when it still has the shape. */
export function parseSource(value: unknown): SubmissionSource | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  if (value.kind === 'solution' || value.kind === 'empty') return { kind: value.kind };
  if (value.kind !== 'folder' && value.kind !== 'tar') return undefined;
  return 'path' in value && typeof value.path === 'string'
    ? { kind: value.kind, path: value.path }
    : undefined;
}

function sameSource(a: SubmissionSource, b: SubmissionSource): boolean {
  return a.kind === b.kind && ('path' in a ? a.path : '') === ('path' in b ? b.path : '');
}
