import { errorMessage, isCancellation, UserError } from '#core/base/errors.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import type { AttemptContext } from './context.ts';
import { ensureWorkspace } from './openAttempt.ts';
import { putSnapshot, requireRestorable, takeExact } from './snapshots.ts';
import { requireWorkable } from './states.ts';

/** `soft`: its files are as in the snapshot, and what came since stays; `hard`: there is nothing but the snapshot. */
export type ResetKind = 'soft' | 'hard';

/**
 * Puts the workspace back to a snapshot. The result is the snapshot of how it was before: a hard reset to that undoes
 * it, whatever this one did. Errors: `UserError`; once files were touched it names that snapshot.
 */
export async function resetAttempt(
  context: AttemptContext,
  id: string,
  snapshotId: string,
  kind: ResetKind,
  signal: AbortSignal,
): Promise<SnapshotHead> {
  const { locks, store, freezes, snapshots } = context;
  const release = await locks.require(id);
  try {
    const record = await store.read(id);
    requireWorkable(record);
    const head = await requireRestorable(snapshots.of(id), snapshotId, signal);
    const { container } = await ensureWorkspace(context, await context.connect(), record, true, signal);
    const before = await takeExact(context, record, container, 'reset', signal);
    await freezes.enter(id, container);
    try {
      await putSnapshot(container, snapshots.of(id), head, { clear: kind === 'hard', signal });
    } catch (error) {
      const why = isCancellation(error) || signal.aborted ? 'cancelled' : errorMessage(error);
      throw new UserError(`The workspace of ${id} is half reset to ${snapshotId}: ${why}.`, {
        nextStep: `Reset it hard to ${before.id}, which is how it was, or to ${snapshotId} again.`,
        cause: error,
      });
    } finally {
      await freezes.leave(id, container);
    }
    return before;
  } finally {
    await release();
  }
}
