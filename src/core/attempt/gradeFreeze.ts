import type { ContainerHandle } from '#core/container/engine.ts';
import type { AttemptContext } from './context.ts';
import type { Release } from './freezes.ts';
import type { AttemptRecord } from './types.ts';

/**
 * The freeze of a workspace for a grade, and the state that says it: `grading` while it is frozen. An interim grade's
 * lasts to its end, or until its submission is taken and the builder works on: `running` then.
 */
export class GradeFreeze {
  readonly #context: AttemptContext;
  readonly #id: string;
  readonly #container: ContainerHandle;
  #release: Release | undefined;
  /** An attempt that was paused is paused again when the grade is not made. */
  #wasPaused = false;
  #isTaken = false;
  #isWanted: boolean;
  #isOver = false;
  /** Set once the builder works on while the grade goes on. */
  #thawing: Promise<void> | undefined;
  /** Where no session is open, the grade that the builder works on beside stands in for one. */
  #isWorker = false;

  /** `keepWorking`: the builder wants to work on, said beforehand. */
  constructor(context: AttemptContext, id: string, container: ContainerHandle, keepWorking: boolean) {
    this.#context = context;
    this.#id = id;
    this.#container = container;
    this.#isWanted = keepWorking;
  }

  /** Frozen when it resolves; `end` has to follow, also where this fails. */
  async begin(reason: 'grade' | 'submit'): Promise<AttemptRecord> {
    const { store, freezes } = this.#context;
    this.#wasPaused = (await store.read(this.#id)).state === 'paused';
    const record = await store.move(this.#id, 'grading');
    this.#release = await freezes.hold(this.#id, this.#container, reason);
    return record;
  }

  /** The submission is taken: a builder who asked to work on can. */
  async taken(): Promise<void> {
    this.#isTaken = true;
    if (this.#isWanted) await this.keepWorking();
  }

  /** Thaws the workspace, or, before the submission is taken, remembers to. */
  async keepWorking(): Promise<void> {
    this.#isWanted = true;
    if (!this.#isTaken || this.#isOver) return;
    this.#thawing ??= this.#thaw();
    await this.#thawing;
  }

  /** The grade is over, however it ended. `isSubmitted`: so is the attempt, its container was ended. */
  async end(isSubmitted: boolean): Promise<void> {
    const { store, locks, freezes } = this.#context;
    this.#isOver = true;
    await this.#thawing?.catch(() => undefined);
    try {
      const { state } = await store.read(this.#id);
      const isOpen = locks.sessions.has(this.#id);
      if (state === 'grading' && this.#wasPaused)
        await store.move(this.#id, 'paused', { reason: 'its grade was not made' });
      else if (state === 'grading') await store.move(this.#id, isOpen ? 'running' : 'ready');
      else if (state === 'running' && !isOpen) await store.move(this.#id, 'ready');
    } finally {
      if (this.#isWorker) await freezes.leave(this.#id, this.#container).catch(() => undefined);
      await this.#release?.({ hasEnded: isSubmitted });
    }
  }

  async #thaw(): Promise<void> {
    const { store, locks, freezes } = this.#context;
    await store.move(this.#id, 'running', { reason: 'the builder works on while it is graded' });
    if (!locks.sessions.has(this.#id)) {
      this.#isWorker = true;
      await freezes.enter(this.#id, this.#container);
    }
    await this.#release?.();
  }
}
