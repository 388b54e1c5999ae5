import { errorMessage, throwIfCancelled } from '#core/base/errors.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import type { SnapshotStore } from './store.ts';
import { SnapshotDamagedError } from './types.ts';

export interface SnapshotDamage {
  /** A sentence that names the file in the store. */
  readonly problem: string;
  /** Ids of the snapshots that it spoils. */
  readonly snapshots: readonly string[];
  /** Some of the paths whose content it is, for people; none where it is a whole snapshot. */
  readonly paths: readonly string[];
}

const maxPaths = 10;

/** Reads every head, tree and content; what is torn, missing or altered, and whom it concerns. */
export async function verifySnapshots(
  store: SnapshotStore,
  signal?: AbortSignal,
): Promise<readonly SnapshotDamage[]> {
  store.blobs.forget();
  const { heads, damaged } = await store.list();
  const found = damaged.map(
    ({ id, error }): SnapshotDamage => ({ problem: error.message, snapshots: [id], paths: [] }),
  );
  const users = new Map<string, { snapshots: Set<string>; paths: Set<string> }>();
  for (const head of heads) {
    throwIfCancelled(signal);
    try {
      for (const { sha256, name } of await store.entries(head)) {
        if (!sha256) continue;
        const user = users.get(sha256) ?? { snapshots: new Set(), paths: new Set() };
        users.set(sha256, user);
        user.snapshots.add(head.id);
        if (user.paths.size < maxPaths) user.paths.add(fromBinary(name));
      }
    } catch (error) {
      if (!(error instanceof SnapshotDamagedError)) throw error;
      found.push({ problem: error.message, snapshots: [head.id], paths: [] });
    }
  }
  for (const [sha256, { snapshots, paths }] of users) {
    throwIfCancelled(signal);
    try {
      for await (const _ of store.blobs.stream(sha256));
    } catch (error) {
      if (!(error instanceof SnapshotDamagedError)) throw error;
      found.push({ problem: errorMessage(error), snapshots: [...snapshots], paths: [...paths] });
    }
  }
  return found;
}
