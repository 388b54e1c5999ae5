import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { FsEntry, FsKind, FsStat } from '#core/container/fsChannelReplies.ts';
import { bytesToText, parseAttemptUri, workspaceScheme } from './attemptUri.ts';
import { containerPath } from './containerPaths.ts';
import { fileSystemError, isFsError } from './fileErrors.ts';
import { thawPatienceMs, type WorkspaceSession } from './workspaceSession.ts';
import type { WorkspaceSessions } from './workspaceSessions.ts';
import { WorkspaceWatcher } from './workspaceWatcher.ts';

const maxFileBytes = 256 << 20;
const maxKnownStats = 5_000;

interface Place {
  readonly session: WorkspaceSession;
  /** In the container, as bytes. */
  readonly path: string;
  readonly uri: vscode.Uri;
}

/** The files of an attempt's workspace, over the channel into its container. */
export class WorkspaceFiles implements vscode.FileSystemProvider, Disposable {
  readonly #sessions: WorkspaceSessions;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  readonly #watcher: WorkspaceWatcher;
  /** A frozen container gives no status, and VS Code wants one to show that an editor is read-only now. */
  readonly #known = new Map<string, FsStat>();

  readonly onDidChangeFile = this.#changed.event;

  constructor(sessions: WorkspaceSessions) {
    this.#sessions = sessions;
    this.#watcher = this.#store.add(
      new WorkspaceWatcher(sessions, (changes) => this.#changed.fire([...changes])),
    );
  }

  watch(uri: vscode.Uri): vscode.Disposable {
    const attemptId = parseAttemptUri(uri)?.attemptId;
    return attemptId === undefined ? { dispose: () => undefined } : this.#watcher.watch(attemptId);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { session, path } = await this.#place(uri);
    const known = this.#known.get(path);
    if (session.frozen !== undefined && known) return fileStat(known, true);
    return this.#try(uri, async () => {
      const stat = await session.open.files.stat(path);
      this.#remember(path, stat);
      return fileStat(stat, session.writeBlock !== undefined);
    });
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    return this.#try(uri, async ({ session, path }) => {
      const entries = await session.open.files.list(path);
      return entries.map((entry) => [bytesToText(entry.name), fileType(entry)]);
    });
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return this.#try(uri, ({ session, path }) => session.open.files.read(path, { maxBytes: maxFileBytes }));
  }

  async writeFile(
    uri: vscode.Uri,
    content: Uint8Array,
    options: { readonly create: boolean; readonly overwrite: boolean },
  ): Promise<void> {
    const isNew = await this.#change(uri, async ({ session, path }) => {
      const before = await session.open.files.exists(path);
      this.#remember(path, await session.open.files.write(path, content, options));
      return !before;
    });
    this.#fire([isNew ? vscode.FileChangeType.Created : vscode.FileChangeType.Changed, uri]);
  }

  async createDirectory(uri: vscode.Uri): Promise<void> {
    await this.#change(uri, ({ session, path }) => session.open.files.mkdir(path, { parents: false }));
    this.#fire([vscode.FileChangeType.Created, uri]);
  }

  async delete(uri: vscode.Uri, options: { readonly recursive: boolean }): Promise<void> {
    refuseRoot(uri);
    await this.#change(uri, ({ session, path }) =>
      session.open.files.delete(path, { recursive: options.recursive }),
    );
    this.#fire([vscode.FileChangeType.Deleted, uri]);
  }

  async rename(from: vscode.Uri, to: vscode.Uri, options: { readonly overwrite: boolean }): Promise<void> {
    refuseRoot(from);
    const target = targetOf(from, to);
    await this.#change(from, ({ session, path }) =>
      session.open.files.rename(path, containerPath(session, target), options),
    );
    this.#fire([vscode.FileChangeType.Deleted, from], [vscode.FileChangeType.Created, to]);
  }

  async copy(from: vscode.Uri, to: vscode.Uri, options: { readonly overwrite: boolean }): Promise<void> {
    const target = targetOf(from, to);
    await this.#change(from, ({ session, path }) =>
      session.open.files.copy(path, containerPath(session, target), options),
    );
    this.#fire([vscode.FileChangeType.Created, to]);
  }

  /** Lets VS Code ask again for what its editors show: whether they can be changed may be another now. */
  refreshEditors(session: WorkspaceSession): void {
    const uris = vscode.workspace.textDocuments
      .map(({ uri }) => uri)
      .filter((uri) => parseAttemptUri(uri)?.attemptId === session.id);
    this.#fire(
      ...uris.map((uri): [vscode.FileChangeType, vscode.Uri] => [vscode.FileChangeType.Changed, uri]),
    );
  }

  async #place(uri: vscode.Uri): Promise<Place> {
    const parsed = parseAttemptUri(uri);
    if (!parsed) throw vscode.FileSystemError.FileNotFound(uri);
    try {
      const session = await this.#sessions.get(parsed.attemptId);
      return { session, path: containerPath(session, parsed.path), uri };
    } catch (error) {
      throw fileSystemError(error, uri);
    }
  }

  /** A call that changes nothing; waits a moment for a frozen workspace. */
  async #try<T>(uri: vscode.Uri, work: (place: Place) => Promise<T>): Promise<T> {
    const place = await this.#place(uri);
    if (!(await place.session.whenThawed(thawPatienceMs))) {
      throw vscode.FileSystemError.Unavailable(place.session.frozen ?? 'The workspace is frozen.');
    }
    return this.#run(place, work);
  }

  async #change<T>(uri: vscode.Uri, work: (place: Place) => Promise<T>): Promise<T> {
    const place = await this.#place(uri);
    const { frozen, readOnly } = place.session;
    if (frozen !== undefined) throw vscode.FileSystemError.Unavailable(frozen);
    if (readOnly !== undefined) throw vscode.FileSystemError.NoPermissions(readOnly);
    return this.#run(place, work);
  }

  async #run<T>(place: Place, work: (place: Place) => Promise<T>): Promise<T> {
    try {
      return await work(place);
    } catch (error) {
      if (isFsError(error) && error.failure === 'unavailable') void this.#sessions.checkAlive(place.session);
      if (isFsError(error) && error.failure === 'not-found') this.#known.delete(place.path);
      throw fileSystemError(error, place.uri);
    }
  }

  #remember(path: string, stat: FsStat): void {
    if (this.#known.size >= maxKnownStats) this.#known.clear();
    this.#known.set(path, stat);
  }

  #fire(...changes: readonly [vscode.FileChangeType, vscode.Uri][]): void {
    if (changes.length > 0) this.#changed.fire(changes.map(([type, uri]) => ({ type, uri })));
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** Serves the scheme; editors and folders that a window restores wake the extension by `onFileSystem`. */
export function registerWorkspaceFiles(files: WorkspaceFiles): Disposable {
  return vscode.workspace.registerFileSystemProvider(workspaceScheme, files, { isCaseSensitive: true });
}

function targetOf(from: vscode.Uri, to: vscode.Uri): string {
  const source = parseAttemptUri(from);
  const target = parseAttemptUri(to);
  if (!source || !target || target.path === '') throw vscode.FileSystemError.FileNotFound(to);
  if (source.attemptId !== target.attemptId) {
    throw vscode.FileSystemError.NoPermissions('Files are not moved from one attempt to another.');
  }
  return target.path;
}

function refuseRoot(uri: vscode.Uri): void {
  if (parseAttemptUri(uri)?.path !== '') return;
  throw vscode.FileSystemError.NoPermissions(
    'The folder of the workspace itself stays. Delete the attempt instead.',
  );
}

function fileStat(stat: FsStat, isReadonly: boolean): vscode.FileStat {
  return {
    type: fileType(stat),
    ctime: Math.floor(stat.ctimeMs),
    mtime: Math.floor(stat.mtimeMs),
    size: stat.size,
    ...(isReadonly ? { permissions: vscode.FilePermission.Readonly } : {}),
  };
}

const kinds: Readonly<Record<FsKind, vscode.FileType>> = {
  file: vscode.FileType.File,
  directory: vscode.FileType.Directory,
  other: vscode.FileType.Unknown,
};

function fileType({ kind, symbolicLink }: Pick<FsEntry, 'kind' | 'symbolicLink'>): vscode.FileType {
  return symbolicLink ? kinds[kind] | vscode.FileType.SymbolicLink : kinds[kind];
}
