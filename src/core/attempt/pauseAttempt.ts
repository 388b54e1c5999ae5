import { UserError } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { findWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import type { AttemptContext } from './context.ts';
import { budgetLeftSec } from './sessionWatch.ts';
import type { AttemptRecord } from './types.ts';

/** Why an attempt was paused, where nobody said why. */
export const defaultPauseReason = 'paused by its builder';

/** Stops the clock, and the workspace with it, until `resumeAttempt`; also over the end of the session. */
export async function pauseAttempt(
  context: AttemptContext,
  id: string,
  reason: string,
): Promise<AttemptRecord> {
  const { store, locks } = context;
  const record = await store.move(id, 'paused', { reason });
  if (!locks.sessions.has(id)) return record;
  try {
    await holdPause(context, id, await requireContainer(context, id));
    return record;
  } catch (error) {
    await store.move(id, 'running', { reason: 'it could not be frozen' });
    throw error;
  }
}

/** Frozen for a pause when it resolves, whose state is on disk already. */
export async function holdPause(
  { freezes, pauses }: AttemptContext,
  id: string,
  container: ContainerHandle,
): Promise<void> {
  if (pauses.has(id)) return;
  pauses.set(id, await freezes.hold(id, container, 'pause'));
}

/** Errors: `UserError` when it is not paused, its time is up, or the disk has too little room. */
export async function resumeAttempt(context: AttemptContext, id: string): Promise<AttemptRecord> {
  const { store, locks, recorders, pauses } = context;
  const record = await store.read(id);
  if (record.state !== 'paused')
    throw new UserError(`The attempt ${id} is not paused.`, { nextStep: 'Open it to work in it.' });
  if (isTimeUp(context, record))
    throw new UserError(`The time of the attempt ${id} is up.`, { nextStep: 'Submit it.' });
  await recorders.requireRoom();
  const resumed = await store.move(id, locks.sessions.has(id) ? 'running' : 'ready');
  await pauses.get(id)?.();
  pauses.delete(id);
  return resumed;
}

/** The hold of a pause, where the attempt or its session is over: nothing is thawed by it. */
export async function endPause({ pauses }: AttemptContext, id: string, hasEnded: boolean): Promise<void> {
  const release = pauses.get(id);
  pauses.delete(id);
  await release?.({ hasEnded });
}

export function isTimeUp({ recorders }: AttemptContext, record: AttemptRecord): boolean {
  const clock = recorders.peek(record.id)?.clock;
  return clock !== undefined && budgetLeftSec(record.budgetSec, clock.unpausedMs) === 0;
}

async function requireContainer(context: AttemptContext, id: string): Promise<ContainerHandle> {
  const container = await findWorkspaceContainer(await context.connect(), id);
  if (container) return container;
  throw new UserError(`The container of the attempt ${id} is not there.`, { nextStep: 'Open it again.' });
}
