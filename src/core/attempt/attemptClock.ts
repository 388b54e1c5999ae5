import { type ClockPause, type ClockTotals, clockAt } from './clock.ts';
import { readClock } from './clockCache.ts';
import type { AttemptContext } from './context.ts';
import { hostClock, momentOf } from './hostClock.ts';
import { recordFileOf } from './recorder.ts';
import { budgetLeftSec } from './sessionWatch.ts';
import { lockOwner } from './windowLock.ts';

/** An attempt's clock for people and for export. */
export interface AttemptClock extends ClockTotals {
  readonly phase: 'not started' | 'running' | 'paused' | 'over';
  readonly pauses: readonly ClockPause[];
  readonly budgetSec: number | null;
  readonly leftSec: number | null;
}

/** By the record; of one that somebody works in, as it stands at this moment. Errors: `UserError` for no attempt. */
export async function readAttemptClock(context: AttemptContext, id: string): Promise<AttemptClock> {
  const { store, recorders } = context;
  const { budgetSec } = await store.read(id);
  const dir = store.dirOf(id);
  const recorder = recorders.peek(id);
  let clock = recorder?.clock ?? (await readClock(dir, recordFileOf(dir)));
  if (!recorder && (await lockOwner(dir))) clock = clockAt(clock, momentOf(hostClock));
  const { phase, pauses, wallMs, unpausedMs, focusedMs, activeMs, waitingMs, idleMs } = clock;
  return {
    ...{ phase, wallMs, unpausedMs, focusedMs, activeMs, waitingMs, idleMs, pauses, budgetSec },
    leftSec: budgetLeftSec(budgetSec, unpausedMs) ?? null,
  };
}
