import { errorMessage, throwIfCancelled, UserError } from '#core/base/errors.ts';
import type { AttemptSource, GradeEvent } from '#core/grading/types.ts';
import type { Mark } from '#core/report/types.ts';
import type { ChannelTaker } from '#core/snapshot/takeFromChannel.ts';
import { contentDigest } from '#core/task/digest.ts';
import type { Task } from '#core/task/types.ts';
import { requireInterimGrading } from './conditions.ts';
import { type AttemptContext, forPeople, taskOf } from './context.ts';
import { GradeFreeze } from './gradeFreeze.ts';
import { gradeSource } from './gradeSource.ts';
import { ensureWorkspace } from './openAttempt.ts';
import { endPause } from './pauseAttempt.ts';
import { mismatchMarks, takeSubmissionAndSnapshot } from './snapshots.ts';
import { awaitsStart, requireWorkable } from './states.ts';
import type { AttemptGradeOptions, AttemptRecord, AttemptSubmission } from './types.ts';

type Emit = (event: GradeEvent) => void;

/**
 * Grades the workspace as it is now. `official`: as the final submission, which is kept, and the attempt is over;
 * for one that is over already without an official verdict, the kept submission is graded again.
 */
export async function gradeAttempt(
  context: AttemptContext,
  id: string,
  official: boolean,
  options: AttemptGradeOptions,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const { store, locks } = context;
  const release = await locks.require(id);
  try {
    const record = await store.read(id);
    if (!official) requireInterimGrading(record);
    const task = await taskOf(record);
    const recorder = await context.recorders.open(id);
    if (official && (record.state === 'submitted' || record.state === 'timed-out')) {
      await gradeKept(context, record, task, options, emit, signal);
      return;
    }
    // Also where its builder works on beside the grade.
    if (context.busy.has(id) && record.state !== 'preparing')
      throw new UserError(`The attempt ${id} is being graded.`, { nextStep: 'Wait until that has ended.' });
    // A grade that a dead process left half done.
    if (record.state === 'grading' && !context.busy.has(id))
      await store.move(id, 'ready', { reason: 'the grade was interrupted' });
    else if (!official || record.state !== 'paused' || awaitsStart(record)) requireWorkable(record);
    context.busy.add(id);
    recorder.append({ kind: 'grade', official });
    try {
      await gradeLive(context, id, task, official, options, emit, signal);
    } catch (error) {
      recorder.append({ kind: 'grade-failed', official, reason: errorMessage(forPeople(error)) });
      throw error;
    } finally {
      context.busy.delete(id);
    }
  } finally {
    await release();
  }
}

async function gradeLive(
  context: AttemptContext,
  id: string,
  task: Task,
  official: boolean,
  options: AttemptGradeOptions,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const { store } = context;
  const engine = await context.connect();
  const { container } = await ensureWorkspace(context, engine, await store.read(id), true, signal);
  const before = await lookBefore(context, id, signal);
  throwIfCancelled(signal);
  const freeze = new GradeFreeze(context, id, container, options.keepWorking ?? false);
  if (!official) context.interim.set(id, freeze);
  let isSubmitted = false;
  try {
    emit({ kind: 'phase', phase: 'submission', title: 'Freezing the workspace and taking the submission' });
    const record = await freeze.begin(official ? 'submit' : 'grade');
    const { taken, snapshot } = await takeSubmissionAndSnapshot(context, record, task, container, {
      reason: official ? 'submit' : 'grade',
      onProgress: (message) => emit({ kind: 'progress', message }),
      signal,
    });
    await freeze.taken();
    const source: AttemptSource = {
      kind: 'attempt',
      id,
      path: taken.file,
      skipped: taken.skipped,
      marks: [
        ...taken.marks,
        ...(await mismatchMarks(context, id, before, snapshot)),
        ...(await taskMarks(record, task)),
      ],
    };
    const { file, sha256, at } = taken;
    const how = { official, snapshot: snapshot.id, options };
    await gradeSource(context, task, source, how, emit, signal, async (grade) => {
      if (official) {
        const submission: AttemptSubmission = { file, sha256, at, snapshot: snapshot.id };
        const end = options.isTimeUp ? 'timed-out' : 'submitted';
        await store.move(id, end, { also: { submission, ...grade } });
        isSubmitted = true;
        await container
          .kill()
          .catch((error: unknown) => context.log.warn(`Stopping the container of ${id}: ${String(error)}`));
      } else await store.update(id, (old) => ({ ...old, ...grade }));
    });
  } finally {
    context.interim.delete(id);
    await freeze.end(isSubmitted);
    if (isSubmitted) await endPause(context, id, true);
  }
}

/** What the container's own tools say just before; undefined where that would take long or fails. */
async function lookBefore(
  { takers, log }: AttemptContext,
  id: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<ChannelTaker['take']>> | undefined> {
  const taker = takers.get(id);
  try {
    return taker && (await taker.isQuick()) ? await taker.take('activity', signal) : undefined;
  } catch (error) {
    log.debug(`The snapshot of ${id} before its grade: ${errorMessage(error)}`);
    return undefined;
  }
}

/** The official grade failed for want of an engine, or was never made: of the same submission, again. */
async function gradeKept(
  context: AttemptContext,
  record: AttemptRecord,
  task: Task,
  options: AttemptGradeOptions,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const { submission } = record;
  const last = record.grades.findLast((grade) => grade.official);
  if (!submission || (last && last.verdict !== 'not graded'))
    throw new UserError(`The attempt ${record.id} is submitted, and its official grade is made.`, {
      nextStep: 'Start another attempt at the task.',
    });
  const source: AttemptSource = {
    kind: 'attempt',
    id: record.id,
    path: submission.file,
    skipped: [],
    marks: await taskMarks(record, task),
  };
  const how = { official: true, snapshot: submission.snapshot, options };
  await gradeSource(context, task, source, how, emit, signal, async (grade) => {
    await context.store.update(record.id, (old) => ({ ...old, ...grade }));
  });
}

export async function taskMarks(record: AttemptRecord, task: Task): Promise<Mark[]> {
  const digest = await contentDigest(task.dir);
  if (digest === record.task.digest) return [];
  return [
    {
      rule: 'task-changed',
      message: `The task has changed since the attempt began (${record.task.digest.slice(0, 19)}, now ${digest.slice(0, 19)}).`,
    },
  ];
}
