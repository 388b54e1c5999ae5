import type { FreezeReason } from '#core/attempt/freezes.ts';
import { awaitsStart, isOver } from '#core/attempt/states.ts';
import type { AttemptRecord, OpenAttempt } from '#core/attempt/types.ts';
import type { Disposable } from '#core/base/disposable.ts';
import { UserError } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import { freezeSentence, waitingSentence } from '#vscode/attempts/words.ts';

/** How long what wants to read waits for a frozen workspace before it fails with the reason. */
export const thawPatienceMs = 3_000;

/** Why an attempt takes no more changes, in words for people; undefined while it does. */
export function readOnlyReason(record: AttemptRecord, isSecondWindow: boolean): string | undefined {
  if (record.state === 'submitted') return 'The attempt is submitted.';
  if (record.state === 'gave-up') return 'The attempt was given up.';
  if (record.state === 'timed-out') return 'The time of the attempt is up, and it is submitted.';
  if (record.state === 'disqualified') return 'The attempt is disqualified.';
  return isSecondWindow
    ? 'Another window works in this attempt. Work there, or close it and come back.'
    : undefined;
}

/** An attempt that is open in this window: its record, its container, its files. */
export class WorkspaceSession implements Disposable {
  readonly open: OpenAttempt;
  readonly #changed = new Emitter<void>();
  /** True: thawed; false: the session ended before. */
  readonly #unfrozen = new Emitter<boolean>();
  #record: AttemptRecord;
  readonly #listening: Disposable;
  #freeze: FreezeReason | undefined;

  /** Fires when the record changed, and when the workspace was frozen or thawed. */
  readonly onDidChange = this.#changed.event;

  constructor(open: OpenAttempt) {
    this.open = open;
    this.#record = open.record;
    this.#freeze = open.frozenBecause;
    this.#listening = open.onDidFreeze((reason) => this.#setFreeze(reason));
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
    return readOnlyReason(this.#record, this.open.readOnly && !isOver(this.#record.state));
  }

  /** Why the container stands still now; undefined while it runs. */
  get frozen(): string | undefined {
    return this.isWaiting ? waitingSentence : freezeSentence(this.#freeze);
  }

  /** True for a measured attempt whose clock was never started: neither files nor spec are shown. */
  get isWaiting(): boolean {
    return this.#freeze === 'pause' && !this.open.readOnly && awaitsStart(this.#record);
  }

  /** True while it is frozen for an interim grade, which the person can end. */
  get isFrozenForGrade(): boolean {
    return this.#freeze === 'grade';
  }

  /** What keeps a change from being made, now or for good. */
  get writeBlock(): string | undefined {
    return this.frozen ?? this.readOnly;
  }

  #setFreeze(reason: FreezeReason | undefined): void {
    const before = this.frozen;
    this.#freeze = reason;
    if (this.frozen === before) return;
    this.#changed.fire();
    if (this.frozen === undefined) this.#unfrozen.fire(true);
  }

  /**
   * Resolves with true once the container runs, at once when it does; with false when `ms` went by before, or the
   * session ended.
   */
  whenThawed(ms?: number): Promise<boolean> {
    if (this.frozen === undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (isThawed: boolean): void => {
        clearTimeout(timer);
        listening.dispose();
        resolve(isThawed);
      };
      const listening = this.#unfrozen.event(done);
      const timer = ms === undefined ? undefined : setTimeout(() => done(false), ms);
    });
  }

  /** Waits a moment for the thaw. Errors: `UserError` that says why it stays frozen. */
  async requireThawed(): Promise<void> {
    if (await this.whenThawed(thawPatienceMs)) return;
    throw new UserError(this.frozen ?? 'The workspace is frozen.');
  }

  dispose(): void {
    this.#listening.dispose();
    this.#unfrozen.fire(false);
    this.#changed.dispose();
    this.#unfrozen.dispose();
  }
}
