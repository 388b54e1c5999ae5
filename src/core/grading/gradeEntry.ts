import { errorMessage } from '#core/base/errors.ts';
import { contentDigest } from '#core/task/digest.ts';
import type { TaskEntry } from '#core/task/types.ts';
import { type GradeDeps, type GradeOptions, gradeTask } from './grade.ts';
import { NotGradedError } from './reasons.ts';
import { GradeRecord } from './record.ts';
import { makeGradeDir } from './store.ts';
import { checkSource } from './submission.ts';
import type { GradeEvent, SubmissionSource } from './types.ts';

/** Grades what a corpus lists: a folder that cannot be graded here ends as `not graded` before anything runs. */
export async function* gradeEntry(
  entry: TaskEntry,
  source: SubmissionSource,
  options: GradeOptions,
  deps: GradeDeps,
  signal: AbortSignal,
): AsyncGenerator<GradeEvent> {
  if (entry.gradable && entry.task) {
    yield* gradeTask(entry.task, source, options, deps, signal);
    return;
  }
  await checkSource(source);
  const dir = await makeGradeDir(options, { dir: entry.path });
  const record = new GradeRecord(
    { name: entry.name, dir: entry.path, testCaseCount: entry.task?.testCaseCount },
    source,
    dir,
    () => undefined,
  );
  record.taskDigest(
    await contentDigest(entry.path).catch((error: unknown) => `unknown: ${errorMessage(error)}`),
  );
  const result = record.finish(refusal(entry));
  await record.save(result);
  yield { kind: 'finished', result };
}

function refusal(entry: TaskEntry): NotGradedError {
  const errors = entry.problems.filter(({ severity }) => severity === 'error');
  const unsupported = errors.every(({ code }) => code.startsWith('unsupported-'));
  return new NotGradedError(
    unsupported && errors.length > 0 ? 'task-unsupported' : 'task-invalid',
    errors.map(({ message }) => message).join(' ') || undefined,
  );
}
