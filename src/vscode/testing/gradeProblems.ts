import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { TestResult } from '#core/report/types.ts';
import { setContextKey } from '#vscode/contextKeys.ts';
import { oneLine, stripAnsi } from '#vscode/text.ts';
import type { MessagePlace } from './planItems.ts';

const source = 'E2E-SWE grade';
const maxMessageChars = 2_000;
/** To the line's end, as VS Code cuts it. */
const lineEnd = 10_000;

/** What the last grade found in files of the workspace, in the Problems view: it stays until the next one. */
export class GradeProblems implements Disposable {
  readonly #store = new DisposableStore();
  readonly #collection = this.#store.add(vscode.languages.createDiagnosticCollection('e2eSwe.grade'));

  /** Takes the place of what was shown before. `places` by the tests' ids. */
  show(tests: readonly TestResult[], places: ReadonlyMap<string, MessagePlace>): void {
    const files = new Map<string, { readonly uri: vscode.Uri; readonly found: vscode.Diagnostic[] }>();
    for (const test of tests) {
      const place = places.get(test.id);
      if (!place) continue;
      const key = place.uri.toString();
      const file = files.get(key) ?? { uri: place.uri, found: [] };
      files.set(key, file);
      file.found.push(problemOf(test, place.line));
    }
    this.#collection.clear();
    this.#collection.set([...files.values()].map(({ uri, found }) => [uri, found]));
    void setContextKey('e2eSwe.hasProblems', files.size > 0);
  }

  clear(): void {
    this.#collection.clear();
    void setContextKey('e2eSwe.hasProblems', false);
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** The message alone: a trace may hold lines of the hidden tests. */
function problemOf(test: TestResult, line: number): vscode.Diagnostic {
  const said = stripAnsi(test.message ?? '').trim();
  const text = said.length > maxMessageChars ? `${said.slice(0, maxMessageChars)}…` : said;
  const range = new vscode.Range(line - 1, 0, line - 1, lineEnd);
  const name = oneLine(test.name);
  const problem = new vscode.Diagnostic(
    range,
    text === '' ? `${name} failed.` : `${name}: ${text}`,
    vscode.DiagnosticSeverity.Error,
  );
  problem.source = source;
  return problem;
}
