import { UserError } from '#core/base/errors.ts';
import { workspaceName } from '#core/container/workspaceContainer.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import { makeAttemptId } from './attemptStore.ts';
import type { AttemptContext } from './context.ts';
import { makeWorkspace, type WorkspaceRecipe } from './makeWorkspace.ts';
import { withImage } from './openAttempt.ts';
import type { AttemptProtocol } from './protocol.ts';
import { putSnapshot, requireRestorable, snapshotAttempt } from './snapshots.ts';
import type { AttemptEvent, AttemptRecord } from './types.ts';

/**
 * A new attempt at the same task that begins with the files of a snapshot; without one, of the workspace as it is now.
 * What is outside the snapshot's roots is the image's. Nothing is left of one that fails or is cancelled.
 */
export async function forkAttempt(
  context: AttemptContext,
  id: string,
  snapshotId: string | undefined,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const from = await context.store.read(id);
  if (from.workdir === '')
    throw new UserError(`The attempt ${id} was never made: it has no files.`, {
      nextStep: 'Start another one.',
    });
  const head = await pinned(context, id, snapshotId, signal);
  const engine = await context.connect();
  const record = newRecord(from, head);
  const recipe: WorkspaceRecipe = {
    settle(on) {
      if (record.protocol) emit({ kind: 'progress', message: keptConditions(record.protocol, id) });
      return withImage(context, on, record, signal);
    },
    fill: (container) => putSnapshot(container, context.snapshots.of(id), head, { clear: true, signal }),
  };
  await makeWorkspace(context, engine, record, recipe, emit, signal);
}

/** The snapshot to begin with, which stays from now on. */
async function pinned(
  context: AttemptContext,
  id: string,
  snapshotId: string | undefined,
  signal: AbortSignal,
): Promise<SnapshotHead> {
  if (snapshotId === undefined) return snapshotAttempt(context, id, 'fork', signal);
  const release = await context.locks.require(id);
  try {
    const store = context.snapshots.of(id);
    const head = await requireRestorable(store, snapshotId, signal);
    await store.pin(head.id);
    return head;
  } finally {
    await release();
  }
}

function newRecord(from: AttemptRecord, head: SnapshotHead): AttemptRecord {
  const id = makeAttemptId(from.task.name);
  const createdAt = new Date().toISOString();
  const {
    schemaVersion,
    task,
    workdir,
    image,
    roots,
    limits,
    budgetSec,
    env,
    allowedHostEnv,
    user,
    protocol,
  } = from;
  return {
    ...{ schemaVersion, task, workdir, image, roots, limits, budgetSec, env, allowedHostEnv },
    ...(user === undefined ? {} : { user }),
    // A fork is no way to see more.
    ...(protocol === undefined ? {} : { protocol }),
    id,
    state: 'preparing',
    mode: 'channel',
    createdAt,
    volume: workspaceName(id),
    history: [{ state: 'preparing', at: createdAt, reason: `forked from ${from.id}` }],
    grades: [],
    forkedFrom: { attempt: from.id, snapshot: head.id },
  };
}

function keptConditions({ tier, interimGrading }: AttemptProtocol, from: string): string {
  const shown = interimGrading ? `its grades show ${tier}` : 'it is not graded before it is submitted';
  return `It is measured under the conditions of ${from}: ${shown}.`;
}
