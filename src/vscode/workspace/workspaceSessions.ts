import type { OpenAttempt } from '#core/attempt/types.ts';
import type { Disposable } from '#core/base/disposable.ts';
import { CancelledError, errorMessage } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import { WorkspaceSession } from './workspaceSession.ts';

export interface WorkspaceSessionsDeps {
  open(attemptId: string, signal: AbortSignal): Promise<OpenAttempt>;
  readonly log: Log;
}

/** VS Code asks for many files at once: one failure answers them all for this long. */
const failureHoldMs = 3_000;

interface Opening {
  readonly session: Promise<WorkspaceSession>;
  readonly controller: AbortController;
}

/** The attempts that are open in this window; opened when the first file is asked for, as after a reload. */
export class WorkspaceSessions implements Disposable {
  readonly #deps: WorkspaceSessionsDeps;
  readonly #openings = new Map<string, Opening>();
  readonly #sessions = new Map<string, WorkspaceSession>();
  readonly #opened = new Emitter<WorkspaceSession>();
  readonly #changed = new Emitter<WorkspaceSession>();
  readonly #failed = new Emitter<{ readonly attemptId: string; readonly error: unknown }>();
  #isStopped = false;

  /** Fires each time one was opened, also again after its container was lost. */
  readonly onDidOpen = this.#opened.event;
  /** Fires with a session whose state changed. */
  readonly onDidChange = this.#changed.event;
  readonly onDidFail = this.#failed.event;

  constructor(deps: WorkspaceSessionsDeps) {
    this.#deps = deps;
  }

  /** The open one, without opening it. */
  current(attemptId: string | undefined): WorkspaceSession | undefined {
    return attemptId === undefined ? undefined : this.#sessions.get(attemptId);
  }

  /** Opens it where it is not open. Rejects with what `open` said. */
  get(attemptId: string): Promise<WorkspaceSession> {
    const known = this.#openings.get(attemptId);
    if (known) return known.session;
    if (this.#isStopped) return Promise.reject(new CancelledError());
    const controller = new AbortController();
    const opening: Opening = { session: this.#open(attemptId, controller.signal), controller };
    this.#openings.set(attemptId, opening);
    opening.session.catch((error: unknown) => {
      this.#deps.log.warn(`The attempt ${attemptId} could not be opened: ${errorMessage(error)}`);
      this.#failed.fire({ attemptId, error });
      setTimeout(() => this.#forget(attemptId, opening), failureHoldMs).unref();
    });
    return opening.session;
  }

  /** Lets go of an attempt, for good or to open it anew: its container is frozen by the close. */
  async close(attemptId: string): Promise<void> {
    const opening = this.#openings.get(attemptId);
    if (!opening) return;
    this.#forget(attemptId, opening);
    opening.controller.abort();
    const session = await opening.session.catch(() => undefined);
    this.#sessions.delete(attemptId);
    session?.dispose();
    await session?.open.close();
  }

  /**
   * After a call failed because the container did not answer: where it does not run any more, or stands still since
   * another window closed, the attempt is opened anew, with the same volume; or it is told what became of it.
   */
  async checkAlive(session: WorkspaceSession): Promise<void> {
    if (this.#sessions.get(session.id) !== session || session.frozen !== undefined) return;
    try {
      const { running, paused } = await session.open.container.details();
      if (running && !paused) return;
    } catch {
      // Gone, or the engine is.
    }
    this.#deps.log.warn(`The container of the attempt ${session.id} does not run any more.`);
    if (this.#sessions.get(session.id) !== session) return;
    await this.close(session.id);
    // A failure is told by `onDidFail`.
    await this.get(session.id).catch(() => undefined);
  }

  /** Closes all of them: called when the window closes. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#openings.keys()].map((id) => this.close(id)));
  }

  async #open(attemptId: string, signal: AbortSignal): Promise<WorkspaceSession> {
    const session = new WorkspaceSession(await this.#deps.open(attemptId, signal));
    this.#sessions.set(attemptId, session);
    session.onDidChange(() => this.#changed.fire(session));
    this.#deps.log.info(`Opened the attempt ${attemptId}: its container ${session.open.how}.`);
    this.#opened.fire(session);
    return session;
  }

  #forget(attemptId: string, opening: Opening): void {
    if (this.#openings.get(attemptId) === opening) this.#openings.delete(attemptId);
  }

  dispose(): void {
    void this.stop();
    this.#opened.dispose();
    this.#changed.dispose();
    this.#failed.dispose();
  }
}
