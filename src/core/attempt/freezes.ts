import { CancelledError, errorMessage } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import type { ContainerHandle } from '#core/container/engine.ts';

/**
 * Why a workspace stands still while somebody works in it. `grade`: an interim grade, to its end or until the builder
 * works on; `submit`: the final one; `setup`: its files are taken for a try of setup.sh; `snapshot`: they are
 * taken to be kept; `comparison`: a look of milliseconds at what changed; `pause`: the builder, or the machine, stopped the clock.
 */
export type FreezeReason = 'grade' | 'submit' | 'setup' | 'snapshot' | 'comparison' | 'pause';

/** What became of the container itself: frozen, with why (`closed`: nobody works in it), or about to run. */
export interface FreezeSettlement {
  readonly id: string;
  readonly isFrozen: boolean;
  readonly reason: FreezeReason | 'closed';
}

/** A workspace was frozen, or thawed where there is no reason (any more). */
export interface FreezeChange {
  readonly id: string;
  readonly reason: FreezeReason | undefined;
}

/** What `Freezes` uses of a container. */
type Freezable = Pick<ContainerHandle, 'pause' | 'unpause'>;

/** `hasEnded`: the container was ended meanwhile, and there is nothing to thaw. */
export type Release = (options?: { readonly hasEnded?: boolean }) => Promise<void>;

interface Freeze {
  readonly holds: Set<{ readonly reason: FreezeReason }>;
  workers: number;
  told: FreezeReason | undefined;
  /** As the engine was last told; undefined: unknown. */
  isFrozen: boolean | undefined;
  /** One change at a time: nobody thaws what another just freezes. */
  turn: Promise<unknown>;
}

/**
 * The one place that freezes and thaws workspaces. Rule: a workspace stands still exactly while nobody works in it, or
 * something holds it; the attempt's clock goes by the same rule (design.md §5).
 */
export class Freezes {
  readonly #log: Log;
  readonly #freezes = new Map<string, Freeze>();
  readonly #changed = new Emitter<FreezeChange>();
  readonly #settled = new Emitter<FreezeSettlement>();
  /** Awaited before a container runs: what watches over it has to be there. */
  beforeThaw: (id: string) => Promise<void> = () => Promise.resolve();
  /** Keeps what `onDidSettle` told; awaited before a container runs, so that no crash makes a clock stand while it does. */
  persist: (id: string) => Promise<void> = () => Promise.resolve();

  /** Fires before it is frozen and after it is thawed. */
  readonly onDidChange = this.#changed.event;
  /** The other way round: after it is frozen and before it is thawed, so that a clock never stands while work goes on. */
  readonly onDidSettle = this.#settled.event;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Why it is held now; undefined while it runs, and while nobody works in it. */
  reasonOf(id: string): FreezeReason | undefined {
    return [...(this.#freezes.get(id)?.holds ?? [])][0]?.reason;
  }

  /** Somebody works in it from here on: it runs, unless it is held. Once a `leave`. */
  async enter(id: string, container: Freezable): Promise<void> {
    const freeze = this.#of(id);
    freeze.workers++;
    try {
      await this.#settle(id, freeze, container);
    } catch (error) {
      freeze.workers--;
      throw error;
    }
  }

  /** The last one who leaves freezes it; without a container it has ended by itself. */
  async leave(id: string, container: Freezable | undefined): Promise<void> {
    const freeze = this.#of(id);
    freeze.workers--;
    try {
      if (container) await this.#settle(id, freeze, container);
    } finally {
      // One that ended by itself is not what it was: the next who enters a new one thaws it, and the clock is told.
      if (freeze.workers === 0 && freeze.isFrozen !== true) freeze.isFrozen = undefined;
    }
  }

  /** Frozen when it resolves; the result lets go of it, without errors, and a second call of it does nothing. */
  async hold(id: string, container: Freezable, reason: FreezeReason): Promise<Release> {
    const freeze = this.#of(id);
    const hold = { reason };
    freeze.holds.add(hold);
    const release: Release = async ({ hasEnded = false } = {}) => {
      if (!freeze.holds.delete(hold)) return;
      if (hasEnded) {
        this.#tell(id, freeze, this.reasonOf(id));
        return;
      }
      try {
        await this.#settle(id, freeze, container);
      } catch (error) {
        this.#log.warn(`The freeze of ${id} did not end as it should: ${errorMessage(error)}`);
      }
    };
    try {
      await this.#settle(id, freeze, container);
      return release;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Nothing moves in it while the work is done. */
  async during<T>(
    id: string,
    container: Freezable,
    reason: FreezeReason,
    work: () => Promise<T>,
  ): Promise<T> {
    const release = await this.hold(id, container, reason);
    try {
      return await work();
    } finally {
      await release();
    }
  }

  /** Somebody else froze the container: as it should be, again. */
  async resettle(id: string, container: Freezable): Promise<void> {
    const freeze = this.#of(id);
    freeze.isFrozen = undefined;
    await this.#settle(id, freeze, container);
  }

  /** The container, but what is started in it while it is held waits: the engine refuses it then. */
  through(id: string, container: ContainerHandle): ContainerHandle {
    const exec: ContainerHandle['exec'] = async (spec, signal) => {
      await this.#whenFree(id, signal);
      return container.exec(spec, signal);
    };
    const interact: ContainerHandle['interact'] = async (spec, signal) => {
      await this.#whenFree(id, signal);
      return container.interact(spec, signal);
    };
    return new Proxy(container, {
      get(target, key) {
        if (key === 'exec') return exec;
        if (key === 'interact') return interact;
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #of(id: string): Freeze {
    const freeze = this.#freezes.get(id) ?? {
      holds: new Set(),
      workers: 0,
      told: undefined,
      isFrozen: undefined,
      turn: Promise.resolve(),
    };
    this.#freezes.set(id, freeze);
    return freeze;
  }

  async #settle(id: string, freeze: Freeze, container: Freezable): Promise<void> {
    const change = freeze.turn.then(async () => {
      const isFrozen = freeze.holds.size > 0 || freeze.workers <= 0;
      const reason = this.reasonOf(id);
      if (reason !== undefined) this.#tell(id, freeze, reason);
      try {
        await this.#freezeOrThaw(id, freeze, container, isFrozen, reason ?? 'closed');
      } finally {
        if (reason === undefined) this.#tell(id, freeze, reason);
      }
    });
    freeze.turn = change.catch(() => undefined);
    await change;
  }

  async #freezeOrThaw(
    id: string,
    freeze: Freeze,
    container: Freezable,
    isFrozen: boolean,
    reason: FreezeReason | 'closed',
  ): Promise<void> {
    const wasFrozen = freeze.isFrozen;
    freeze.isFrozen = isFrozen;
    if (isFrozen) {
      try {
        await container.pause();
      } catch (error) {
        freeze.isFrozen = wasFrozen;
        throw error;
      }
      if (wasFrozen !== true) this.#settled.fire({ id, isFrozen, reason });
      void this.persist(id);
      return;
    }
    if (wasFrozen !== false) {
      await this.beforeThaw(id);
      this.#settled.fire({ id, isFrozen, reason });
      await this.persist(id);
    }
    try {
      await container.unpause();
    } catch (error) {
      freeze.isFrozen = wasFrozen;
      if (wasFrozen !== false) this.#settled.fire({ id, isFrozen: true, reason });
      throw error;
    }
  }

  #tell(id: string, freeze: Freeze, reason: FreezeReason | undefined): void {
    if (freeze.told === reason) return;
    freeze.told = reason;
    this.#changed.fire({ id, reason });
  }

  /** By what was told: a hold is over for others once the container runs again. */
  #whenFree(id: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#freezes.get(id)?.told === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = (done: () => void) => (): void => {
        listening.dispose();
        signal?.removeEventListener('abort', onAbort);
        done();
      };
      const onAbort = settle(() => reject(new CancelledError()));
      const onFree = settle(resolve);
      const listening = this.#changed.event((change) => {
        if (change.id === id && change.reason === undefined) onFree();
      });
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
