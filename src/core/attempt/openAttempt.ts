import { errorMessage, UserError } from '#core/base/errors.ts';
import { type ContainerEngine, type ContainerHandle, EngineError } from '#core/container/engine.ts';
import { FsChannel } from '#core/container/fsChannel.ts';
import { ensureImage } from '#core/container/images.ts';
import { type OpenedWorkspace, openWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import { type IsolationProbe, probeIsolation } from '#core/container/workspaceProbe.ts';
import { imageOfTask } from '#core/grading/plan.ts';
import { SnapshotSchedule } from '#core/snapshot/schedule.ts';
import { ChannelTaker } from '#core/snapshot/takeFromChannel.ts';
import { environmentId } from '#core/task/digest.ts';
import { type AttemptContext, taskOf, workspaceSpec } from './context.ts';
import { makeHarborFolders } from './makeWorkspace.ts';
import { isWork, noticeWork } from './noticeWork.ts';
import { endPause, holdPause, isTimeUp } from './pauseAttempt.ts';
import { unsealGrades } from './sealedGrades.ts';
import { awaitsStart, isOver } from './states.ts';
import type { AttemptRecord, OpenAttempt } from './types.ts';

/** How long the window that was there before a reload may take to close. */
const reloadMs = 1_500;
/** How often a container is looked at that was just thawed. */
const lateFreezeMs = 1_000;
const maxTries = 3;

/**
 * Begins a session: the lock where it is free, the container running around the attempt's volume. Errors: `UserError`,
 * also where the work is lost, which the record says from then on.
 */
export async function openAttempt(
  context: AttemptContext,
  id: string,
  signal: AbortSignal,
): Promise<OpenAttempt> {
  const { locks, store, freezes } = context;
  await store.read(id);
  const taken = await locks.take(id, reloadMs);
  const release = typeof taken === 'function' ? taken : undefined;
  // One window writes, also where several are open in one process.
  const isFirst = release !== undefined && !locks.sessions.has(id);
  if (isFirst) locks.sessions.add(id);
  const leave = async (): Promise<void> => {
    if (isFirst) locks.sessions.delete(id);
    await release?.();
  };
  let thawed: ContainerHandle | undefined;
  try {
    const engine = await context.connect();
    const recorder = isFirst ? await context.recorders.open(id) : undefined;
    const record = await (isFirst ? submitInTime(context, await recover(context, id)) : store.read(id));
    requireMade(record);
    if (isFirst && !isOver(record.state)) await context.recorders.requireRoom();
    // A crash may have come between its end and this.
    if (isFirst && isOver(record.state)) await unsealGrades(store.dirOf(id));
    const mayWrite = isFirst && !isOver(record.state);
    const opened = await ensureWorkspace(context, engine, record, isFirst, signal);
    const { container, how } = opened;
    recorder?.append({ kind: 'container', how });
    // Nothing can be started in it meanwhile, not even what reads its files.
    const isGraded = ['grade', 'submit'].includes(freezes.reasonOf(id) ?? '');
    if (isGraded || (!isFirst && how === 'was paused'))
      throw new UserError(`The attempt ${id} is frozen: it is being graded in another window.`, {
        nextStep: 'Open it again when that is over.',
      });
    const user = record.user === undefined ? {} : { user: record.user };
    const unstarted =
      isFirst && awaitsStart(record) ? await probeUnstarted(context, id, container, user, signal) : undefined;
    if (isFirst) {
      await freezes.enter(id, container);
      thawed = container;
    }
    const gated = freezes.through(id, container);
    const probe = () => probeIsolation(gated, { signal, ...user });
    const isolation =
      unstarted ?? (isFirst ? await whileThawed(context, id, container, probe, signal) : await probe());
    const current = mayWrite ? await enter(context, id, container) : record;
    const files = new FsChannel(gated, user);
    // Everything is in a snapshot, whoever may read it in there; over a channel of its own, so that nobody waits.
    const snapshotFiles = new FsChannel(gated, { user: '0' });
    const taker = new ChannelTaker(context.snapshots.of(id), snapshotFiles, { roots: record.roots });
    if (mayWrite) context.takers.set(id, taker);
    const takeSnapshot: OpenAttempt['takeSnapshot'] = async (reason, stop) =>
      mayWrite && freezes.reasonOf(id) === undefined ? taker.take(reason, stop) : undefined;
    const schedule = new SnapshotSchedule(takeSnapshot, (error) =>
      context.log.warn(`A snapshot of ${id} was not made: ${errorMessage(error)}`),
    );
    const noticing = mayWrite
      ? recorder?.onDidAppend((line) => {
          noticeWork(schedule, line);
          if (isWork(line)) context.prepared.expect(id);
        })
      : undefined;
    let closing: Promise<void> | undefined;
    const frozenBecause = freezes.reasonOf(id);
    return {
      record: current,
      container: gated,
      files,
      isolation,
      readOnly: !mayWrite,
      how,
      ...(frozenBecause === undefined ? {} : { frozenBecause }),
      ...(mayWrite && recorder ? { recorder } : {}),
      onDidFreeze: (listener) =>
        freezes.onDidChange((change) => {
          if (change.id === id) listener(change.reason);
        }),
      takeSnapshot,
      close() {
        closing ??= (async () => {
          noticing?.dispose();
          schedule.dispose();
          if (mayWrite) context.takers.delete(id);
          // The freeze below does not wait for it.
          const dropped = mayWrite ? context.prepared.drop(id) : undefined;
          dropped?.catch(() => undefined);
          const closed = Promise.all([files.close(), snapshotFiles.close()]).catch(() => undefined);
          // In a frozen container nothing ends before it is thawed.
          if (freezes.reasonOf(id) === undefined) await closed;
          try {
            if (mayWrite) await context.snapshots.compact(id);
          } catch (error) {
            context.log.warn(`The snapshots of ${id} were not compacted: ${errorMessage(error)}`);
          }
          try {
            await context.timeOuts.settled(id);
            if (isFirst) await rest(context, id, container);
          } finally {
            await leave();
          }
          await dropped;
        })().catch((error: unknown) => context.log.warn(`Closing ${id}: ${errorMessage(error)}`));
        return closing;
      },
    };
  } catch (error) {
    if (thawed) await rest(context, id, thawed).catch(() => undefined);
    else if (isFirst) await endPause(context, id, false);
    await leave();
    throw error;
  }
}

/** Nobody has worked in it, so that nothing in it goes on while it is looked at: its clock stands all the time. */
async function probeUnstarted(
  context: AttemptContext,
  id: string,
  container: ContainerHandle,
  user: { readonly user?: string },
  signal: AbortSignal,
): Promise<IsolationProbe> {
  await holdPause(context, id, container);
  try {
    await container.unpause();
    return await probeIsolation(container, { signal, ...user });
  } finally {
    await container.pause();
  }
}

/**
 * The first work in a container that was just thawed. A window that was killed while it closed has asked for a freeze
 * that may come only now: the engine then refuses what is started in the container, or never answers. Thawed again, and
 * the work is done again; nothing here holds it.
 */
async function whileThawed<T>(
  { freezes, log }: AttemptContext,
  id: string,
  container: ContainerHandle,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const thaw = async (): Promise<boolean> => {
    if (freezes.reasonOf(id) !== undefined) return false;
    const details = await container.details().catch(() => undefined);
    if (!details?.paused || signal.aborted) return false;
    log.warn(`The container of ${id} was frozen by a window that is gone; it is thawed again.`);
    await freezes.resettle(id, container).catch(() => undefined);
    return true;
  };
  const looking = setInterval(() => void thaw(), lateFreezeMs);
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || tries >= maxTries || !(await thaw())) throw error;
      }
    }
  } finally {
    clearInterval(looking);
  }
}

/**
 * The attempt's container, whatever became of it, running or frozen. `mayChange`: the caller has the lock, so that a
 * lost workspace is written down.
 */
export async function ensureWorkspace(
  context: AttemptContext,
  engine: ContainerEngine,
  record: AttemptRecord,
  mayChange: boolean,
  signal: AbortSignal,
): Promise<OpenedWorkspace> {
  const open = (of: AttemptRecord): Promise<OpenedWorkspace> =>
    openWorkspaceContainer(engine, workspaceSpec(of, context.hostEnv), signal);
  let opened: OpenedWorkspace;
  try {
    opened = await open(record);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.failure === 'image-missing' && mayChange)
      opened = await open(await renewImage(context, engine, record, signal));
    else if (error.failure === 'not-found') throw await lose(context, record, error, mayChange);
    else throw error;
  }
  if (opened.how === 'recreated') {
    context.log.info(`The container of ${record.id} was made again; outside the workdir it is the image's.`);
    await makeHarborFolders(opened.container, signal);
  }
  return opened;
}

/** What a crash left half done is put right by whoever has the lock next. */
async function recover(context: AttemptContext, id: string): Promise<AttemptRecord> {
  const { store } = context;
  const record = await store.read(id);
  if (record.state === 'preparing' && !context.busy.has(id)) {
    const reason = 'its preparation was interrupted';
    await store.move(id, 'lost', { reason });
    throw new UserError(`The attempt ${id} is lost: ${reason}.`, {
      nextStep: 'Delete it and start another one.',
    });
  }
  // In this very process a grade may be under way.
  if (record.state === 'grading' && !context.busy.has(id))
    return store.move(id, 'ready', { reason: 'the grade was interrupted' });
  return record;
}

/** Without time left nobody works in it any more: what there is is submitted, now at the latest. */
async function submitInTime(context: AttemptContext, record: AttemptRecord): Promise<AttemptRecord> {
  const { id } = record;
  if (isOver(record.state) || !isTimeUp(context, record)) return record;
  await context.timeOuts.submit(id);
  const after = await context.store.read(id);
  if (isOver(after.state)) return after;
  throw new UserError(`The time of the attempt ${id} is up, and it could not be submitted.`, {
    nextStep: 'See that the container engine is up, and submit it.',
  });
}

function requireMade({ id, state, workdir }: AttemptRecord): void {
  if (state === 'preparing')
    throw new UserError(`The attempt ${id} is still being prepared.`, { nextStep: 'Wait for it.' });
  if (workdir === '')
    throw new UserError(`The attempt ${id} is lost: it was never made.`, { nextStep: 'Delete it.' });
}

/** One that is paused stays frozen. */
async function enter(
  context: AttemptContext,
  id: string,
  container: ContainerHandle,
): Promise<AttemptRecord> {
  const { store } = context;
  let record = await store.read(id);
  if (record.state === 'lost')
    record = await store.move(id, 'ready', { reason: 'its volume is there again' });
  if (record.state === 'paused') await holdPause(context, id, container);
  return record.state === 'ready' ? store.move(id, 'running') : record;
}

/** Nobody works in it: frozen, or stopped where nothing is built in it any more. */
async function rest(context: AttemptContext, id: string, container: ContainerHandle): Promise<void> {
  const { store, freezes, log } = context;
  const ignore = (error: unknown): void =>
    log.debug(`The container of ${id} does not run: ${errorMessage(error)}`);
  let hasEnded = false;
  try {
    const { state } = await store.read(id);
    hasEnded = isOver(state);
    if (state === 'running') await store.move(id, 'ready');
  } finally {
    await freezes.leave(id, hasEnded ? undefined : container).catch(ignore);
    await endPause(context, id, hasEnded);
  }
  if (hasEnded) await container.kill().catch(ignore);
}

async function lose(
  { store }: AttemptContext,
  record: AttemptRecord,
  error: EngineError,
  mayChange: boolean,
): Promise<UserError> {
  const reason = `the volume ${record.volume} with its files is not in this engine`;
  if (mayChange && record.state !== 'lost' && !isOver(record.state))
    await store.move(record.id, 'lost', { reason });
  return new UserError(`The attempt ${record.id} at ${record.task.name} is lost: ${reason}.`, {
    nextStep: 'If another engine has it, connect to that one and open the attempt again; else delete it.',
    cause: error,
  });
}

/** The record, with an image that the engine has. The caller has the attempt's lock. */
export async function withImage(
  context: AttemptContext,
  engine: ContainerEngine,
  record: AttemptRecord,
  signal: AbortSignal,
): Promise<AttemptRecord> {
  const image = await engine.inspectImage(record.image.id, signal);
  return image ? record : renewImage(context, engine, record, signal);
}

/** The image was removed from the engine meanwhile: the task's again. */
async function renewImage(
  context: AttemptContext,
  engine: ContainerEngine,
  record: AttemptRecord,
  signal: AbortSignal,
): Promise<AttemptRecord> {
  const plan = await imageOfTask(await taskOf(record), { environmentId });
  const { reference, id } = await ensureImage(engine, plan, {
    onProgress: (line) => context.log.info(line),
    log: context.log,
    signal,
  });
  if (id !== record.image.id)
    context.log.warn(`The image of ${record.id} is not the one that it began with.`);
  return context.store.update(record.id, (old) => ({ ...old, image: { reference, id } }));
}
