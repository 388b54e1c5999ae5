import { rm } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, UserError } from '#core/base/errors.ts';
import { probeBridges } from '#core/container/bridges.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { deleteWorkspace, findWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import { PreparedContainers } from '#core/grading/prepared.ts';
import type { GradeEvent } from '#core/grading/types.ts';
import type { SnapshotStore } from '#core/snapshot/store.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import type { Task } from '#core/task/types.ts';
import { prepareAttachedMode } from './attachedMode.ts';
import { type AttemptClock, readAttemptClock } from './attemptClock.ts';
import { AttemptLocks } from './attemptLocks.ts';
import { AttemptSnapshots } from './attemptSnapshots.ts';
import { type AttemptContext, type AttemptDeps, asUserErrors, eventsOf, taskOf } from './context.ts';
import { debriefAttempt } from './debriefAttempt.ts';
import { forkAttempt } from './forkAttempt.ts';
import { Freezes } from './freezes.ts';
import { gradeAttempt } from './gradeAttempt.ts';
import { gradeSnapshot } from './gradeSnapshot.ts';
import { ensureWorkspace, openAttempt } from './openAttempt.ts';
import { listOrphans, removeOrphan } from './orphans.ts';
import { attemptsAt, type OutsideReveal, revealOutside } from './outsideReveals.ts';
import { defaultPauseReason, endPause, pauseAttempt, resumeAttempt } from './pauseAttempt.ts';
import type { AttemptDebrief } from './protocol.ts';
import type { Recorder } from './recorder.ts';
import { Recorders } from './recorders.ts';
import { recordSession } from './recordSession.ts';
import { type RecordSummary, readSummary } from './recordSummary.ts';
import { type ResetKind, resetAttempt } from './resetAttempt.ts';
import { type CurveEvent, type CurveOptions, scoreCurve } from './scoreCurve.ts';
import { unsealGrades } from './sealedGrades.ts';
import { snapshotAttempt } from './snapshots.ts';
import { startAttempt } from './startAttempt.ts';
import { requireWorkable } from './states.ts';
import { takeSubmission } from './takeSubmission.ts';
import { TimeOuts } from './timeOuts.ts';
import { runSetup } from './trySetup.ts';
import type {
  AttachedMode,
  AttemptBridges,
  AttemptEvent,
  AttemptGradeOptions,
  AttemptRecord,
  OpenAttempt,
  OrphanedWorkspace,
  SetupResult,
  StartOptions,
} from './types.ts';
import { willNotTravel } from './willNotTravel.ts';
import { type LockOwner, lockOwner } from './windowLock.ts';

/**
 * Everything that is done with an attempt, for every front end (design.md §5). Errors: `UserError` for what a person
 * can do something about, the engine's failures among them; `CancelledError` when the signal fired.
 */
export class Attempts {
  readonly #context: AttemptContext;

  constructor(deps: AttemptDeps) {
    const locks = new AttemptLocks(deps.store);
    const freezes = new Freezes(deps.log);
    const engineAddress = async (): Promise<string> => (await (await deps.connect()).info()).address;
    const recorders = new Recorders({ ...deps, engineAddress });
    const context = {
      ...{
        ...deps,
        locks,
        freezes,
        recorders,
        prepared: new PreparedContainers(deps),
        snapshots: new AttemptSnapshots(deps.store),
        takers: new Map(),
      },
      ...{ busy: new Set<string>(), interim: new Map(), pauses: new Map() },
      timeOuts: {
        settled: (id: string) => timeOuts.settled(id),
        submit: (id: string) => timeOuts.submit(id),
      },
    };
    const timeOuts = new TimeOuts(context);
    this.#context = context;
    locks.beforeRelease = (id) => recorders.close(id);
    recordSession(this.#context);
  }

  /** Image, volume, container, spec and probe; ends with `ready`. Nothing is left of one that fails or is cancelled. */
  start(task: Task, options: StartOptions, signal: AbortSignal): AsyncGenerator<AttemptEvent> {
    return eventsOf((emit, stop) => startAttempt(this.#context, task, options, emit, stop), signal);
  }

  /** A session; read-only where another window has one. After a crash or reboot: the same volume, a new container. */
  open(id: string, signal: AbortSignal): Promise<OpenAttempt> {
    return asUserErrors(() => openAttempt(this.#context, id, signal));
  }

  /** Paths that changed in the container and are no part of a submission, the topmost. */
  willNotTravel(id: string, signal: AbortSignal = new AbortController().signal): Promise<readonly string[]> {
    const { store, locks } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      try {
        const [engine, record] = [await this.#connect(), await store.read(id)];
        return await willNotTravel(this.#context, engine, record, signal);
      } finally {
        await release();
      }
    });
  }

  /** setup.sh of the workspace as it is now, in a fresh container; the workspace itself stays as it is. */
  trySetup(id: string, onOutput: (chunk: string) => void, signal: AbortSignal): Promise<SetupResult> {
    const { store, locks, freezes } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      const folder = path.join(store.dirOf(id), '.setup');
      try {
        const record = await store.read(id);
        requireWorkable(record);
        const recorder = await this.#context.recorders.open(id);
        const task = await taskOf(record);
        const engine = await this.#connect();
        const { container } = await ensureWorkspace(this.#context, engine, record, true, signal);
        const taken = await freezes.during(id, container, 'setup', () =>
          takeSubmission(record, folder, task, container, { signal }),
        );
        const ended = recorder.command({ in: 'setup', actor: 'human', command: 'bash ./setup.sh' });
        try {
          const result = await runSetup(this.#context, engine, record, task, taken, onOutput, signal);
          ended(result.exitCode);
          return result;
        } finally {
          ended(null);
        }
      } finally {
        await rm(folder, { recursive: true, force: true });
        await release();
      }
    });
  }

  /** Makes ready what attaches a window or the `devcontainer` CLI; the record says so from then on. */
  attachedMode(id: string, signal: AbortSignal): Promise<AttachedMode> {
    return asUserErrors(() => prepareAttachedMode(this.#context, id, signal));
  }

  /** Ways out of the container, in a session of its own; also while another window has one. */
  bridges(id: string, options: { readonly scrub: boolean }, signal: AbortSignal): Promise<AttemptBridges> {
    return asUserErrors(async () => {
      const open = await openAttempt(this.#context, id, signal);
      try {
        const user = open.record.user === undefined ? {} : { user: open.record.user };
        const report = await probeBridges(open.container, { ...options, ...user, signal });
        return { ...report, isolation: open.isolation };
      } finally {
        await open.close();
      }
    });
  }

  /** An interim grade: the workspace is frozen throughout, or until its builder works on (`keepWorking`). */
  grade(id: string, options: AttemptGradeOptions, signal: AbortSignal): AsyncGenerator<GradeEvent> {
    return eventsOf((emit, stop) => gradeAttempt(this.#context, id, false, options, emit, stop), signal);
  }

  /**
   * Thaws the workspace beside its interim grade as soon as the submission is taken, at once where it is. Errors:
   * `UserError` when no interim grade of it runs in this process.
   */
  keepWorking(id: string): Promise<void> {
    return asUserErrors(async () => {
      const grade = this.#context.interim.get(id);
      if (!grade)
        throw new UserError(`The attempt ${id} is not being graded here.`, {
          nextStep: 'Keep working is for a workspace that is frozen while it is graded.',
        });
      await grade.keepWorking();
    });
  }

  /**
   * The final submission, kept and graded officially; the attempt is over with it, also when the engine failed and it
   * is `not graded`: then the same submission can be submitted again. Cancelled, nothing was submitted.
   */
  submit(id: string, signal: AbortSignal, options: AttemptGradeOptions = {}): AsyncGenerator<GradeEvent> {
    return eventsOf((emit, stop) => gradeAttempt(this.#context, id, true, options, emit, stop), signal);
  }

  /** The attempts that have not ended at the task as it is now, or was when it was graded. */
  underWayAt(taskDir: string, gradedDigest?: string): Promise<readonly AttemptRecord[]> {
    return attemptsAt(this.#context.store, taskDir, { gradedDigest });
  }

  /** Into the records of attempts that have not ended: that hidden tests of their task are shown, elsewhere than there. */
  async revealed(attempts: readonly Pick<AttemptRecord, 'id'>[], reveal: OutsideReveal): Promise<void> {
    await revealOutside(this.#context, attempts, reveal);
  }

  /** The snapshots of an attempt, whoever works in it: for looking at, with `SnapshotView`, and for comparing. */
  snapshots(id: string): SnapshotStore {
    return this.#context.snapshots.of(id);
  }

  /** A snapshot by the engine, kept until the attempt is deleted; the workspace is frozen while it is taken. */
  snapshot(id: string, signal: AbortSignal): Promise<SnapshotHead> {
    return asUserErrors(() => snapshotAttempt(this.#context, id, 'manual', signal));
  }

  /** An interim grade of the workspace as it was; also of an attempt that is over. */
  gradeSnapshot(
    id: string,
    snapshot: string,
    options: AttemptGradeOptions,
    signal: AbortSignal,
  ): AsyncGenerator<GradeEvent> {
    return eventsOf((emit, stop) => gradeSnapshot(this.#context, id, snapshot, options, emit, stop), signal);
  }

  /** Past snapshots graded afterwards, for passed tests over time; grades that there are already are not made again. */
  scoreCurve(id: string, options: CurveOptions, signal: AbortSignal): AsyncGenerator<CurveEvent> {
    return eventsOf((emit, stop) => scoreCurve(this.#context, id, options, emit, stop), signal);
  }

  /** A new attempt with the files of a snapshot, or of the workspace as it is now; ends with `ready`, like `start`. */
  fork(id: string, snapshot: string | undefined, signal: AbortSignal): AsyncGenerator<AttemptEvent> {
    return eventsOf((emit, stop) => forkAttempt(this.#context, id, snapshot, emit, stop), signal);
  }

  /** Puts the workspace back; the result is the snapshot of how it was before, for a hard reset that undoes it. */
  reset(id: string, snapshot: string, kind: ResetKind, signal: AbortSignal): Promise<SnapshotHead> {
    return asUserErrors(() => resetAttempt(this.#context, id, snapshot, kind, signal));
  }

  /**
   * Stops the clock and freezes the workspace until `resume`, whoever opens it. Errors: `UserError` while another window
   * has it.
   */
  pause(id: string, reason: string = defaultPauseReason): Promise<AttemptRecord> {
    return this.#recorded(id, () => pauseAttempt(this.#context, id, reason));
  }

  resume(id: string): Promise<AttemptRecord> {
    return this.#recorded(id, () => resumeAttempt(this.#context, id));
  }

  /** A line of the builder's own in the record. */
  note(id: string, text: string): Promise<void> {
    return this.#recorded(id, async (recorder) => {
      recorder.append({ kind: 'note', text });
      await recorder.flush();
    });
  }

  /** As it stands now; also while another window has it, by what that one wrote. */
  async clock(id: string): Promise<AttemptClock> {
    return readAttemptClock(this.#context, id);
  }

  /** Its record as a whole, as far as it is written. Errors: what the file system says. */
  async summary(id: string): Promise<{ readonly summary: RecordSummary; readonly lastLine: number }> {
    const { store, recorders } = this.#context;
    await recorders.peek(id)?.flush();
    return readSummary(store.dirOf(id));
  }

  /** Not counted, for a reason that is kept with it; its files and grades stay. Also of one that is over. */
  disqualify(id: string, reason: string): Promise<AttemptRecord> {
    return this.#recorded(id, async () => {
      const over = await this.#context.store.move(id, 'disqualified', { reason });
      await this.#ended(id);
      return over;
    });
  }

  /** What its builder says once it is over; given again, the last counts. Errors: `UserError` while it is not over. */
  debrief(id: string, debrief: AttemptDebrief): Promise<AttemptRecord> {
    return this.#recorded(id, (recorder) => debriefAttempt(this.#context, id, debrief, recorder));
  }

  /** Ends the attempt without a submission; its files stay until it is deleted. */
  giveUp(id: string): Promise<AttemptRecord> {
    return this.#recorded(id, async () => {
      const record = await this.#context.store.read(id);
      if (record.state !== 'paused') requireWorkable(record);
      const over = await this.#context.store.move(id, 'gave-up');
      await this.#ended(id);
      return over;
    });
  }

  /** Container, volume and folder: gone for good. Refused while a window has it open. */
  delete(id: string): Promise<void> {
    const { store, locks } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      try {
        if (locks.sessions.has(id) || this.#context.busy.has(id))
          throw new UserError(`The attempt ${id} is open.`, { nextStep: 'Close it first.' });
        await deleteWorkspace(await this.#connect(), id);
        await store.delete(id);
      } finally {
        await release();
      }
    });
  }

  /** Who works in the attempt now, in whatever process; undefined when nobody does. */
  whoHas(id: string): Promise<LockOwner | undefined> {
    return lockOwner(this.#context.store.dirOf(id));
  }

  /** Volumes of attempts that are in no store of this machine, and in which nothing lives. */
  orphans(): Promise<readonly OrphanedWorkspace[]> {
    return asUserErrors(async () => listOrphans(this.#context, await this.#connect()));
  }

  /** `name` as `orphans` has it. */
  removeOrphan(name: string): Promise<void> {
    return asUserErrors(async () => removeOrphan(this.#context, await this.#connect(), name));
  }

  /** With the lock, and the record open: what is done is written in it. */
  #recorded<T>(id: string, work: (recorder: Recorder) => Promise<T>): Promise<T> {
    const { locks, recorders } = this.#context;
    return asUserErrors(async () => {
      const release = await locks.require(id);
      try {
        return await work(await recorders.open(id));
      } finally {
        await release();
      }
    });
  }

  /** Its grades are shown whole. What is over needs no engine to be over. */
  async #ended(id: string): Promise<void> {
    await unsealGrades(this.#context.store.dirOf(id));
    try {
      await (await findWorkspaceContainer(await this.#connect(), id))?.kill();
    } catch (error) {
      this.#context.log.warn(`The container of ${id} could not be stopped: ${errorMessage(error)}`);
    }
    await endPause(this.#context, id, true);
  }

  #connect(): Promise<ContainerEngine> {
    return this.#context.connect();
  }
}
