import type { AttemptClock } from '#core/attempt/attemptClock.ts';
import type { OutsideReveal } from '#core/attempt/outsideReveals.ts';
import type { AttemptDebrief } from '#core/attempt/protocol.ts';
import type { RecordSummary } from '#core/attempt/recordSummary.ts';
import type { ResetKind } from '#core/attempt/resetAttempt.ts';
import type { CurveEvent, CurveOptions } from '#core/attempt/scoreCurve.ts';
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
} from '#core/attempt/types.ts';
import type { GradeEvent } from '#core/grading/types.ts';
import type { SnapshotStore } from '#core/snapshot/store.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import type { Task } from '#core/task/types.ts';

/** What the editor uses of core's attempts; tests give fakes. Every step connects to the engine by itself. */
export interface AttemptRoom {
  /** Newest first. */
  list(): Promise<readonly AttemptRecord[]>;
  read(id: string): Promise<AttemptRecord>;
  start(task: Task, options: StartOptions, signal: AbortSignal): AsyncGenerator<AttemptEvent>;
  open(id: string, signal: AbortSignal): Promise<OpenAttempt>;
  /** True while a window, this one too, works in it. */
  isTaken(id: string): Promise<boolean>;
  /** What changed in the container and no submission covers. */
  willNotTravel(id: string): Promise<readonly string[]>;
  /** Makes ready what attaches a window; the record says so from then on. */
  attachedMode(id: string, signal: AbortSignal): Promise<AttachedMode>;
  /** Ways out of the container, also while it is open here. */
  bridges(id: string, options: { readonly scrub: boolean }, signal: AbortSignal): Promise<AttemptBridges>;
  trySetup(id: string, onOutput: (text: string) => void, signal: AbortSignal): Promise<SetupResult>;
  grade(id: string, options: AttemptGradeOptions, signal: AbortSignal): AsyncGenerator<GradeEvent>;
  /** Thaws the workspace beside its interim grade, once its submission is taken. */
  keepWorking(id: string): Promise<void>;
  /** The final submission and its official grade: the attempt is over. */
  submit(id: string, signal: AbortSignal, options: AttemptGradeOptions): AsyncGenerator<GradeEvent>;
  /** The attempts that have not ended at a task as it is on disk, or was when it was graded. */
  underWayAt(taskDir: string, gradedDigest?: string): Promise<readonly AttemptRecord[]>;
  /** Into their records: hidden tests of their task are shown elsewhere. */
  revealed(attempts: readonly Pick<AttemptRecord, 'id'>[], reveal: OutsideReveal): Promise<void>;
  /** Its snapshots, for reading; whoever works in it. */
  snapshots(id: string): Promise<SnapshotStore>;
  /** The workspace as it is now, kept until the attempt is deleted. */
  snapshot(id: string, signal: AbortSignal): Promise<SnapshotHead>;
  /** An interim grade of the workspace as it was; the one of now is left alone. */
  gradeSnapshot(
    id: string,
    snapshot: string,
    options: AttemptGradeOptions,
    signal: AbortSignal,
  ): AsyncGenerator<GradeEvent>;
  /** A new attempt with the files of a snapshot; ends with `ready`. */
  fork(id: string, snapshot: string, signal: AbortSignal): AsyncGenerator<AttemptEvent>;
  /** Puts the workspace back; the snapshot of how it was before, which undoes it. */
  reset(id: string, snapshot: string, kind: ResetKind, signal: AbortSignal): Promise<SnapshotHead>;
  /** Past snapshots graded afterwards: of an attempt that is over, or for the task's author. */
  scoreCurve(id: string, options: CurveOptions, signal: AbortSignal): AsyncGenerator<CurveEvent>;
  giveUp(id: string): Promise<AttemptRecord>;
  /** Stops the clock and freezes the workspace, also for later sessions. */
  pause(id: string, reason: string | undefined): Promise<AttemptRecord>;
  resume(id: string): Promise<AttemptRecord>;
  note(id: string, text: string): Promise<void>;
  clock(id: string): Promise<AttemptClock>;
  /** Its record as a whole, as far as it is written. */
  summary(id: string): Promise<{ readonly summary: RecordSummary; readonly lastLine: number }>;
  /** What its builder says when it is over. */
  debrief(id: string, debrief: AttemptDebrief): Promise<AttemptRecord>;
  delete(id: string): Promise<void>;
  orphans(): Promise<readonly OrphanedWorkspace[]>;
  removeOrphan(name: string): Promise<void>;
}
