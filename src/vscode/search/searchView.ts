import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { oneLine } from '#vscode/text.ts';
import type { ListedFile } from './listFiles.ts';
import type { FileMatches, SearchMatch, SearchOutcome, SearchQuery, SkippedFiles } from './searchFiles.ts';

/** A row of the results. */
export type SearchNode =
  | { readonly kind: 'file'; readonly found: FileMatches }
  | { readonly kind: 'match'; readonly found: FileMatches; readonly match: SearchMatch }
  | { readonly kind: 'skipped'; readonly skipped: SkippedFiles }
  | { readonly kind: 'skippedFile'; readonly file: ListedFile };

export interface SearchViewDeps {
  /** The address of a file, by its path as bytes. */
  readonly uriOf: (path: string) => vscode.Uri;
}

const previewStart = 40;
/** Nobody reads more of them. */
const maxSkipped = 200;

/** The results of the last search in the workspace, by file. */
export class SearchView implements vscode.TreeDataProvider<SearchNode>, Disposable {
  readonly #deps: SearchViewDeps;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new vscode.EventEmitter<undefined>());
  readonly #view: vscode.TreeView<SearchNode>;
  #rows: readonly SearchNode[] = [];
  #query: SearchQuery | undefined;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(deps: SearchViewDeps) {
    this.#deps = deps;
    this.#view = this.#store.add(
      vscode.window.createTreeView('e2eSwe.search', { treeDataProvider: this, showCollapseAll: true }),
    );
  }

  /** The last search, to start the next one from. */
  get lastQuery(): SearchQuery | undefined {
    return this.#query;
  }

  /** The sentence above the results. */
  get message(): string {
    return this.#view.message ?? '';
  }

  show(query: SearchQuery, outcome: SearchOutcome, isOver: boolean): void {
    this.#query = query;
    this.#rows = [
      ...outcome.files.map((found): SearchNode => ({ kind: 'file', found })),
      ...(isOver ? outcome.skipped.map((skipped): SearchNode => ({ kind: 'skipped', skipped })) : []),
    ];
    this.#view.message = isOver ? searchSentence(query, outcome) : `Searching for “${oneLine(query.text)}”…`;
    this.#changed.fire(undefined);
  }

  clear(): void {
    this.#rows = [];
    this.#view.message = '';
    this.#changed.fire(undefined);
  }

  getChildren(node?: SearchNode): SearchNode[] {
    if (!node) return [...this.#rows];
    if (node.kind === 'file')
      return node.found.matches.map((match) => ({ kind: 'match', found: node.found, match }));
    if (node.kind === 'skipped')
      return node.skipped.files.slice(0, maxSkipped).map((file) => ({ kind: 'skippedFile', file }));
    return [];
  }

  getTreeItem(node: SearchNode): vscode.TreeItem {
    if (node.kind === 'skipped') return renderSkipped(node.skipped);
    if (node.kind === 'skippedFile') return renderSkippedFile(node.file, this.#deps.uriOf(node.file.path));
    const uri = this.#deps.uriOf(node.found.file.path);
    return node.kind === 'file' ? renderFile(node.found, uri) : renderMatch(node.match, uri);
  }

  dispose(): void {
    this.#store.dispose();
  }
}

function renderFile({ file, matches }: FileMatches, uri: vscode.Uri): vscode.TreeItem {
  const slash = file.text.lastIndexOf('/');
  const item = new vscode.TreeItem(file.text.slice(slash + 1), vscode.TreeItemCollapsibleState.Expanded);
  const folder = slash < 0 ? '' : `${file.text.slice(0, slash)} · `;
  item.description = `${folder}${matches.length}`;
  item.resourceUri = uri;
  item.iconPath = vscode.ThemeIcon.File;
  item.tooltip = file.text;
  item.accessibilityInformation = { label: `${file.text}, ${countOf(matches.length, 'result')}` };
  return item;
}

function renderSkipped({ reason, files }: SkippedFiles): vscode.TreeItem {
  const count = `${countOf(files.length, 'file')} not searched`;
  // The reason first: in a narrow side bar the rest is cut off.
  const label = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.description = count;
  item.iconPath = new vscode.ThemeIcon('info');
  item.tooltip = `${count}: ${reason}`;
  item.accessibilityInformation = { label: item.tooltip };
  return item;
}

function renderSkippedFile(file: ListedFile, uri: vscode.Uri): vscode.TreeItem {
  const item = new vscode.TreeItem(oneLine(file.text), vscode.TreeItemCollapsibleState.None);
  item.resourceUri = uri;
  item.iconPath = vscode.ThemeIcon.File;
  item.command = { command: 'vscode.open', title: 'Open the file', arguments: [uri] };
  return item;
}

function renderMatch(match: SearchMatch, uri: vscode.Uri): vscode.TreeItem {
  const first = match.ranges[0];
  // A match far to the right would be out of sight.
  const indent = match.text.length - match.text.trimStart().length;
  const cut = first && first[0] > previewStart + indent ? first[0] - previewStart : indent;
  const prefix = cut > indent ? '…' : '';
  const shown = prefix + match.text.slice(cut);
  const shift = prefix.length - cut;
  const label: vscode.TreeItemLabel = {
    label: shown === '' ? ' ' : shown,
    highlights: match.ranges.map(([start, end]): [number, number] => [start + shift, end + shift]),
  };
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.None);
  item.description = `${match.line}`;
  item.tooltip = match.text;
  const start = new vscode.Position(match.line - 1, first?.[0] ?? 0);
  const end = new vscode.Position(match.line - 1, first?.[1] ?? 0);
  item.command = {
    command: 'vscode.open',
    title: 'Open the file',
    arguments: [
      uri,
      { selection: new vscode.Range(start, end), preview: true } satisfies vscode.TextDocumentShowOptions,
    ],
  };
  item.accessibilityInformation = { label: `Line ${match.line}: ${match.text.trim()}` };
  return item;
}

/** "12 results in 3 files for “foo”." */
export function searchSentence(query: SearchQuery, outcome: SearchOutcome): string {
  const what = `“${oneLine(query.text)}”`;
  if (outcome.matchCount === 0) {
    const hint = query.useIgnoreFiles ? ' Ignored and excluded files were not searched.' : '';
    return `No results for ${what}.${hint}`;
  }
  const counts = `${countOf(outcome.matchCount, 'result')} in ${countOf(outcome.files.length, 'file')} for ${what}.`;
  return outcome.isCapped ? `${counts} There are more: narrow the search.` : counts;
}

export function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
