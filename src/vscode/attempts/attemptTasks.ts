import type { AttemptRecord } from '#core/attempt/types.ts';
import { UserError } from '#core/base/errors.ts';
import type { Task, TaskEntry } from '#core/task/types.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import type { TaskReader } from '#vscode/ports.ts';

/**
 * The tasks that attempts are at. A workspace's window lists other folders than the one that it was opened from, so
 * its task need not be among the listed ones.
 */
export class AttemptTasks {
  readonly #index: TaskIndex;
  readonly #reader: Pick<TaskReader, 'discover'>;
  readonly #found = new Map<string, TaskEntry>();

  constructor(index: TaskIndex, reader: Pick<TaskReader, 'discover'>) {
    this.#index = index;
    this.#reader = reader;
  }

  /** Listed, or read for an attempt before. */
  findByDir(dir: string): TaskEntry | undefined {
    return this.#index.findByDir(dir) ?? this.#found.get(dir);
  }

  /** Errors: `UserError` where the task is gone. */
  async of(record: Pick<AttemptRecord, 'task'>): Promise<Task> {
    const { path, name } = record.task;
    const known = this.findByDir(path)?.task;
    if (known) return known;
    const entries = await this.#reader.discover(path, new AbortController().signal).catch(() => []);
    const entry = entries.find((candidate) => candidate.path === path);
    if (!entry?.task) {
      throw new UserError(`The task ${name} of the attempt cannot be read.`, {
        nextStep: `Put its folder back to ${path}.`,
      });
    }
    this.#found.set(path, entry);
    return entry.task;
  }
}
