import { requireInterimGrading } from '#core/attempt/conditions.ts';
import { tierOf } from '#core/attempt/protocol.ts';
import { isOver } from '#core/attempt/states.ts';
import { attemptSource, gradeOptions } from '#vscode/attempts/attemptGrader.ts';
import { gradeAndTell } from '#vscode/commands/gradeAndTell.ts';
import type { Grader } from '#vscode/ports.ts';
import type { Chosen, SnapshotDeps } from './chosen.ts';

/** Grades the workspace as it was, as its own grades are: at their tier, into the Testing view. The one of now goes on. */
export async function gradeSnapshot(deps: SnapshotDeps, { record, head }: Chosen): Promise<void> {
  const { room, sessions, attempts, grading, tasks } = deps;
  const { id } = record;
  requireInterimGrading(record);
  const task = await tasks.of(record);
  // Of no tier, it would show what another attempt's hides.
  if (tierOf(record) === 'full' || isOver(record.state)) await grading.gate.confirm({ ...task, except: id });
  const grader: Grader = async function* grade(_task, _source, signal) {
    yield* room.gradeSnapshot(id, head.id, gradeOptions(task, false), signal);
  };
  deps.problems.clear();
  try {
    // Its lines are those of then: they are not looked up in the files of now.
    await gradeAndTell({ ...grading, grader }, { task, source: attemptSource(id) });
  } finally {
    const session = sessions.current(id);
    if (session) session.record = await room.read(id);
    await attempts.reload();
  }
}
