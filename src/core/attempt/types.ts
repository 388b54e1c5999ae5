import type { Event } from '#core/base/event.ts';
import type { BridgeReport } from '#core/container/bridges.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { FsChannel } from '#core/container/fsChannel.ts';
import type { IsolationProbe } from '#core/container/workspaceProbe.ts';
import type { Verdict } from '#core/report/types.ts';
import type { PeriodicReason } from '#core/snapshot/schedule.ts';
import type { TakenSnapshot } from '#core/snapshot/store.ts';
import type { FreezeReason } from './freezes.ts';
import type { AttemptDebrief, AttemptProtocol } from './protocol.ts';
import type { Recorder } from './recorder.ts';

/**
 * Where an attempt stands. `ready`: nobody works in it, its container is frozen; `running`: a session is open;
 * `paused`: its builder, or the machine, stopped the clock, and it is frozen until it is resumed, session or not;
 * `grading`: it is graded and frozen meanwhile; `timed-out`: submitted since its time was up;
 * `lost`: its files are gone, or it was never made.
 */
export type AttemptState =
  | 'preparing'
  | 'ready'
  | 'running'
  | 'paused'
  | 'grading'
  | 'submitted'
  | 'gave-up'
  | 'timed-out'
  | 'disqualified'
  | 'lost';

/**
 * `channel`: all of the work went through us; `attached`: a window or tool was attached to the container at some time,
 * whose terminals are not recorded.
 */
export type AttemptMode = 'channel' | 'attached';

/** attempt.json: one try at one task. Paths in it are absolute here, relative to its folder in the file. */
export interface AttemptRecord {
  readonly schemaVersion: 3;
  /** Short, lower-case, in the order of creation. */
  readonly id: string;
  /** The digest is that of the task's content when the attempt began. */
  readonly task: { readonly name: string; readonly path: string; readonly digest: string };
  readonly state: AttemptState;
  readonly mode: AttemptMode;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** Absolute container path; empty while preparing. */
  readonly workdir: string;
  /** Who works in the container; the image's own user when absent. */
  readonly user?: string;
  /** Empty while preparing. */
  readonly image: { readonly reference: string; readonly id: string };
  readonly volume: string;
  /** Container paths that a submission covers, the workdir first. */
  readonly roots: readonly string[];
  /** Of the task, before they are lowered to what the machine has. */
  readonly limits: { readonly cpus: number | null; readonly memoryMb: number | null };
  /** Seconds of unpaused time that its builder has (`[agent].timeout_sec` when it began); null: no end. */
  readonly budgetSec: number | null;
  /** As task.toml writes it: no value of a host variable is ever kept. */
  readonly env: Readonly<Record<string, string>>;
  /** Host variables that the person let the task read. */
  readonly allowedHostEnv: readonly string[];
  readonly history: readonly AttemptStep[];
  readonly grades: readonly AttemptGrade[];
  /** The final one. */
  readonly submission?: AttemptSubmission;
  /** It began with the files of another attempt's snapshot. */
  readonly forkedFrom?: { readonly attempt: string; readonly snapshot: string };
  /** The conditions of a measured attempt; without them it is practice. */
  readonly protocol?: AttemptProtocol;
  /** What its builder said when it was over. */
  readonly debrief?: AttemptDebrief;
  /** Why attempt.json cannot be used; never in a file. Such an attempt can only be deleted. */
  readonly damage?: string;
}

export interface AttemptStep {
  readonly state: AttemptState;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly reason?: string;
}

export interface AttemptGrade {
  /** For `readGrade`. */
  readonly dir: string;
  readonly verdict: Verdict;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Of the final submission. */
  readonly official: boolean;
  /** The snapshot that was graded; absent in records from before there were any. */
  readonly snapshot?: string;
}

export interface AttemptSubmission {
  readonly file: string;
  /** Of the tar before compression. */
  readonly sha256: string;
  /** When the workspace was as it is in there; ISO 8601 UTC. */
  readonly at: string;
  readonly snapshot?: string;
}

export interface StartOptions {
  /** The conditions of a measured attempt; without them it is practice. */
  readonly protocol?: AttemptProtocol | undefined;
  /** Asked before a host variable goes into the container; without it none goes. */
  readonly allowHostEnv?: (names: readonly string[]) => Promise<boolean>;
}

/** Progress of a start, in order; the last event is always `ready`. */
export type AttemptEvent =
  /** It is in the store from here on; taken out again when the start fails. */
  | { readonly kind: 'preparing'; readonly attempt: AttemptRecord }
  | { readonly kind: 'phase'; readonly phase: 'image' | 'container' | 'probe'; readonly title: string }
  | { readonly kind: 'progress'; readonly message: string }
  | {
      readonly kind: 'ready';
      readonly attempt: AttemptRecord;
      readonly isolation: IsolationProbe;
      /** Limits that were lowered to what the machine has, in words. */
      readonly clamped: readonly string[];
    };

/** A session: from `open` to `close`. */
export interface OpenAttempt {
  /** As it was when the session began; the store has the newest. */
  readonly record: AttemptRecord;
  readonly container: ContainerHandle;
  readonly files: FsChannel;
  readonly isolation: IsolationProbe;
  /** Another window works in it, or it is submitted or given up. */
  readonly readOnly: boolean;
  /** What became of the container since; `recreated`: what was outside the workdir is the image's again. */
  readonly how: 'was running' | 'was paused' | 'started' | 'recreated';
  /**
   * Tells that the workspace is being frozen, with the reason, and without one that it is thawed: whatever this process
   * does with it until the close, which freezes it too. The clock stands still meanwhile.
   */
  readonly onDidFreeze: Event<FreezeReason | undefined>;
  /**
   * A periodic snapshot, by the container's own tools: quick, but not their word for it. Undefined where nothing is to
   * be kept: in a session that may not write, and while the workspace is frozen. Errors: see `ChannelTaker.take`.
   */
  takeSnapshot(reason: PeriodicReason, signal?: AbortSignal): Promise<TakenSnapshot | undefined>;
  /** Why it was frozen when the session began; absent while it was not. */
  readonly frozenBecause?: FreezeReason;
  /** What happens is told to it, and it has the clock; absent where the session is read-only. */
  readonly recorder?: Recorder;
  /** Freezes the container unless another window works in it. Never throws; a second call does nothing. */
  close(): Promise<void>;
}

export interface AttemptGradeOptions {
  /** Seconds; overrides `[verifier].timeout_sec`. */
  readonly timeoutSec?: number | undefined;
  /** Thaw the workspace once its submission is taken; of an interim grade only. */
  readonly keepWorking?: boolean;
  /** The set-up and the tests in containers of their own (`verifyHardened`). */
  readonly hardened?: boolean | 'where declared';
  /** The builder's time is up: of a final submission, whose attempt is `timed-out` then. */
  readonly isTimeUp?: boolean;
  /** Emit the verifier's output while it runs. */
  readonly live?: boolean;
  /** Asked before a host variable goes into the grade's containers; without it none goes. */
  readonly allowHostEnv?: (names: readonly string[]) => Promise<boolean>;
}

export interface SetupResult {
  readonly exitCode: number;
  readonly durationMs: number;
  /** Paths that setup.sh made, changed or removed, the topmost of what is new or gone. */
  readonly changed: readonly string[];
}

/** What is ready for a window or a tool to attach; paths are absolute, of the host. */
export interface AttachedMode {
  /** What `devcontainer up --workspace-folder` is given; nothing of it gets into the container. */
  readonly folder: string;
  readonly config: string;
  /** For "Dev Containers: Open Named Configuration File". */
  readonly attachedConfig: string;
  /** For a window; unverified on machines without Dev Containers. */
  readonly uri: string;
  /** What `devcontainer --id-label` is given. */
  readonly idLabel: string;
  /** For people. */
  readonly warnings: readonly string[];
}

/** Ways out of an attempt's container that were looked for. */
export interface AttemptBridges extends BridgeReport {
  readonly isolation: IsolationProbe;
}

/** A workspace volume whose attempt is in no store of this machine. */
export interface OrphanedWorkspace {
  /** The volume's. */
  readonly name: string;
  readonly attemptId: string;
  readonly taskName: string;
  /** The store that had it, where that is known. */
  readonly storeDir: string | undefined;
}
