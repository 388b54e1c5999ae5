import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Log } from '#core/base/log.ts';
import { type GradeOptions, gradeTask } from '#core/grading/grade.ts';
import type { GradeEvent, GradeResult, SubmissionSource } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import type { FakeEngine } from '../../fakes/engine.ts';
import { makeTask, type TaskParts } from '../../fixtures/tasks/makeTask.ts';

/** A temporary folder with a task maker and one fake-engine grade at a time. */
export class Bench {
  readonly dir: string;
  readonly warnings: string[] = [];
  #tasks = 0;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async make(): Promise<Bench> {
    return new Bench(await mkdtemp(path.join(tmpdir(), 'e2e-swe-test-')));
  }

  remove(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true });
  }

  get store(): string {
    return path.join(this.dir, 'store');
  }

  readonly log: Log = {
    trace: () => undefined,
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => void this.warnings.push(message),
    error: (message) => void this.warnings.push(message),
  };

  async task(parts: TaskParts = {}): Promise<Task> {
    const dir = await makeTask(path.join(this.dir, `t${this.#tasks++}`, 'shell-task'), parts);
    const { task, problems } = await loadTask(dir);
    if (!task) throw new Error(`The fixture is no task: ${JSON.stringify(problems)}`);
    return task;
  }

  /** Grades on an engine, to the result. */
  async grade(
    engine: FakeEngine,
    task: Task,
    source: SubmissionSource = { kind: 'empty' },
    options: Partial<GradeOptions> = {},
    signal: AbortSignal = new AbortController().signal,
    onEvent: (event: GradeEvent) => void = () => undefined,
  ): Promise<GradeResult> {
    let result: GradeResult | undefined;
    const events = gradeTask(
      task,
      source,
      { storeDir: this.store, ...options },
      { connect: () => Promise.resolve(engine), log: this.log, hostEnv: {} },
      signal,
    );
    for await (const event of events) {
      onEvent(event);
      if (event.kind === 'finished') result = event.result;
    }
    if (!result) throw new Error('The grade ended without a result.');
    return result;
  }
}

/** A report of tests by name and status, as a verifier writes it. */
export function ctrf(tests: Readonly<Record<string, string>>): string {
  return JSON.stringify({
    results: {
      tool: { name: 'fake' },
      tests: Object.entries(tests).map(([name, status]) => ({ name, status })),
    },
  });
}
