import type { Disposable } from '#core/base/disposable.ts';
import { CancelledError } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { SubmissionSource } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';

/** A grade that waits or runs. */
export interface GradeJob {
  readonly id: number;
  readonly task: Task;
  readonly source: SubmissionSource;
  readonly state: 'queued' | 'running';
  /** What it does now, in words. */
  readonly step: string;
  cancel(): void;
}

interface OpenJob extends GradeJob {
  state: 'queued' | 'running';
  step: string;
}

/** Lets grades run one after the other: they share the engine's processors, and a slow grade would time out. */
export class GradeQueue implements Disposable {
  readonly #width: number;
  readonly #changed = new Emitter<Task>();
  readonly #waiting: (() => void)[] = [];
  #jobs: readonly OpenJob[] = [];
  #running = 0;
  #nextId = 1;

  /** Fires with the task whose jobs changed. */
  readonly onDidChange = this.#changed.event;

  constructor(width = 1) {
    this.#width = width;
  }

  get jobs(): readonly GradeJob[] {
    return this.#jobs;
  }

  jobsOf(task: Task): readonly GradeJob[] {
    return this.#jobs.filter((job) => job.task.dir === task.dir);
  }

  /**
   * Runs `work` when its turn comes. The controller is the job's: aborting it while the job waits rejects with
   * `CancelledError` at once; while it runs, `work` is expected to stop. `step` tells what goes on.
   */
  async run<T>(
    task: Task,
    source: SubmissionSource,
    controller: AbortController,
    work: (step: (text: string) => void) => Promise<T>,
  ): Promise<T> {
    const job: OpenJob = {
      id: this.#nextId++,
      task,
      source,
      state: 'queued',
      step: 'Waiting',
      cancel: () => controller.abort(),
    };
    this.#jobs = [...this.#jobs, job];
    this.#changed.fire(task);
    try {
      await this.#turn(controller.signal);
      try {
        job.state = 'running';
        job.step = 'Starting';
        this.#changed.fire(task);
        return await work((text) => {
          job.step = text;
          this.#changed.fire(task);
        });
      } finally {
        this.#running--;
        this.#waiting.shift()?.();
      }
    } finally {
      this.#jobs = this.#jobs.filter((other) => other !== job);
      this.#changed.fire(task);
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new CancelledError();
    if (this.#running < this.#width) {
      this.#running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const proceed = (): void => {
        signal.removeEventListener('abort', abandon);
        this.#running++;
        resolve();
      };
      const abandon = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1);
        reject(new CancelledError());
      };
      signal.addEventListener('abort', abandon, { once: true });
      this.#waiting.push(proceed);
    });
  }

  /** Cancels everything and waits until nothing of it runs: containers are removed while the window closes. */
  async stop(): Promise<void> {
    for (const job of this.#jobs) job.cancel();
    if (this.#jobs.length === 0) return;
    await new Promise<void>((resolve) => {
      const listening = this.onDidChange(() => {
        if (this.#jobs.length > 0) return;
        listening.dispose();
        resolve();
      });
    });
  }

  dispose(): void {
    for (const job of this.#jobs) job.cancel();
    this.#changed.dispose();
  }
}
