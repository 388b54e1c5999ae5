import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { findWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import type { GradeEvent } from '#core/grading/types.ts';
import type { AttemptContext } from './context.ts';
import type { Release } from './freezes.ts';
import { gradeAttempt } from './gradeAttempt.ts';
import { holdPause } from './pauseAttempt.ts';
import { isOver } from './states.ts';

const reason = 'its time is up';
const busyMs = 200;

/** Submits attempts whose time is up. */
export class TimeOuts {
  readonly #context: AttemptContext;
  readonly #running = new Map<string, Promise<void>>();

  constructor(context: AttemptContext) {
    this.#context = context;
  }

  /** Resolves when none is under way. */
  async settled(id: string): Promise<void> {
    await this.#running.get(id);
  }

  /**
   * Nothing moves from here on, and what there is is submitted. Where that fails, the attempt is paused and can only be
   * submitted. One at a time; never throws. The caller has the lock.
   */
  async submit(id: string): Promise<void> {
    const running = this.#running.get(id) ?? this.#submit(id);
    this.#running.set(id, running);
    await running;
    this.#running.delete(id);
  }

  async #submit(id: string): Promise<void> {
    const { log } = this.#context;
    try {
      const engine = await this.#context.connect();
      const container = await findWorkspaceContainer(engine, id);
      await this.#submitFrozen(id, container);
    } catch (error) {
      log.error(`${id}, whose time is up: ${errorMessage(error)}`);
    }
  }

  async #submitFrozen(id: string, container: ContainerHandle | undefined): Promise<void> {
    const { store, freezes, busy, log } = this.#context;
    const told = (event: GradeEvent): void => {
      if (event.kind === 'phase') log.info(`${id}, whose time is up: ${event.title}`);
    };
    // One that does not run cannot be frozen, and need not.
    const release: Release | undefined = container
      ? await freezes.hold(id, container, 'submit').catch(() => undefined)
      : undefined;
    try {
      while (busy.has(id)) await delay(busyMs);
      if (isOver((await store.read(id)).state)) return;
      await gradeAttempt(this.#context, id, true, { isTimeUp: true }, told, new AbortController().signal);
    } catch (error) {
      log.error(`${id} could not be submitted when its time was up: ${errorMessage(error)}`);
      const { state } = await store.read(id);
      if (state === 'running' || state === 'ready') await store.move(id, 'paused', { reason });
      if (container && !isOver(state)) await holdPause(this.#context, id, container);
    } finally {
      await release?.({ hasEnded: isOver((await store.read(id)).state) });
    }
  }
}
