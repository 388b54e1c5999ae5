import path from 'node:path';
import { compactSnapshots } from '#core/snapshot/compact.ts';
import { SnapshotStore } from '#core/snapshot/store.ts';
import type { AttemptStore } from './attemptStore.ts';

/** The stores of this process: `<attempt>/snapshots`, one each, so that nothing of it meets itself. */
export class AttemptSnapshots {
  readonly #attempts: AttemptStore;
  readonly #stores = new Map<string, SnapshotStore>();

  constructor(attempts: AttemptStore) {
    this.#attempts = attempts;
  }

  /** Errors: `UserError` when there is no such attempt. */
  of(id: string): SnapshotStore {
    const dir = path.join(this.#attempts.dirOf(id), 'snapshots');
    const store = this.#stores.get(dir) ?? new SnapshotStore(dir);
    this.#stores.set(dir, store);
    return store;
  }

  /** Drops what time has made needless. The caller has the attempt's lock. */
  async compact(id: string): Promise<void> {
    const store = this.of(id);
    if ((await store.newest()) !== undefined) await compactSnapshots(store);
  }
}
