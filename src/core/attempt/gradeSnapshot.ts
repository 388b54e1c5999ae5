import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage } from '#core/base/errors.ts';
import type { GradeEvent } from '#core/grading/types.ts';
import { requireInterimGrading } from './conditions.ts';
import { type AttemptContext, taskOf } from './context.ts';
import { gradeSource } from './gradeSource.ts';
import { sourceOfSnapshot } from './snapshotSource.ts';
import { requireRestorable } from './snapshots.ts';
import { isOver } from './states.ts';
import type { AttemptGradeOptions } from './types.ts';

/** Grades the workspace as it was: of a snapshot, in a container of its own; the workspace of now is left alone. */
export async function gradeSnapshot(
  context: AttemptContext,
  id: string,
  snapshotId: string,
  options: AttemptGradeOptions,
  emit: (event: GradeEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { store, locks, snapshots } = context;
  const release = await locks.require(id);
  try {
    const record = await store.read(id);
    requireInterimGrading(record);
    // Of one that is over it reveals nothing to its builder.
    const recorder = isOver(record.state) ? undefined : await context.recorders.open(id);
    const task = await taskOf(record);
    emit({ kind: 'phase', phase: 'submission', title: 'Restoring the snapshot' });
    const head = await requireRestorable(snapshots.of(id), snapshotId, signal);
    await snapshots.of(id).pin(head.id);
    const folder = path.join(store.dirOf(id), 'submissions');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temp = await mkdtemp(path.join(folder, '.taking-'));
    try {
      const { source: taken, sha256 } = await sourceOfSnapshot(context, record, task, head, temp, signal);
      const file = path.join(folder, `${sha256}.tar.gz`);
      await rename(taken.path, file);
      const source = { ...taken, path: file };
      const how = { official: false, snapshot: head.id, options };
      recorder?.append({ kind: 'grade', official: false });
      await gradeSource(context, task, source, how, emit, signal, async (grade) => {
        await store.update(id, (old) => ({ ...old, ...grade }));
      }).catch((error: unknown) => {
        recorder?.append({ kind: 'grade-failed', official: false, reason: errorMessage(error) });
        throw error;
      });
    } finally {
      await rm(temp, { recursive: true, force: true });
    }
  } finally {
    await release();
  }
}
