import { setTimeout as delay } from 'node:timers/promises';
import type { OpenAttempt } from '#core/attempt/types.ts';
import { CancelledError, UserError } from '#core/base/errors.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';

/** A window that reloads lets go of its attempt while it is already opened again. */
const patienceMs = 6_000;
const lookMs = 200;
/**
 * A window that was killed while it froze the container may freeze it under the hands of the next one, whose call then
 * never ends: it is given up and made again. The last one may take its time, as an image that is built anew does.
 */
const firstTriesMs = [20_000, 90_000];
/** Beside a window that works in it, the container runs; where it is frozen, nothing in it answers. */
const secondWindowMs = 20_000;

/** Opens an attempt; where another window has it, waits a moment for that one, then opens it to be read only. */
export function openPatiently(
  room: Pick<AttemptRoom, 'open' | 'isTaken'>,
): (attemptId: string, signal: AbortSignal) => Promise<OpenAttempt> {
  return async (attemptId, signal) => {
    const end = Date.now() + patienceMs;
    let isTaken = await room.isTaken(attemptId);
    while (isTaken && Date.now() < end) {
      await delay(lookMs, undefined, { signal }).catch(() => {
        throw new CancelledError();
      });
      isTaken = await room.isTaken(attemptId);
    }
    if (!isTaken) return openAgain(room, attemptId, signal);
    const late = AbortSignal.timeout(secondWindowMs);
    try {
      return await room.open(attemptId, AbortSignal.any([signal, late]));
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      throw new UserError('Another window works in this attempt, and its workspace is frozen.', {
        nextStep: 'Wait until it is thawed, or close that window; then reload this one.',
      });
    }
  };
}

async function openAgain(
  room: Pick<AttemptRoom, 'open'>,
  attemptId: string,
  signal: AbortSignal,
): Promise<OpenAttempt> {
  for (const tryMs of firstTriesMs) {
    const late = AbortSignal.timeout(tryMs);
    try {
      return await room.open(attemptId, AbortSignal.any([signal, late]));
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
    }
  }
  return room.open(attemptId, signal);
}
