import { UserError } from '#core/base/errors.ts';
import { isOver } from './states.ts';
import type { AttemptRecord } from './types.ts';

/** The attempts that have not ended: at the task, or at one of the same content; their builders must not see its tests. */
export function attemptsUnderWay(
  records: readonly AttemptRecord[],
  task?: { readonly path: string; readonly digests: readonly (string | undefined)[] },
): readonly AttemptRecord[] {
  return records.filter(
    (record) =>
      !isOver(record.state) &&
      record.state !== 'lost' &&
      (!task || record.task.path === task.path || task.digests.includes(record.task.digest)),
  );
}

export function attemptUnderWay(
  records: readonly AttemptRecord[],
  { path, digest }: { readonly path: string; readonly digest?: string | undefined },
): AttemptRecord | undefined {
  return attemptsUnderWay(records, { path, digests: [digest] })[0];
}

/** Errors: `UserError` while such an attempt is under way. */
export function requireNoAttempt(
  records: readonly AttemptRecord[],
  task: { readonly name: string; readonly path: string; readonly digest?: string | undefined },
): void {
  const attempt = attemptUnderWay(records, task);
  if (!attempt) return;
  throw new UserError(
    `The container of a grade holds the hidden tests of ${task.name}, and the attempt ${attempt.id} at it has not ended.`,
    { nextStep: 'Submit, give up or delete that attempt first.' },
  );
}
