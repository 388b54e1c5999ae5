import { Channel } from '#core/base/channel.ts';
import { isDiskFull, UserError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { type ContainerEngine, EngineError } from '#core/container/engine.ts';
import type { WorkspaceSpec } from '#core/container/workspaceContainer.ts';
import type { PreparedContainers } from '#core/grading/prepared.ts';
import { NotGradedError, notGradedReasons } from '#core/grading/reasons.ts';
import type { ChannelTaker } from '#core/snapshot/takeFromChannel.ts';
import { SnapshotDamagedError } from '#core/snapshot/types.ts';
import { resolveEnv } from '#core/task/env.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import type { AttemptLocks } from './attemptLocks.ts';
import type { AttemptSnapshots } from './attemptSnapshots.ts';
import type { AttemptStore } from './attemptStore.ts';
import type { Freezes, Release } from './freezes.ts';
import type { Recorders } from './recorders.ts';
import type { AttemptRecord } from './types.ts';

export interface AttemptDeps {
  readonly store: AttemptStore;
  readonly connect: () => Promise<ContainerEngine>;
  readonly log: Log;
  readonly hostEnv: NodeJS.ProcessEnv;
  /** dist/guard.cjs, which freezes the container of a process that is killed; without it nobody does. */
  readonly guardScript?: string | undefined;
  /** Room for the store; tests say how much. */
  readonly freeBytes?: (() => Promise<number>) | undefined;
}

/** What every step of an attempt works with. */
export interface AttemptContext extends AttemptDeps {
  readonly locks: AttemptLocks;
  readonly freezes: Freezes;
  readonly snapshots: AttemptSnapshots;
  /** Of the sessions of this process that may write: what takes their periodic snapshots. */
  readonly takers: Map<string, ChannelTaker>;
  /** Attempts that this process is just preparing or grading. */
  readonly busy: Set<string>;
  /** Attempts under an interim grade in this process, whose builder may want to work on. */
  readonly interim: Map<string, { keepWorking(): Promise<void> }>;
  readonly recorders: Recorders;
  /** For the next grade of an attempt that is being worked on. */
  readonly prepared: PreparedContainers;
  /** Of open attempts that are paused: what keeps them frozen. */
  readonly pauses: Map<string, Release>;
  /** Attempts that are being submitted since their time is up. */
  readonly timeOuts: { settled(id: string): Promise<void>; submit(id: string): Promise<void> };
}

/** The container that an attempt has, or gets again. */
export function workspaceSpec(record: AttemptRecord, hostEnv: NodeJS.ProcessEnv): WorkspaceSpec {
  const allowed = Object.fromEntries(record.allowedHostEnv.map((name) => [name, hostEnv[name]]));
  return {
    attemptId: record.id,
    taskName: record.task.name,
    image: record.image.id,
    workdir: record.workdir,
    env: resolveEnv(record.env, allowed),
    cpus: record.limits.cpus,
    memoryMb: record.limits.memoryMb,
    start: 'image',
    files: {},
  };
}

/** The attempt's task as it is on disk now. Errors: `UserError` when it is there no more. */
export async function taskOf(record: AttemptRecord): Promise<Task> {
  const { task, problems } = await loadTask(record.task.path);
  if (task) return task;
  throw new UserError(
    `The task ${record.task.name} of the attempt cannot be read: ${problems[0]?.message ?? 'it is no task.'}`,
    { nextStep: `Put the task's folder back to ${record.task.path}.` },
  );
}

/** Runs a job that tells events; whoever stops reading them cancels it, and it is over when the reading ends. */
export async function* eventsOf<E>(
  run: (emit: (event: E) => void, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<E> {
  const events = new Channel<E>();
  const stopped = new AbortController();
  const running = run((event) => events.push(event), AbortSignal.any([signal, stopped.signal])).then(
    () => events.end(),
    (error: unknown) => events.end(forPeople(error)),
  );
  try {
    yield* events;
  } finally {
    stopped.abort();
    await running;
  }
}

/** What the engine or the task does not allow, as one sentence with a next step; all else as it is. */
export function forPeople(error: unknown): unknown {
  if (error instanceof EngineError)
    return new UserError(error.message, { nextStep: engineNextStep(error), cause: error });
  if (error instanceof NotGradedError)
    return new UserError(error.message, {
      nextStep: error.nextStep ?? notGradedReasons[error.reason].nextStep,
      cause: error,
    });
  if (error instanceof SnapshotDamagedError)
    return new UserError(error.message, { nextStep: 'Choose another snapshot.', cause: error });
  return isDiskFull(error)
    ? new UserError('The disk that holds the attempts is full.', {
        nextStep: 'Free some space and try again.',
        cause: error,
      })
    : error;
}

export async function asUserErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw forPeople(error);
  }
}

function engineNextStep({ failure }: EngineError): string {
  switch (failure) {
    case 'unreachable':
    case 'lost':
      return 'See that the container engine is up and try again.';
    case 'image-missing':
    case 'pull-failed':
      return 'Connect to the network or load the image, and try again.';
    case 'build-failed':
      return "Repair the task's environment/Dockerfile and try again.";
    case 'disk-full':
      return "Make room on the engine's disk and try again.";
    default:
      return 'Try again; the log has the details.';
  }
}
