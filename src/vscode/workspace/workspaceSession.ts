import type { AttemptRecord, OpenAttempt } from '#core/attempt/types.ts';
import type { Disposable } from '#core/base/disposable.ts';
import { Emitter } from '#core/base/event.ts';

/** Why an attempt takes no more changes, in words for people; undefined while it does. */
export function readOnlyReason(record: AttemptRecord, isSecondWindow: boolean): string | undefined {
  if (record.state === 'submitted') return 'The attempt is submitted.';
  if (record.state === 'gave-up') return 'The attempt was given up.';
  return isSecondWindow ? 'Another window works in this attempt.' : undefined;
}

/** An attempt that is open in this window: its record, its container, its files. */
export class WorkspaceSession implements Disposable {
  readonly open: OpenAttempt;
  readonly #changed = new Emitter<void>();
  readonly #thawed = new Emitter<void>();
  #record: AttemptRecord;
  #frozen: string | undefined;

  /** Fires when the record changed, and when the workspace was frozen or thawed. */
  readonly onDidChange = this.#changed.event;

  constructor(open: OpenAttempt) {
    this.open = open;
    this.#record = open.record;
  }

  get id(): string {
    return this.#record.id;
  }

  /** The newest that this window knows. */
  get record(): AttemptRecord {
    return this.#record;
  }

  set record(record: AttemptRecord) {
    this.#record = record;
    this.#changed.fire();
  }

  /** Why nothing can be changed for good; undefined otherwise. */
  get readOnly(): string | undefined {
    const isOver = this.#record.state === 'submitted' || this.#record.state === 'gave-up';
    return readOnlyReason(this.#record, this.open.readOnly && !isOver);
  }

  /** Why the container stands still now; undefined while it runs. */
  get frozen(): string | undefined {
    return this.#frozen;
  }

  /** What keeps a change from being made, now or for good. */
  get writeBlock(): string | undefined {
    return this.#frozen ?? this.readOnly;
  }

  freeze(why: string): void {
    if (this.#frozen === why) return;
    this.#frozen = why;
    this.#changed.fire();
  }

  thaw(): void {
    if (this.#frozen === undefined) return;
    this.#frozen = undefined;
    this.#changed.fire();
    this.#thawed.fire();
  }

  /** Resolves with true once the container runs, at once when it does; with false when `ms` went by before. */
  whenThawed(ms?: number): Promise<boolean> {
    if (this.#frozen === undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (isThawed: boolean): void => {
        clearTimeout(timer);
        listening.dispose();
        resolve(isThawed);
      };
      const listening = this.#thawed.event(() => done(true));
      const timer = ms === undefined ? undefined : setTimeout(() => done(false), ms);
    });
  }

  dispose(): void {
    this.thaw();
    this.#changed.dispose();
    this.#thawed.dispose();
  }
}
