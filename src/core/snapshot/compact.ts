import type { SnapshotStore } from './store.ts';
import { isPeriodic, SnapshotDamagedError, type SnapshotHead } from './types.ts';

const minute = 60_000;
/** Of periodic snapshots of this age and less, the newest of each window stays: [age, window], milliseconds. */
const rule: readonly (readonly [number, number])[] = [
  [60 * minute, 0],
  [24 * 60 * minute, 10 * minute],
  [Number.POSITIVE_INFINITY, 60 * minute],
];

export interface CompactResult {
  /** Ids. */
  readonly removed: readonly string[];
  readonly blobsRemoved: number;
  readonly bytesFreed: number;
  /** Why contents were left although snapshots went: what cannot be read may still need them. */
  readonly held?: string;
}

/**
 * The periodic snapshots to drop: all of the last hour stay, then one in ten minutes, after a day one an hour. Those of
 * grades, submissions, forks, resets and by hand stay always, so do pinned ones and the newest.
 */
export function planCompaction(heads: readonly SnapshotHead[], now: number): string[] {
  const windows = new Set<string>();
  const drop: string[] = [];
  for (const [index, head] of heads.toReversed().entries()) {
    if (index === 0 || !isPeriodic(head)) continue;
    const at = Date.parse(head.at);
    const step = rule.find(([age]) => now - at <= age)?.[1] ?? 0;
    if (step === 0 || Number.isNaN(at)) continue;
    const window = `${step}:${Math.floor(at / step)}`;
    if (windows.has(window)) drop.push(head.id);
    windows.add(window);
  }
  return drop;
}

/** Drops what `planCompaction` says, then contents that no snapshot needs. The caller has the attempt's lock. */
export function compactSnapshots(store: SnapshotStore, now = Date.now()): Promise<CompactResult> {
  return store.exclusively(async () => {
    const { heads } = await store.list();
    const removed = planCompaction(heads, now);
    await store.removeHeads(removed);
    return { removed, ...(await removeUnneeded(store)) };
  });
}

async function removeUnneeded(store: SnapshotStore): Promise<Omit<CompactResult, 'removed'>> {
  const { heads, damaged } = await store.list();
  const nothing = { blobsRemoved: 0, bytesFreed: 0 };
  if (damaged[0]) return { ...nothing, held: damaged[0].error.message };
  store.blobs.forget();
  const needed = new Set<string>();
  for (const tree of new Set(heads.map(({ tree }) => tree))) {
    needed.add(tree);
    try {
      for (const { sha256 } of await store.entries({ tree })) if (sha256) needed.add(sha256);
    } catch (error) {
      if (!(error instanceof SnapshotDamagedError)) throw error;
      return { ...nothing, held: error.message };
    }
  }
  const unneeded = [...(await store.blobs.known()).keys()].filter((sha256) => !needed.has(sha256));
  let bytesFreed = 0;
  for (const sha256 of unneeded) bytesFreed += await store.blobs.sizeOnDisk(sha256);
  if (unneeded.length > 0) await store.removeBlobs(unneeded);
  return { blobsRemoved: unneeded.length, bytesFreed };
}
