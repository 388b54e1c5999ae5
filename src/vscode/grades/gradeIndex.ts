import type { Disposable } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import type { GradeSummary } from '#core/grading/store.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import type { GradeStore } from '#vscode/ports.ts';

/** How many tasks are asked for their grades at once in the background. */
const preloadWidth = 8;

/** The stored grades of each task, read when they are first needed. */
export class GradeIndex implements Disposable {
  readonly #store: GradeStore;
  readonly #log: Log;
  readonly #lists = new Map<string, Promise<readonly GradeSummary[]>>();
  readonly #latest = new Map<string, GradeSummary | undefined>();
  readonly #changed = new Emitter<Task>();

  /** Fires when what is known about the grades of a task changed. */
  readonly onDidChange = this.#changed.event;

  constructor(store: GradeStore, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** The newest grade as far as it was read; rendering asks this and never waits. */
  latest(task: Task): GradeSummary | undefined {
    return this.#latest.get(task.dir);
  }

  /** Newest first. */
  list(task: Task): Promise<readonly GradeSummary[]> {
    const known = this.#lists.get(task.dir);
    if (known !== undefined) return known;
    const loading = this.#load(task);
    this.#lists.set(task.dir, loading);
    return loading;
  }

  read(dir: string): Promise<GradeResult> {
    return this.#store.read(dir);
  }

  /** Reads the grades of a task again, after one was made or deleted. */
  async reload(task: Task): Promise<void> {
    this.#lists.delete(task.dir);
    await this.list(task);
    this.#changed.fire(task);
  }

  /** Reads in the background the grades of tasks about to be shown, and tells of those that have any. */
  async preload(tasks: readonly Task[]): Promise<void> {
    const waiting = tasks.filter((task) => !this.#lists.has(task.dir));
    const work = async (): Promise<void> => {
      for (let task = waiting.shift(); task; task = waiting.shift()) {
        if ((await this.list(task)).length > 0) this.#changed.fire(task);
      }
    };
    await Promise.all(Array.from({ length: preloadWidth }, work));
  }

  /** Forgets everything, as when the store moved. */
  clear(): void {
    this.#lists.clear();
    this.#latest.clear();
  }

  async #load(task: Task): Promise<readonly GradeSummary[]> {
    try {
      const grades = await this.#store.list(task);
      this.#latest.set(task.dir, grades[0]);
      return grades;
    } catch (error) {
      this.#log.warn(`The grades of ${task.name} could not be read: ${errorMessage(error)}`);
      return [];
    }
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
