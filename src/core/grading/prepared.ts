import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import {
  containerSpec,
  type GradeContainerOptions,
  makeContainer,
  removeContainer,
} from './gradeContainer.ts';

/** How long a prepared container waits for a grade, from the last sign of work on. */
const idleMs = 5 * 60_000;

export interface PreparedDeps {
  readonly connect: () => Promise<ContainerEngine>;
  readonly log: Log;
}

/** What a grade is told of the container that waits for it, and tells of the one that the next will want. */
export interface Preparation {
  /** One that was made by the same options, is started, and was never used; it is the caller's to remove. */
  take(engine: ContainerEngine, options: GradeContainerOptions): Promise<ContainerHandle | undefined>;
  /** The next grade's container will be made by these. */
  remember(options: GradeContainerOptions): void;
}

interface Made {
  readonly engine: ContainerEngine;
  readonly container: ContainerHandle;
}

interface Waiting {
  readonly key: string;
  readonly made: Promise<Made | undefined>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Containers that are started while their grade is still to come: at work on something that was graded before, the next
 * grade is near. Each is used once, by a grade that would have made the same one, or removed when the work rests. They are
 * grade containers to the reaper, so that none outlives this process for long.
 */
export class PreparedContainers {
  readonly #deps: PreparedDeps;
  readonly #wanted = new Map<string, GradeContainerOptions>();
  readonly #waiting = new Map<string, Waiting>();

  constructor(deps: PreparedDeps) {
    this.#deps = deps;
  }

  /** For the grades of one thing, an attempt. */
  of(id: string): Preparation {
    return {
      take: (engine, options) => this.#take(id, engine, options),
      remember: (options) => void this.#wanted.set(id, options),
    };
  }

  /** Somebody works on it. */
  expect(id: string): void {
    const waiting = this.#waiting.get(id);
    const options = this.#wanted.get(id);
    if (waiting) waiting.timer.refresh();
    else if (options) {
      const timer = setTimeout(() => void this.#remove(id), idleMs);
      timer.unref();
      this.#waiting.set(id, { key: keyOf(options), made: this.#make(id, options), timer });
    }
  }

  /** Nobody works on it any more. */
  async drop(id: string): Promise<void> {
    this.#wanted.delete(id);
    await this.#remove(id);
  }

  async #make(id: string, options: GradeContainerOptions): Promise<Made | undefined> {
    try {
      const engine = await this.#deps.connect();
      const container = await makeContainer(engine, { ...options, log: this.#deps.log });
      try {
        await container.start();
        return { engine, container };
      } catch (error) {
        await removeContainer(engine, container, this.#deps.log);
        throw error;
      }
    } catch (error) {
      // A grade says it better; until then nothing is prepared any more.
      this.#wanted.delete(id);
      this.#deps.log.debug(`No container was prepared: ${errorMessage(error)}`);
      return undefined;
    }
  }

  async #take(
    id: string,
    engine: ContainerEngine,
    options: GradeContainerOptions,
  ): Promise<ContainerHandle | undefined> {
    const waiting = this.#release(id);
    const made = await waiting?.made;
    if (!made) return undefined;
    try {
      // An engine that is another one, or that was stopped meanwhile, has none that runs.
      const found =
        waiting?.key === keyOf(options) ? await engine.findContainer(made.container.id) : undefined;
      if (found && (await found.state()).running) return found;
    } catch (error) {
      this.#deps.log.debug(`The prepared container is of no use: ${errorMessage(error)}`);
    }
    await removeContainer(made.engine, made.container, this.#deps.log);
    return undefined;
  }

  async #remove(id: string): Promise<void> {
    const made = await this.#release(id)?.made;
    if (made) await removeContainer(made.engine, made.container, this.#deps.log);
  }

  #release(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

function keyOf(options: GradeContainerOptions): string {
  return JSON.stringify(containerSpec(options));
}
