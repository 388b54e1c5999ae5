import { UserError } from '#core/base/errors.ts';
import { tierOf } from './protocol.ts';
import { isOver } from './states.ts';
import type { AttemptRecord } from './types.ts';

type Measured = Pick<AttemptRecord, 'id' | 'state' | 'protocol'>;

/** Errors: `UserError` for a measured attempt that is only graded once it is submitted. */
export function requireInterimGrading({ id, state, protocol }: Measured): void {
  if (protocol?.interimGrading !== false || isOver(state)) return;
  throw new UserError(`The attempt ${id} is not graded before it is submitted: its protocol says so.`, {
    nextStep: 'Submit it when it is ready.',
  });
}

/** Errors: `UserError` for an attempt whose builder must not see what the tests print. */
export function requireLiveOutput(record: Measured): void {
  const tier = tierOf(record);
  if (tier === 'full' || isOver(record.state)) return;
  throw new UserError(
    `The output of the tests is not shown while the attempt ${record.id} is open: its tier is "${tier}".`,
    { nextStep: 'Leave --live out; the output is kept, and shown once the attempt is over.' },
  );
}
