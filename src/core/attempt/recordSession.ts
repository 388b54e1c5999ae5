import { errorMessage } from '#core/base/errors.ts';
import { findWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import type { AttemptContext } from './context.ts';
import { pauseAttempt } from './pauseAttempt.ts';
import type { SessionAlarm } from './recorders.ts';

/** Writes what becomes of attempts and their containers into their records, and answers the alarms of their watches. */
export function recordSession(context: AttemptContext): void {
  const { store, freezes, recorders, log } = context;
  store.onDidMove(({ id, step: { state, reason } }) =>
    recorders.append(id, { kind: 'state', state, ...(reason === undefined ? {} : { reason }) }),
  );
  freezes.beforeThaw = (id) => recorders.watch(id);
  freezes.onDidSettle(({ id, isFrozen, reason }) => {
    const isStart = !isFrozen && recorders.peek(id)?.clock.phase === 'not started';
    if (isStart) recorders.append(id, { kind: 'milestone', what: 'started' });
    recorders.append(id, isFrozen ? { kind: 'frozen', reason } : { kind: 'thawed' });
  });
  // On a disk that takes nothing the work goes on: the recorder says so itself.
  freezes.persist = async (id) =>
    recorders
      .peek(id)
      ?.flush()
      .catch(() => undefined);
  recorders.onAlarm((alarm) => {
    void answer(context, alarm).catch((error: unknown) =>
      log.error(`${alarm.id}, ${alarm.what}: ${errorMessage(error)}`),
    );
  });
}

async function answer(context: AttemptContext, { id, what }: SessionAlarm): Promise<void> {
  const { store, freezes, recorders } = context;
  if (what === 'time is up') return context.timeOuts.submit(id);
  if (what === 'disk is low') {
    const { state } = await store.read(id);
    if (state === 'running' || state === 'ready') await pauseAttempt(context, id, 'the disk is nearly full');
    return;
  }
  // It froze the container since this process did not answer, or it was killed: on, with another one.
  await recorders.peek(id)?.takeUpGuard();
  const container = await findWorkspaceContainer(await context.connect(), id);
  if (container) await freezes.resettle(id, container);
}
