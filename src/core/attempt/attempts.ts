import { rm } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, UserError } from '#core/base/errors.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { deleteWorkspace, findWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import type { GradeEvent } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { AttemptLocks } from './attemptLocks.ts';
import { type AttemptContext, type AttemptDeps, asUserErrors, eventsOf, taskOf } from './context.ts';
import { gradeAttempt } from './gradeAttempt.ts';
import { ensureWorkspace, openAttempt } from './openAttempt.ts';
import { listOrphans, removeOrphan } from './orphans.ts';
import { startAttempt } from './startAttempt.ts';
import { requireWorkable } from './states.ts';
import { takeSubmission } from './takeSubmission.ts';
import { runSetup } from './trySetup.ts';
import type {
  AttemptEvent,
  AttemptGradeOptions,
  AttemptRecord,
  OpenAttempt,
  OrphanedWorkspace,
  SetupResult,
  StartOptions,
} from './types.ts';
import { willNotTravel } from './willNotTravel.ts';
import { type LockOwner, lockOwner } from './windowLock.ts';

/**
 * Everything that is done with an attempt, for every front end (design.md §5). Errors: `UserError` for what a person
 * can do something about, the engine's failures among them; `CancelledError` when the signal fired.
 */
export class Attempts {
  readonly #context: AttemptContext;

  constructor(deps: AttemptDeps) {
    this.#context = { ...deps, locks: new AttemptLocks(deps.store), busy: new Set() };
  }

  /** Image, volume, container, spec and probe; ends with `ready`. Nothing is left of one that fails or is cancelled. */
  start(task: Task, options: StartOptions, signal: AbortSignal): AsyncGenerator<AttemptEvent> {
    return eventsOf((emit, stop) => startAttempt(this.#context, task, options, emit, stop), signal);
  }

  /** A session; read-only where another window has one. After a crash or reboot: the same volume, a new container. */
  open(id: string, signal: AbortSignal): Promise<OpenAttempt> {
    return asUserErrors(() => openAttempt(this.#context, id, signal));
  }

  /** Paths that changed in the container and are no part of a submission, the topmost. */
  willNotTravel(id: string, signal: AbortSignal = new AbortController().signal): Promise<readonly string[]> {
    const { store, locks } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      try {
        const [engine, record] = [await this.#connect(), await store.read(id)];
        return await locks.freezing(id, () => willNotTravel(engine, record, signal));
      } finally {
        await release();
      }
    });
  }

  /** setup.sh of the workspace as it is now, in a fresh container; the workspace itself stays as it is. */
  trySetup(id: string, onOutput: (chunk: string) => void, signal: AbortSignal): Promise<SetupResult> {
    const { store, locks } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      const folder = path.join(store.dirOf(id), '.setup');
      try {
        const record = await store.read(id);
        requireWorkable(record);
        const task = await taskOf(record);
        const engine = await this.#connect();
        const { container } = await ensureWorkspace(this.#context, engine, record, true, signal);
        const taken = await locks.freezing(id, () =>
          takeSubmission(record, folder, task, container, { thaw: locks.sessions.has(id), signal }),
        );
        return await runSetup(this.#context, engine, record, task, taken, onOutput, signal);
      } finally {
        await rm(folder, { recursive: true, force: true });
        await release();
      }
    });
  }

  /** An interim grade: the workspace is frozen only while its submission is taken. */
  grade(id: string, options: AttemptGradeOptions, signal: AbortSignal): AsyncGenerator<GradeEvent> {
    return eventsOf((emit, stop) => gradeAttempt(this.#context, id, false, options, emit, stop), signal);
  }

  /**
   * The final submission, kept and graded officially; the attempt is over with it, also when the engine failed and it
   * is `not graded`: then the same submission can be submitted again. Cancelled, nothing was submitted.
   */
  submit(id: string, signal: AbortSignal, options: AttemptGradeOptions = {}): AsyncGenerator<GradeEvent> {
    return eventsOf((emit, stop) => gradeAttempt(this.#context, id, true, options, emit, stop), signal);
  }

  /** Ends the attempt without a submission; its files stay until it is deleted. */
  giveUp(id: string): Promise<AttemptRecord> {
    const { store, locks } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      try {
        const record = await store.read(id);
        requireWorkable(record);
        const over = await store.move(id, 'gave-up');
        await this.#stop(id);
        return over;
      } finally {
        await release();
      }
    });
  }

  /** Container, volume and folder: gone for good. Refused while a window has it open. */
  delete(id: string): Promise<void> {
    const { store, locks } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      try {
        if (locks.sessions.has(id) || this.#context.busy.has(id))
          throw new UserError(`The attempt ${id} is open.`, { nextStep: 'Close it first.' });
        await deleteWorkspace(await this.#connect(), id);
        await store.delete(id);
      } finally {
        await release();
      }
    });
  }

  /** Who works in the attempt now, in whatever process; undefined when nobody does. */
  whoHas(id: string): Promise<LockOwner | undefined> {
    return lockOwner(this.#context.store.dirOf(id));
  }

  /** Volumes of attempts that are in no store of this machine, and in which nothing lives. */
  orphans(): Promise<readonly OrphanedWorkspace[]> {
    return asUserErrors(async () => listOrphans(this.#context, await this.#connect()));
  }

  /** `name` as `orphans` has it. */
  removeOrphan(name: string): Promise<void> {
    return asUserErrors(async () => removeOrphan(this.#context, await this.#connect(), name));
  }

  /** What is over needs no engine to be over. */
  async #stop(id: string): Promise<void> {
    try {
      await (await findWorkspaceContainer(await this.#connect(), id))?.kill();
    } catch (error) {
      this.#context.log.warn(`The container of ${id} could not be stopped: ${errorMessage(error)}`);
    }
  }

  #connect(): Promise<ContainerEngine> {
    return this.#context.connect();
  }
}
