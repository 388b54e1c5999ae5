/**
 * What the adapters need of core, as small as they use it. `extension.ts` joins the two; tests give fakes.
 */
import type { ContainerHandle, EngineInfo } from '#core/container/engine.ts';
import type { GradeSummary } from '#core/grading/store.ts';
import type { GradeEvent, GradeResult, SubmissionSource } from '#core/grading/types.ts';
import type { Task, TaskEntry } from '#core/task/types.ts';

/** Reads task folders. */
export interface TaskReader {
  /** The tasks directly below a folder of tasks, or the folder itself when it is one. */
  discover(dir: string, signal: AbortSignal): Promise<readonly TaskEntry[]>;
  /** The tasks anywhere in a workspace folder. */
  find(root: string, signal: AbortSignal): Promise<readonly TaskEntry[]>;
  /** The spec, canary lines stripped. */
  readSpec(task: Task): Promise<string>;
}

/** Reads the store; asked anew for each call, since the person can move it. */
export interface GradeStore {
  /** Newest first. */
  list(task: Task): Promise<readonly GradeSummary[]>;
  read(dir: string): Promise<GradeResult>;
}

/** The kept containers of finished grades, by the grade's folder. */
export interface KeptContainers {
  list(): Promise<readonly string[]>;
  /** Started again where it had ended. Errors: `UserError` where there is none. */
  open(gradeDir: string): Promise<ContainerHandle>;
  remove(gradeDir: string): Promise<void>;
}

/** An engine that answered, as far as the editor uses it itself. */
export interface Engine {
  info(): Promise<EngineInfo>;
  close(): void;
}

/** Runs a grade from the connection to the last event; the engine is closed when the generator ends. */
export type Grader = (
  task: Task,
  source: SubmissionSource,
  signal: AbortSignal,
  /** Keeps the container for a look inside. */
  keep?: boolean,
) => AsyncGenerator<GradeEvent, void, undefined>;
