import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { FsEntry, FsKind, FsStat } from '#core/container/fsChannelReplies.ts';
import { aiSettings, isSettingsFile } from '#vscode/baseline/aiFeatures.ts';
import { attemptUri, bytesToText, parseAttemptUri, workspaceScheme } from './attemptUri.ts';
import { containerPath } from './containerPaths.ts';
import { editorFolder, refuseToRead, refuseToWrite } from './editorFolder.ts';
import { fileSystemError, isFsError } from './fileErrors.ts';
import { largeFileBytes, readLargeFile, whileSaving } from './largeFiles.ts';
import { thawPatienceMs, type WorkspaceSession } from './workspaceSession.ts';
import type { WorkspaceSessions } from './workspaceSessions.ts';
import { WorkspaceWatcher } from './workspaceWatcher.ts';

const maxKnownStats = 5_000;

/** Whether it can be opened or not; undefined where there is no such attempt. */
export type FindAttempt = (attemptId: string) => Promise<Pick<AttemptRecord, 'protocol'> | undefined>;

/** A folder that nothing can be made in now. */
const emptyFolder: vscode.FileStat = {
  ...{ type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 },
  permissions: vscode.FilePermission.Readonly,
};

interface Place {
  readonly session: WorkspaceSession;
  /** In the container, as bytes. */
  readonly path: string;
  readonly uri: vscode.Uri;
}

/** The files of an attempt's workspace, over the channel into its container. */
export class WorkspaceFiles implements vscode.FileSystemProvider, Disposable {
  readonly #sessions: WorkspaceSessions;
  readonly #find: FindAttempt;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  readonly #watcher: WorkspaceWatcher;
  /** A frozen container gives no status, and VS Code wants one to show that an editor is read-only now. */
  readonly #known = new Map<string, FsStat>();

  readonly onDidChangeFile = this.#changed.event;

  constructor(sessions: WorkspaceSessions, find: FindAttempt) {
    this.#sessions = sessions;
    this.#find = find;
    this.#watcher = this.#store.add(
      new WorkspaceWatcher(sessions, (changes) => this.#changed.fire([...changes])),
    );
  }

  watch(uri: vscode.Uri): vscode.Disposable {
    const attemptId = parseAttemptUri(uri)?.attemptId;
    return attemptId === undefined ? { dispose: () => undefined } : this.#watcher.watch(attemptId);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const settings = await this.#settings(uri);
    if (settings) return { ...emptyFolder, type: vscode.FileType.File, size: settings.length };
    refuseToRead(uri);
    const root = await this.#rootThatIsNotOpen(uri);
    if (root) return root;
    const { session, path } = await this.#place(uri);
    if (session.isWaiting && path === containerPath(session)) return emptyFolder;
    const known = this.#known.get(path);
    if (session.frozen !== undefined && known) return fileStat(known, true);
    return this.#try(uri, async () => {
      const stat = await session.open.files.stat(path);
      this.#remember(path, stat);
      return fileStat(stat, session.writeBlock !== undefined);
    });
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    refuseToRead(uri);
    const place = await this.#place(uri);
    // Its spec is among them.
    if (place.session.isWaiting) return [];
    return this.#try(uri, async ({ session, path }) => {
      const entries = await session.open.files.list(path);
      const shown =
        path === containerPath(session) ? entries.filter(({ name }) => name !== editorFolder) : entries;
      return shown.map((entry) => [bytesToText(entry.name), fileType(entry)]);
    });
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const settings = await this.#settings(uri);
    if (settings) return settings;
    refuseToRead(uri);
    return this.#try(uri, async ({ session, path }) => {
      const { files } = session.open;
      const large = (): Promise<Uint8Array> => readLargeFile(files, path, posix.basename(uri.path));
      if ((this.#known.get(path)?.size ?? 0) > largeFileBytes) return large();
      try {
        return await files.read(path, { maxBytes: largeFileBytes });
      } catch (error) {
        if (isFsError(error) && error.failure === 'too-large') return large();
        throw error;
      }
    });
  }

  async writeFile(
    uri: vscode.Uri,
    content: Uint8Array,
    options: { readonly create: boolean; readonly overwrite: boolean },
  ): Promise<void> {
    refuseToWrite(uri);
    const isNew = await this.#change(uri, async ({ session, path }) => {
      const before = await session.open.files.exists(path);
      const writing = session.open.files.write(path, content, options);
      this.#remember(path, await whileSaving(posix.basename(uri.path), content.length, writing));
      return !before;
    });
    this.#fire([isNew ? vscode.FileChangeType.Created : vscode.FileChangeType.Changed, uri]);
  }

  async createDirectory(uri: vscode.Uri): Promise<void> {
    refuseToWrite(uri);
    await this.#change(uri, ({ session, path }) => session.open.files.mkdir(path, { parents: false }));
    this.#fire([vscode.FileChangeType.Created, uri]);
  }

  async delete(uri: vscode.Uri, options: { readonly recursive: boolean }): Promise<void> {
    refuseRoot(uri);
    refuseToRead(uri);
    await this.#change(uri, ({ session, path }) =>
      session.open.files.delete(path, { recursive: options.recursive }),
    );
    this.#fire([vscode.FileChangeType.Deleted, uri]);
  }

  async rename(from: vscode.Uri, to: vscode.Uri, options: { readonly overwrite: boolean }): Promise<void> {
    refuseRoot(from);
    refuseToRead(from);
    const target = targetOf(from, to);
    await this.#change(from, ({ session, path }) =>
      session.open.files.rename(path, containerPath(session, target), options),
    );
    this.#fire([vscode.FileChangeType.Deleted, from], [vscode.FileChangeType.Created, to]);
  }

  async copy(from: vscode.Uri, to: vscode.Uri, options: { readonly overwrite: boolean }): Promise<void> {
    refuseToRead(from);
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

  /** Tells of all that is at the top of a workspace: of one that was empty for VS Code until now. */
  async tellOfTop(session: WorkspaceSession): Promise<void> {
    const entries = await this.readDirectory(attemptUri(session.id));
    this.#fire(
      ...entries.map(([name]): [vscode.FileChangeType, vscode.Uri] => [
        vscode.FileChangeType.Created,
        vscode.Uri.joinPath(attemptUri(session.id), name),
      ]),
    );
  }

  /**
   * The folder of an attempt that cannot be opened is there all the same, else VS Code says that the workspace does not
   * exist; what is in it cannot be listed, and why was told.
   */
  async #rootThatIsNotOpen(uri: vscode.Uri): Promise<vscode.FileStat | undefined> {
    const { attemptId, path } = parseAttemptUri(uri) ?? {};
    if (attemptId === undefined || path !== '') return undefined;
    const isOpen = await this.#sessions.get(attemptId).then(
      () => true,
      () => false,
    );
    return isOpen || !(await this.#find(attemptId)) ? undefined : emptyFolder;
  }

  /** The settings that an attempt without AI has; VS Code asks for them before the attempt is open. */
  async #settings(uri: vscode.Uri): Promise<Uint8Array | undefined> {
    if (!isSettingsFile(uri)) return undefined;
    const attempt = await this.#find(parseAttemptUri(uri)?.attemptId ?? '');
    return attempt?.protocol?.aiPolicy === 'none' ? Buffer.from(aiSettings(), 'utf8') : undefined;
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
  refuseToWrite(to);
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
