import { UserError } from '#core/base/errors.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import {
  createWorkspaceContainer,
  deleteWorkspace,
  workspaceName,
} from '#core/container/workspaceContainer.ts';
import { probeIsolation } from '#core/container/workspaceProbe.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import { makeAttemptId } from './attemptStore.ts';
import { type AttemptContext, workspaceSpec } from './context.ts';
import { withImage } from './openAttempt.ts';
import { withStoreLabel } from './orphans.ts';
import type { AttemptProtocol } from './protocol.ts';
import { putSnapshot, requireRestorable, snapshotAttempt } from './snapshots.ts';
import { makeHarborFolders, makeReady, recordProtocol } from './startAttempt.ts';
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
  const { store, locks, log } = context;
  const from = await store.read(id);
  if (from.workdir === '')
    throw new UserError(`The attempt ${id} was never made: it has no files.`, {
      nextStep: 'Start another one.',
    });
  const head = await pinned(context, id, snapshotId, signal);
  const engine = await context.connect();
  const record = newRecord(from, head);
  await store.create(record);
  const release = await locks.require(record.id);
  context.busy.add(record.id);
  try {
    emit({ kind: 'preparing', attempt: record });
    await recordProtocol(context, record);
    if (record.protocol) emit({ kind: 'progress', message: keptConditions(record.protocol, id) });
    emit({ kind: 'phase', phase: 'container', title: 'Starting the workspace' });
    const made = await withImage(context, engine, record, signal);
    emit(await prepare(context, engine, made, id, head, emit, signal));
  } catch (error) {
    await deleteWorkspace(engine, record.id).catch((failure: unknown) =>
      log.warn(`The workspace of the attempt ${record.id} could not be removed: ${String(failure)}`),
    );
    await store.delete(record.id);
    throw error;
  } finally {
    context.busy.delete(record.id);
    await release();
  }
}

async function prepare(
  context: AttemptContext,
  engine: ContainerEngine,
  made: AttemptRecord,
  fromId: string,
  head: SnapshotHead,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<AttemptEvent> {
  const { container, clamped } = await createWorkspaceContainer(
    withStoreLabel(engine, context.store.storeDir),
    workspaceSpec(made, context.hostEnv),
    signal,
  );
  await makeHarborFolders(container, signal);
  await putSnapshot(container, context.snapshots.of(fromId), head, { clear: true, signal });
  emit({ kind: 'phase', phase: 'probe', title: 'Checking that it is offline' });
  const user = made.user === undefined ? {} : { user: made.user };
  const isolation = await probeIsolation(container, { signal, ...user });
  await container.pause();
  return { kind: 'ready', attempt: await makeReady(context, made.id), isolation, clamped };
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
  const id = makeAttemptId();
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
