import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '#core/base/errors.ts';
import type { AttemptStore } from './attemptStore.ts';
import { isLock, type LockOwner, takeLock, type WindowLock } from './windowLock.ts';

const retryMs = 100;

/** The attempts that this process works in. A lock is one file, whoever needs it here: the last one gives it back. */
export class AttemptLocks {
  readonly #store: AttemptStore;
  readonly #held = new Map<string, { lock: WindowLock; users: number }>();
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Attempts with a session here that may write. */
  readonly sessions = new Set<string>();
  /** Awaited before a lock is given back: nobody else may write yet. */
  beforeRelease: (id: string) => Promise<void> = () => Promise.resolve();

  constructor(store: AttemptStore) {
    this.#store = store;
  }

  /** A function that gives it back, or who has it, also after some patience. */
  take(id: string, patienceMs = 0): Promise<(() => Promise<void>) | LockOwner> {
    return this.#inTurn(id, async () => {
      const held = this.#held.get(id);
      if (held) held.users++;
      else {
        const until = Date.now() + patienceMs;
        let taken = await takeLock(this.#store.dirOf(id));
        while (!isLock(taken) && Date.now() < until) {
          await delay(retryMs);
          taken = await takeLock(this.#store.dirOf(id));
        }
        if (!isLock(taken)) return taken;
        this.#held.set(id, { lock: taken, users: 1 });
      }
      let isBack = false;
      return async () => {
        if (isBack) return;
        isBack = true;
        await this.#inTurn(id, () => this.#giveBack(id));
      };
    });
  }

  /** Errors: `UserError` when another process works in it. */
  async require(id: string): Promise<() => Promise<void>> {
    const taken = await this.take(id);
    if (typeof taken === 'function') return taken;
    throw lockedError(id, taken);
  }

  async #giveBack(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (!held || --held.users > 0) return;
    this.#held.delete(id);
    await this.beforeRelease(id);
    await held.lock.release();
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(work);
    const settled = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(id) === settled) this.#turns.delete(id);
      });
    this.#turns.set(id, settled);
    return turn;
  }
}

function lockedError(id: string, { pid, at }: LockOwner): UserError {
  return new UserError(
    pid > 0
      ? `The attempt ${id} is open in another window (process ${pid}, since ${at}).`
      : `The attempt ${id} is just being opened in another window.`,
    { nextStep: 'Close it there first.' },
  );
}
