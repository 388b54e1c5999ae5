/**
 * The part of VS Code that edits text, for the tests of task.toml: documents, providers, diagnostics, code actions.
 * On top of `fakes/vscode.ts`; a test installs it with
 * `vi.mock('vscode', async (original) => (await import('./taskTomlEditor.ts')).withEditor(await original()))`.
 */
// Types only: the module itself would wait for the mock that is made of this file.
import type { Uri } from '../fakes/vscode.ts';

class EventEmitter<T> {
  readonly #listeners = new Set<(value: T) => unknown>();
  readonly event = (listener: (value: T) => unknown) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
  isBefore(other: Position): boolean {
    return this.line < other.line || (this.line === other.line && this.character < other.character);
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(a: number | Position, b: number | Position, line = 0, character = 0) {
    this.start = a instanceof Position ? a : new Position(a, b as number);
    this.end = b instanceof Position ? b : new Position(line, character);
  }
  isEqual(other: Range): boolean {
    return String(this) === String(other);
  }
  intersection(other: Range): Range | undefined {
    return this.end.isBefore(other.start) || other.end.isBefore(this.start) ? undefined : this;
  }
  /** 1-based, as editors show it. */
  toString(): string {
    const at = ({ line, character }: Position) => `${line + 1}:${character + 1}`;
    return `${at(this.start)}-${at(this.end)}`;
  }
}

export class Diagnostic {
  source?: string;
  code?: string;
  tags?: readonly number[];
  relatedInformation?: readonly { readonly location: { readonly uri: Uri } }[];
  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity: number,
  ) {}
}

class Kind {
  constructor(readonly value: string) {}
  append(part: string): Kind {
    return new Kind(`${this.value}.${part}`);
  }
  contains(other: Kind): boolean {
    return `${other.value}.`.startsWith(`${this.value}.`);
  }
}

export const CodeActionKind = { QuickFix: new Kind('quickfix'), SourceFixAll: new Kind('source.fixAll') };

export class WorkspaceEdit {
  readonly edits: { readonly range: Range; readonly text: string }[] = [];
  replace(_uri: Uri, range: Range, text: string): void {
    this.edits.push({ range, text });
  }
}

export class CodeAction {
  diagnostics: readonly Diagnostic[] = [];
  isPreferred = false;
  edit?: WorkspaceEdit;
  command?: { readonly command: string; readonly arguments: readonly unknown[] };
  constructor(
    readonly title: string,
    readonly kind: Kind,
  ) {}
}

class Hover {
  constructor(
    readonly contents: { readonly value: string },
    readonly range: Range,
  ) {}
}

class CompletionItem {
  constructor(
    readonly label: string,
    readonly kind: number,
  ) {}
}

class SnippetString {
  constructor(readonly value: string) {}
}

class MarkdownString {
  constructor(public value = '') {}
  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}

/** An open document; `type` changes it as the person would. */
export class FakeDocument {
  version = 1;
  isDirty = false;
  isClosed = false;
  #text: string;
  constructor(
    readonly uri: Uri,
    text: string,
  ) {
    this.#text = text;
  }
  getText(): string {
    return this.#text;
  }
  offsetAt({ line, character }: Position): number {
    const starts = [0, ...[...this.#text.matchAll(/\r\n|\n/g)].map((match) => match.index + match[0].length)];
    return (starts[line] ?? this.#text.length) + character;
  }
  positionAt(offset: number): Position {
    const lines = this.#text.slice(0, offset).split(/\r\n|\n/);
    return new Position(lines.length - 1, lines.at(-1)?.length ?? 0);
  }
  type(text: string): void {
    this.#text = text;
    this.version++;
    this.isDirty = true;
    editor.changed.fire({ document: this });
  }
  save(): void {
    this.isDirty = false;
    editor.saved.fire(this);
  }
  close(): void {
    this.isClosed = true;
    editor.documents.delete(this);
    editor.closed.fire(this);
  }
  apply({ edits }: WorkspaceEdit): void {
    const offsets = edits.map(({ range, text }) => ({
      ...{ start: this.offsetAt(range.start), end: this.offsetAt(range.end), text },
    }));
    offsets.sort((a, b) => b.start - a.start);
    const old = this.#text;
    this.type(
      offsets.reduce((out, { start, end, text }) => out.slice(0, start) + text + out.slice(end), old),
    );
  }
}

type Provider = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** What happens in the editor. */
export const editor = {
  documents: new Set<FakeDocument>(),
  diagnostics: new Map<string, readonly Diagnostic[]>(),
  providers: new Map<string, Provider>(),
  opened: new EventEmitter<FakeDocument>(),
  changed: new EventEmitter<{ document: FakeDocument }>(),
  closed: new EventEmitter<FakeDocument>(),
  saved: new EventEmitter<FakeDocument>(),
  created: new EventEmitter<{ files: readonly Uri[] }>(),
  deleted: new EventEmitter<{ files: readonly Uri[] }>(),
  open(document: FakeDocument): FakeDocument {
    editor.documents.add(document);
    editor.opened.fire(document);
    return document;
  },
};

const collection = {
  set: (uri: Uri, diagnostics: readonly Diagnostic[]) => editor.diagnostics.set(String(uri), diagnostics),
  delete: (uri: Uri) => editor.diagnostics.delete(String(uri)),
  dispose: () => editor.diagnostics.clear(),
};

function register(kind: string) {
  return (_selector: unknown, provider: Provider) => {
    editor.providers.set(kind, provider);
    return { dispose: () => editor.providers.delete(kind) };
  };
}

const languages = {
  createDiagnosticCollection: () => collection,
  registerHoverProvider: register('hover'),
  registerCompletionItemProvider: register('completion'),
  registerCodeActionsProvider: register('actions'),
};

/** The fake VS Code with an editor in it. */
export function withEditor<T extends { readonly workspace: object; readonly Uri: unknown }>(base: T) {
  const workspace: object = Object.create(base.workspace, {
    textDocuments: { get: () => [...editor.documents] },
    onDidOpenTextDocument: { value: editor.opened.event },
    onDidChangeTextDocument: { value: editor.changed.event },
    onDidCloseTextDocument: { value: editor.closed.event },
    onDidSaveTextDocument: { value: editor.saved.event },
    onDidCreateFiles: { value: editor.created.event },
    onDidDeleteFiles: { value: editor.deleted.event },
  });
  Object.assign(base.Uri as object, {
    joinPath: (uri: Uri, _up: string, name: string) => ({ path: uri.path.replace(/[^/]*$/, name) }),
  });
  class DiagnosticRelatedInformation {
    constructor(
      readonly location: object,
      readonly message: string,
    ) {}
  }
  const parts = {
    Position,
    Range,
    Diagnostic,
    CodeAction,
    CodeActionKind,
    WorkspaceEdit,
    Hover,
    CompletionItem,
  };
  return {
    ...base,
    ...parts,
    ...{ SnippetString, MarkdownString, DiagnosticRelatedInformation, languages, workspace },
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
    CompletionItemKind: { Module: 8, Property: 9, EnumMember: 19 },
  };
}
