import type { ImportedAttempt, ImportedAttempts } from '#core/attempt/importedAttempts.ts';
import type { Disposable } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import type { Task } from '#core/task/types.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';

export interface ImportIndexDeps {
  readonly index: Pick<TaskIndex, 'tasks' | 'onDidChange'>;
  readonly storeDir: () => string;
  readonly log: Log;
}

/** The trials that were imported, read when a task is first opened; read where they are, and never written. */
export class ImportIndex implements Disposable {
  readonly #deps: ImportIndexDeps;
  readonly #changed = new Emitter<void>();
  readonly #following: Disposable;
  #imports: ImportedAttempts | undefined;
  #dir = '';
  #reading: Promise<readonly ImportedAttempt[]> | undefined;

  readonly onDidChange = this.#changed.event;

  constructor(deps: ImportIndexDeps) {
    this.#deps = deps;
    // The number of tests that a trial should report is its task's.
    this.#following = deps.index.onDidChange(() => {
      this.#reading = undefined;
    });
  }

  /** Those at one task, by its name or its folder's. */
  async of(task: Pick<Task, 'name'>): Promise<readonly ImportedAttempt[]> {
    this.#reading ??= this.#read();
    return (await this.#reading).filter(({ taskName }) => taskName === task.name);
  }

  async add(dir: string, signal: AbortSignal): Promise<readonly ImportedAttempt[]> {
    const found = await (await this.#open()).add(dir, this.#expected, signal);
    this.reload();
    return found;
  }

  async remove(dir: string): Promise<void> {
    await (await this.#open()).remove(dir);
    this.reload();
  }

  async folders(): Promise<readonly string[]> {
    return (await this.#open()).folders();
  }

  /** Reads them again: they may have changed where they are. */
  reload(): void {
    this.#reading = undefined;
    this.#changed.fire();
  }

  readonly #expected = async ({ name }: { readonly name: string }): Promise<number | undefined> =>
    this.#deps.index.tasks.find((task) => task.name === name)?.testCaseCount;

  /** Core is loaded at the first use; the person can move the store. */
  async #open(): Promise<ImportedAttempts> {
    const dir = this.#deps.storeDir();
    const core = await import('#core/attempt/importedAttempts.ts');
    if (!this.#imports || this.#dir !== dir) {
      this.#imports = new core.ImportedAttempts(dir);
      this.#dir = dir;
    }
    return this.#imports;
  }

  async #read(): Promise<readonly ImportedAttempt[]> {
    try {
      return await (await this.#open()).list(this.#expected);
    } catch (error) {
      this.#deps.log.warn(`The imported trials could not be read: ${errorMessage(error)}`);
      return [];
    }
  }

  dispose(): void {
    this.#following.dispose();
    this.#changed.dispose();
  }
}
