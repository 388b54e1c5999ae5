import { UserError } from '#core/base/errors.ts';
import type { AttemptContext } from './context.ts';
import type { AttemptDebrief } from './protocol.ts';
import type { Recorder } from './recorder.ts';
import { unsealGrades } from './sealedGrades.ts';
import { isOver } from './states.ts';
import type { AttemptRecord } from './types.ts';

/** Keeps what the builder said of an attempt that is over: in its record first, so that each one said is there. */
export async function debriefAttempt(
  { store }: Pick<AttemptContext, 'store'>,
  id: string,
  debrief: AttemptDebrief,
  recorder: Pick<Recorder, 'append' | 'flush'>,
): Promise<AttemptRecord> {
  const { state } = await store.read(id);
  if (!isOver(state))
    throw new UserError(`The attempt ${id} is not over: a debrief is for afterwards.`, {
      nextStep: 'Submit it or give it up first; a note can be written at any time.',
    });
  // A crash may have come between its end and this.
  await unsealGrades(store.dirOf(id));
  recorder.append({ kind: 'debrief', debrief });
  await recorder.flush();
  return store.update(id, (record) => ({ ...record, debrief }));
}
