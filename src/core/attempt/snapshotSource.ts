import { excludeMatcher } from '#core/grading/excludes.ts';
import { submissionFromEntries } from '#core/grading/submission.ts';
import type { AttemptSource } from '#core/grading/types.ts';
import { restoreSnapshot } from '#core/snapshot/restore.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import { normaliseArtifacts } from '#core/task/artifacts.ts';
import type { Task } from '#core/task/types.ts';
import type { AttemptContext } from './context.ts';
import { taskMarks } from './gradeAttempt.ts';
import type { AttemptRecord } from './types.ts';

/** The submission that a snapshot is: its tar is written into `dir`, and is the caller's to keep or remove. */
export async function sourceOfSnapshot(
  { snapshots }: AttemptContext,
  record: AttemptRecord,
  task: Task,
  head: SnapshotHead,
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly source: AttemptSource; readonly sha256: string }> {
  const taken = await submissionFromEntries(restoreSnapshot(snapshots.of(record.id), head, signal), {
    roots: record.roots,
    dir,
    exclude: excludeMatcher(normaliseArtifacts(task)),
    signal,
  });
  const unstable = head.unstable.length > 0 ? `; ${head.unstable.length} changed while they were read` : '';
  const fromInside = {
    rule: 'snapshot-by-container',
    message: `The snapshot ${head.id} was taken by the container's own tools${unstable}.`,
  };
  const source: AttemptSource = {
    kind: 'attempt',
    id: record.id,
    path: taken.file,
    skipped: [...taken.skipped, ...head.skipped.map(({ name, detail }) => `${name} (${detail})`)],
    marks: [...(head.source === 'container' ? [fromInside] : []), ...(await taskMarks(record, task))],
  };
  return { source, sha256: taken.sha256 };
}
