import type { AttemptRecord } from '#core/attempt/types.ts';
import type { Disposable } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import type { Task } from '#core/task/types.ts';
import type { AttemptRoom } from './ports.ts';

/** The attempts in the store, read when they are first needed; other windows change them too. */
export class AttemptIndex implements Disposable {
  readonly room: AttemptRoom;
  readonly #log: Log;
  readonly #changed = new Emitter<void>();
  #reading: Promise<readonly AttemptRecord[]> | undefined;

  readonly onDidChange = this.#changed.event;

  constructor(room: AttemptRoom, log: Log) {
    this.room = room;
    this.#log = log;
  }

  /** All of them, newest first. */
  list(): Promise<readonly AttemptRecord[]> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** Those at one task, newest first. */
  async of(task: Pick<Task, 'dir'>): Promise<readonly AttemptRecord[]> {
    return (await this.list()).filter((record) => record.task.path === task.dir);
  }

  /** Reads them again where they were read: something was started, ended or deleted, here or in another window. */
  async reload(): Promise<void> {
    if (!this.#reading) return;
    const before = JSON.stringify(await this.#reading);
    this.#reading = this.#read();
    if (JSON.stringify(await this.#reading) !== before) this.#changed.fire();
  }

  async #read(): Promise<readonly AttemptRecord[]> {
    try {
      return await this.room.list();
    } catch (error) {
      this.#log.warn(`The attempts could not be read: ${errorMessage(error)}`);
      return [];
    }
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
