/**
 * A working fake of the part of VS Code that the extension uses: trees, runs, settings and commands really work, in
 * plain Node. `fake` steers it and tells what happened. Tests import `vscode` for types and this file for `fake`.
 */

import { CancellationTokenSource, EventEmitter, FileSystemError, type Listener, Uri } from './basics.ts';
import { createLanguages, FakeDiagnostic } from './diagnostics.ts';
import { FakeInputBox, FakeQuickPick } from './quickInput.ts';
import { FakeTestItem, FakeTestItems } from './testItems.ts';
import { FakeRun } from './testRun.ts';

export { CancellationTokenSource, EventEmitter, FileSystemError, Uri };

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(a: number | Position, b: number | Position, line = 0, character = 0) {
    this.start = a instanceof Position ? a : new Position(a, b as number);
    this.end = b instanceof Position ? b : new Position(line, character);
  }
}

export class Location {
  readonly range: Range;
  constructor(
    readonly uri: Uri,
    place: Range | Position,
  ) {
    this.range = place instanceof Position ? new Range(place, place) : place;
  }
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  static readonly File = new ThemeIcon('file');
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}

export class MarkdownString {
  value = '';
  isTrusted = false;
  supportHtml = false;
  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
  appendText(text: string): this {
    this.value += text.replace(/[\\`*_{}[\]()#+\-!~<>]/g, '\\$&');
    return this;
  }
}

export class TreeItem {
  constructor(
    readonly label: string | { readonly label: string },
    readonly collapsibleState: number,
  ) {}
}

export class TerminalProfile {
  constructor(readonly options: unknown) {}
}

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const QuickInputButtons = { Back: 'back' };
export const ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 };
export const ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const TestRunProfileKind = { Run: 1, Debug: 2, Coverage: 3 };
export const UIKind = { Desktop: 1, Web: 2 };
export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 };
export const FileChangeType = { Changed: 1, Created: 2, Deleted: 3 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const FilePermission = { Readonly: 1 };
export const ExtensionMode = { Production: 1, Development: 2, Test: 3 };

export class TestMessage {
  expectedOutput?: string;
  actualOutput?: string;
  location?: Location;
  constructor(readonly message: string) {}
  static diff(message: string, expected: string, actual: string): TestMessage {
    return Object.assign(new TestMessage(message), { expectedOutput: expected, actualOutput: actual });
  }
}

export class TestRunRequest {
  constructor(
    readonly include?: readonly FakeTestItem[],
    readonly exclude?: readonly FakeTestItem[],
    readonly profile?: unknown,
  ) {}
}

type RunHandlerFake = (request: TestRunRequest, token: CancellationTokenSource['token']) => Promise<void>;

function createTestController(id: string, label: string) {
  return {
    id,
    label,
    items: new FakeTestItems(),
    createTestItem: (itemId: string, itemLabel: string, uri?: Uri) =>
      new FakeTestItem(itemId, itemLabel, uri),
    createRunProfile: (profileLabel: string, kind: number, handler: RunHandlerFake) => {
      fake.runHandler = handler;
      return { label: profileLabel, kind };
    },
    createTestRun: (request: TestRunRequest, name?: string) => {
      const run = new FakeRun(request, name, new CancellationTokenSource());
      fake.runs.push(run);
      return run;
    },
    dispose: () => undefined,
  };
}

interface WorkspaceFolderFake {
  readonly uri: Uri;
  readonly name: string;
}

type Picker = (items: readonly { label: string }[]) => { label: string } | undefined;

const configurationChanged = new EventEmitter<{ affectsConfiguration(key: string): boolean }>();

function initialState() {
  return {
    settings: new Map<string, unknown>(),
    workspaceSettings: new Map<string, unknown>(),
    /** Settings that an extension declares, with their defaults. */
    declaredSettings: new Map<string, unknown>(),
    /** Ids of the installed extensions. */
    extensions: new Set<string>(),
    extensionsChanged: new EventEmitter<void>(),
    clipboard: '',
    context: new Map<string, unknown>(),
    messages: [] as string[],
    /** Answers notifications with the title of an action. */
    answer: (_message: string, _actions: readonly string[]): string | undefined => undefined,
    /** Answers the quick picks that open, in order; a string picks by label. */
    picks: [] as (string | Picker)[],
    /** What the quick picks offered. */
    offered: [] as string[][],
    openDialog: undefined as readonly Uri[] | undefined,
    saveDialog: undefined as Uri | undefined,
    executed: [] as unknown[][],
    commands: new Map<string, (...args: unknown[]) => unknown>(),
    progress: [] as string[],
    progressSource: undefined as CancellationTokenSource | undefined,
    channel: [] as string[],
    opened: [] as string[],
    runs: [] as FakeRun[],
    runHandler: undefined as RunHandlerFake | undefined,
    workspaceFolders: [] as WorkspaceFolderFake[],
    trusted: true,
    treeViews: new Map<string, { message: string }>(),
    visible: new EventEmitter<{ visible: boolean }>(),
    statusBar: new Map<string, { text: string; tooltip: string; isShown: boolean }>(),
    terminals: [] as { name: string; pty: unknown }[],
    terminalOpened: new EventEmitter<object>(),
    terminalClosed: new EventEmitter<object>(),
    textDocuments: [] as { uri: Uri }[],
    /** The Problems view: "severity file:line message [source]". */
    problems: [] as readonly string[],
    documents: {
      opened: new EventEmitter<object>(),
      changed: new EventEmitter<object>(),
      saved: new EventEmitter<object>(),
      closed: new EventEmitter<object>(),
    },
    files: {
      created: new EventEmitter<object>(),
      deleted: new EventEmitter<object>(),
      renamed: new EventEmitter<object>(),
      /** By programs. */
      changed: new EventEmitter<Uri>(),
    },
    windowState: new EventEmitter<{ focused: boolean }>(),
    /** Answers the input boxes that open, in order. */
    inputs: [] as (string | undefined)[],
    /** What forms asked. */
    asked: [] as string[],
    savedAll: 0,
    fileSystems: new Map<string, { readFile(uri: Uri): Promise<Uint8Array> }>(),
  };
}

/** The state of the fake window; `reset` makes a new one for the next test. */
export const fake = Object.assign(initialState(), {
  reset: () => {
    Object.assign(fake, initialState());
  },
  /** Changes a setting as the person would. */
  set: (key: string, value: unknown) => {
    fake.settings.set(key, value);
    configurationChanged.fire({ affectsConfiguration: (asked) => asked === key });
  },
});

const nothing = { dispose: () => undefined };
const never = () => nothing;

function message(severity: string) {
  return async (text: string, ...rest: (string | object)[]) => {
    const actions = rest.filter((item): item is string => typeof item === 'string');
    fake.messages.push(`${severity}: ${text}${actions.length > 0 ? ` [${actions.join(', ')}]` : ''}`);
    return fake.answer(text, actions);
  };
}

export const window = {
  createOutputChannel: () => {
    const level = (name: string) => (text: string) => fake.channel.push(`${name} ${text}`);
    const levels = { trace: level('trace'), debug: level('debug'), info: level('info') };
    const show = () => fake.opened.push('log');
    return { ...levels, warn: level('warn'), error: level('error'), show, dispose: () => undefined };
  },
  createTreeView: (id: string) => {
    const view = { message: '', visible: false, onDidChangeVisibility: fake.visible.event, ...nothing };
    fake.treeViews.set(id, view);
    return {
      ...view,
      reveal: async () => undefined,
      set message(text: string) {
        view.message = text;
      },
    };
  },
  registerTreeDataProvider: never,
  registerTerminalProfileProvider: never,
  state: { focused: true },
  onDidChangeWindowState: (listener: Listener<{ focused: boolean }>) => fake.windowState.event(listener),
  createQuickPick: () => new FakeQuickPick(fake),
  createInputBox: () => new FakeInputBox(fake),
  showInputBox: async () => fake.inputs.shift(),
  onDidOpenTerminal: (listener: (terminal: object) => void) => fake.terminalOpened.event(listener),
  onDidCloseTerminal: (listener: (terminal: object) => void) => fake.terminalClosed.event(listener),
  activeTextEditor: undefined,
  createStatusBarItem: (id: string) => {
    const item = {
      text: '',
      tooltip: '',
      isShown: false,
      ...nothing,
      show: () => {
        item.isShown = true;
      },
      hide: () => {
        item.isShown = false;
      },
    };
    fake.statusBar.set(id, item);
    return item;
  },
  createTerminal: (options: { name: string; pty: unknown }) => {
    const terminal = {
      show: () => undefined,
      dispose: () => {
        fake.terminals = fake.terminals.filter((other) => other !== options);
        fake.terminalClosed.fire(terminal);
      },
    };
    fake.terminals.push(options);
    return terminal;
  },
  showInformationMessage: message('info'),
  showWarningMessage: message('warning'),
  showErrorMessage: message('error'),
  showQuickPick: async (given: readonly { label: string }[] | Promise<readonly { label: string }[]>) => {
    const items = await given;
    fake.offered.push(items.map((item) => item.label));
    const pick = fake.picks.shift();
    return typeof pick === 'string' ? items.find((item) => item.label.includes(pick)) : pick?.(items);
  },
  showOpenDialog: async () => fake.openDialog,
  showSaveDialog: async () => fake.saveDialog,
  showTextDocument: async (uri: Uri) => {
    fake.opened.push(String(uri));
  },
  withProgress: (options: { title: string }, work: (progress: unknown, token: unknown) => unknown) => {
    fake.progressSource = new CancellationTokenSource();
    const report = (value: { message?: string }) =>
      fake.progress.push(`${options.title}: ${value.message ?? ''}`);
    return work({ report }, fake.progressSource.token);
  },
};

export const workspace = {
  get workspaceFolders() {
    return fake.workspaceFolders;
  },
  get isTrusted() {
    return fake.trusted;
  },
  getWorkspaceFolder: (uri: Uri) =>
    fake.workspaceFolders.find((folder) => `${uri.path}/`.startsWith(`${folder.uri.path}/`)),
  getConfiguration: (section: string) => {
    const full = (name: string) => `${section}.${name}`;
    return {
      get: (name: string) => fake.workspaceSettings.get(full(name)) ?? fake.settings.get(full(name)),
      inspect: (name: string) => ({
        workspaceValue: fake.workspaceSettings.get(full(name)),
        defaultValue: fake.declaredSettings.get(full(name)),
      }),
      update: async (name: string, value: unknown, target: number) => {
        if (target === ConfigurationTarget.Workspace) fake.workspaceSettings.set(full(name), value);
        else fake.set(full(name), value);
      },
    };
  },
  get textDocuments() {
    return fake.textDocuments;
  },
  saveAll: async () => {
    fake.savedAll++;
    return true;
  },
  onDidChangeConfiguration: configurationChanged.event,
  onDidChangeWorkspaceFolders: never,
  onDidOpenTextDocument: (listener: Listener<object>) => fake.documents.opened.event(listener),
  onDidChangeTextDocument: (listener: Listener<object>) => fake.documents.changed.event(listener),
  onDidSaveTextDocument: (listener: Listener<object>) => fake.documents.saved.event(listener),
  onDidCloseTextDocument: (listener: Listener<object>) => fake.documents.closed.event(listener),
  onDidCreateFiles: (listener: Listener<object>) => fake.files.created.event(listener),
  onDidDeleteFiles: (listener: Listener<object>) => fake.files.deleted.event(listener),
  onDidRenameFiles: (listener: Listener<object>) => fake.files.renamed.event(listener),
  onDidGrantWorkspaceTrust: never,
  createFileSystemWatcher: () => ({
    onDidCreate: never,
    onDidChange: (listener: Listener<Uri>) => fake.files.changed.event(listener),
    onDidDelete: never,
    ...nothing,
  }),
  registerFileSystemProvider: (scheme: string, provider: { readFile(uri: Uri): Promise<Uint8Array> }) => {
    fake.fileSystems.set(scheme, provider);
    return nothing;
  },
};

export const commands = {
  registerCommand: (id: string, handler: (...args: unknown[]) => unknown) => {
    fake.commands.set(id, handler);
    return { dispose: () => fake.commands.delete(id) };
  },
  executeCommand: async (id: string, ...args: unknown[]) => {
    if (id === 'setContext') fake.context.set(String(args[0]), args[1]);
    else fake.executed.push([id, ...args]);
    return fake.commands.get(id)?.(...args);
  },
};

export const env = {
  appName: 'Fake Code',
  remoteName: undefined as string | undefined,
  uiKind: UIKind.Desktop,
  clipboard: { writeText: async (text: string) => void Object.assign(fake, { clipboard: text }) },
};

export const version = '1.100.0';
export const EndOfLine = { LF: 1, CRLF: 2 };

export const extensions = {
  get all() {
    const builtin = { id: 'vscode.git', packageJSON: { isBuiltin: true, version: '1.0.0' } };
    const others = [...fake.extensions].map((id) => ({ id, packageJSON: { version: '2.1.0' } }));
    return [builtin, ...others];
  },
  onDidChange: (listener: Listener<void>) => fake.extensionsChanged.event(listener),
  getExtension: (id: string) => [...fake.extensions].find((known) => known === id),
};

export const Diagnostic = FakeDiagnostic;
export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };

export const languages = createLanguages((problems) => {
  fake.problems = problems;
});

export const tests = { createTestController };
