import path from 'node:path';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { checkBytes, checkTaskToml, type EditorProblem } from './checkTaskToml.ts';
import { isTaskToml, rangeOf } from './taskTomlDocuments.ts';

/** The name of the collection and of each diagnostic's source. */
export const diagnosticSource = 'e2e-swe';

/** Typing is over. */
const settleMs = 250;

/** Keeps the diagnostics of every open task.toml true to its text, saved or not, and to its folder. */
export class TaskTomlDiagnostics implements Disposable {
  readonly #store = new DisposableStore();
  readonly #collection = this.#store.add(vscode.languages.createDiagnosticCollection(diagnosticSource));
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** What is wrong with the bytes on disk, by document, since its last save. */
  readonly #bytes = new Map<string, readonly EditorProblem[]>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
    const { workspace } = vscode;
    const add = (part: Disposable): unknown => this.#store.add(part);
    add(workspace.onDidOpenTextDocument((document) => this.#soon(document, 0)));
    add(workspace.onDidChangeTextDocument(({ document }) => this.#soon(document, settleMs)));
    add(workspace.onDidCloseTextDocument((document) => this.#forget(document.uri)));
    add(workspace.onDidSaveTextDocument((document) => this.#filesChanged([document.uri])));
    // Files that come and go beside an open task.toml change what is wrong with its folder.
    const watcher = workspace.createFileSystemWatcher('**/{task.toml,instruction.md,test.sh,Dockerfile}');
    add(watcher);
    add(watcher.onDidCreate((uri) => this.#filesChanged([uri])));
    add(watcher.onDidDelete((uri) => this.#filesGone([uri])));
    add(workspace.onDidCreateFiles(({ files }) => this.#filesChanged(files)));
    add(workspace.onDidDeleteFiles(({ files }) => this.#filesGone(files)));
    for (const document of workspace.textDocuments) this.#soon(document, 0);
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#store.dispose();
  }

  #soon(document: vscode.TextDocument, delayMs: number): void {
    if (!isTaskToml(document)) return;
    const id = String(document.uri);
    clearTimeout(this.#timers.get(id));
    // Not awaited: the editor hears of it.
    const timer = setTimeout(() => void this.#check(document), delayMs);
    this.#timers.set(id, timer);
  }

  async #check(document: vscode.TextDocument): Promise<void> {
    const { uri, version } = document;
    const id = String(uri);
    this.#timers.delete(id);
    const dir = uri.scheme === 'file' ? path.dirname(uri.fsPath) : undefined;
    const text = document.getText();
    try {
      if (dir !== undefined && !document.isDirty) this.#bytes.set(id, await checkBytes(text, dir));
      const problems = [...(this.#bytes.get(id) ?? []), ...(await checkTaskToml(text, dir))];
      // A newer text has its own turn.
      if (document.isClosed || document.version !== version) return;
      this.#collection.set(
        uri,
        problems.map((problem) => toDiagnostic(document, problem)),
      );
    } catch (error) {
      this.#log.warn(`${uri.fsPath} was not checked: ${errorMessage(error)}`);
    }
  }

  #forget(uri: vscode.Uri): void {
    const id = String(uri);
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#bytes.delete(id);
    this.#collection.delete(uri);
  }

  /** Checks every open task.toml in whose folder a file changed. */
  #filesChanged(files: readonly vscode.Uri[]): void {
    for (const document of vscode.workspace.textDocuments) {
      const dir = `${path.posix.dirname(document.uri.path)}/`;
      if (files.some((file) => `${file.path}/`.startsWith(dir))) this.#soon(document, settleMs);
    }
  }

  #filesGone(files: readonly vscode.Uri[]): void {
    this.#filesChanged(files);
    for (const file of files) if (path.posix.basename(file.path) === 'task.toml') this.#forget(file);
  }
}

function toDiagnostic(document: vscode.TextDocument, problem: EditorProblem): vscode.Diagnostic {
  const { code, message, severity, span, file } = problem;
  const severities = {
    error: vscode.DiagnosticSeverity.Error,
    warning: vscode.DiagnosticSeverity.Warning,
    hint: vscode.DiagnosticSeverity.Hint,
  };
  const diagnostic = new vscode.Diagnostic(rangeOf(document, span), message, severities[severity]);
  diagnostic.source = diagnosticSource;
  diagnostic.code = code;
  if (code === 'deprecated-key' || code.startsWith('legacy-'))
    diagnostic.tags = [vscode.DiagnosticTag.Deprecated];
  if (file && !code.startsWith('missing-')) {
    const uri = vscode.Uri.joinPath(document.uri, '..', file.name);
    const at = new vscode.Position(file.line - 1, 0);
    const place = new vscode.Location(uri, new vscode.Range(at, at));
    diagnostic.relatedInformation = [new vscode.DiagnosticRelatedInformation(place, file.name)];
  }
  return diagnostic;
}
