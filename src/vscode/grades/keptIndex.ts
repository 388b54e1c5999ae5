import type { Disposable } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import type { KeptContainers } from '#vscode/ports.ts';

/** Which grades have a container that was kept, as far as the engine was asked. */
export class KeptIndex implements Disposable {
  readonly containers: KeptContainers;
  readonly #log: Log;
  readonly #changed = new Emitter<void>();
  #dirs: ReadonlySet<string> = new Set();

  readonly onDidChange = this.#changed.event;

  constructor(containers: KeptContainers, log: Log) {
    this.containers = containers;
    this.#log = log;
  }

  /** Rendering asks this and never waits. */
  has(gradeDir: string): boolean {
    return this.#dirs.has(gradeDir);
  }

  /** Asks the engine; one that does not answer keeps none. */
  async refresh(): Promise<void> {
    const before = [...this.#dirs].join('\n');
    try {
      this.#dirs = new Set([...(await this.containers.list())].sort());
    } catch (error) {
      this.#log.warn(`The kept containers could not be listed: ${errorMessage(error)}`);
      this.#dirs = new Set();
    }
    if ([...this.#dirs].join('\n') !== before) this.#changed.fire();
  }

  /** No error where there is none, or, as far as was known, none to remove. */
  async remove(gradeDir: string): Promise<void> {
    try {
      await this.containers.remove(gradeDir);
    } catch (error) {
      if (this.has(gradeDir)) throw error;
      this.#log.debug(`Whether a container of ${gradeDir} was kept is not known: ${errorMessage(error)}`);
    }
    if (this.has(gradeDir)) await this.refresh();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
