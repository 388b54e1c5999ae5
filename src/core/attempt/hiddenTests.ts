import { UserError } from '#core/base/errors.ts';
import { isOver } from './states.ts';
import type { AttemptRecord } from './types.ts';

/** The attempt at the task, or at one of the same content, that has not ended: its builder must not see the tests. */
export function attemptUnderWay(
  records: readonly AttemptRecord[],
  task: { readonly path: string; readonly digest?: string | undefined },
): AttemptRecord | undefined {
  return records.find(
    (record) =>
      !isOver(record.state) &&
      record.state !== 'lost' &&
      (record.task.path === task.path || (task.digest !== undefined && record.task.digest === task.digest)),
  );
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
