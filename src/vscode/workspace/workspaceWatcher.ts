import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { FsChange, FsWatch } from '#core/container/fsChannelWatch.ts';
import { containerPath, uriOfContainerPath } from './containerPaths.ts';
import { isEditorFolder } from './editorFolder.ts';
import type { WorkspaceSession } from './workspaceSession.ts';
import type { WorkspaceSessions } from './workspaceSessions.ts';

/** Folders that are large, and that nobody edits by hand. */
const notLookedInto = ['.git', 'node_modules', '__pycache__'];

const types: Readonly<Record<FsChange['kind'], vscode.FileChangeType>> = {
  created: vscode.FileChangeType.Created,
  changed: vscode.FileChangeType.Changed,
  deleted: vscode.FileChangeType.Deleted,
};

/**
 * Looks for changes that programs in the container make: once a second for up to 10,000 files, rarer in larger
 * workspaces (`FsChannel.watch`), and only while VS Code watches something of the attempt and the container runs.
 */
export class WorkspaceWatcher implements Disposable {
  readonly #sessions: WorkspaceSessions;
  readonly #fire: (changes: readonly vscode.FileChangeEvent[]) => void;
  readonly #store = new DisposableStore();
  readonly #counts = new Map<string, number>();
  readonly #watches = new Map<string, { readonly session: WorkspaceSession; readonly watch: FsWatch }>();

  constructor(sessions: WorkspaceSessions, fire: (changes: readonly vscode.FileChangeEvent[]) => void) {
    this.#sessions = sessions;
    this.#fire = fire;
    this.#store.add(sessions.onDidOpen((session) => this.#update(session.id)));
    this.#store.add(sessions.onDidChange((session) => this.#update(session.id)));
  }

  /** One more who wants to know; the result is one less. Opens nothing: what is not open does not change. */
  watch(attemptId: string): Disposable {
    this.#counts.set(attemptId, (this.#counts.get(attemptId) ?? 0) + 1);
    this.#update(attemptId);
    let isOver = false;
    return {
      dispose: () => {
        if (isOver) return;
        isOver = true;
        this.#counts.set(attemptId, (this.#counts.get(attemptId) ?? 1) - 1);
        this.#update(attemptId);
      },
    };
  }

  #update(attemptId: string): void {
    const session = this.#sessions.current(attemptId);
    const isWanted = (this.#counts.get(attemptId) ?? 0) > 0 && session?.frozen === undefined;
    const running = this.#watches.get(attemptId);
    if (running && (!isWanted || running.session !== session)) {
      running.watch.dispose();
      this.#watches.delete(attemptId);
    }
    if (!isWanted || !session || this.#watches.has(attemptId)) return;
    const watch = session.open.files.watch(containerPath(session), { exclude: notLookedInto });
    watch.onDidChange((changes) => this.#tell(session, changes));
    // Beside a window that works in it, the container may stand still for good reason.
    watch.onDidFail(() => {
      if (!session.open.readOnly) void this.#sessions.checkAlive(session);
    });
    this.#watches.set(attemptId, { session, watch });
  }

  #tell(session: WorkspaceSession, changes: readonly FsChange[]): void {
    this.#fire(
      changes.flatMap(({ kind, path }) => {
        const uri = uriOfContainerPath(session, path);
        return uri && !isEditorFolder(path.slice(containerPath(session).length + 1))
          ? [{ type: types[kind], uri }]
          : [];
      }),
    );
  }

  dispose(): void {
    for (const { watch } of this.#watches.values()) watch.dispose();
    this.#watches.clear();
    this.#store.dispose();
  }
}
