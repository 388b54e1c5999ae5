import type { Disposable } from '#core/base/disposable.ts';
import { isCancellation } from '#core/base/errors.ts';

export type PeriodicReason = 'save' | 'command' | 'activity';

/** After the last save of a burst, */
const saveQuietMs = 2_000;
/** but so long after its first at the latest. */
const saveLatestMs = 10_000;
/** Of work in which nothing is saved and no command ends. */
const activityMs = 60_000;
/** Snapshots may take a tenth of the time: in a large workspace they become rarer. */
const restPerCost = 9;

/**
 * When a workspace's periodic snapshots are taken: after a burst of saves, after a command, and each minute in which
 * somebody works. One at a time; what comes meanwhile is in the next one.
 */
export class SnapshotSchedule implements Disposable {
  readonly #take: (reason: PeriodicReason, signal: AbortSignal) => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  readonly #stop = new AbortController();
  /** When each is due, by `performance.now()`. */
  readonly #due = new Map<PeriodicReason, number>();
  #burstBegan = 0;
  #lastBegan = Number.NEGATIVE_INFINITY;
  #restUntil = 0;
  #isTaking = false;
  #timer: NodeJS.Timeout | undefined;

  /** `onError` hears of snapshots that were not made; the next is tried all the same. */
  constructor(
    take: (reason: PeriodicReason, signal: AbortSignal) => Promise<unknown>,
    onError: (error: unknown) => void,
  ) {
    this.#take = take;
    this.#onError = onError;
  }

  /** A file was saved. */
  saved(): void {
    const now = performance.now();
    if (!this.#due.has('save')) this.#burstBegan = now;
    this.#due.set('save', Math.min(now + saveQuietMs, this.#burstBegan + saveLatestMs));
    this.#arm();
  }

  /** A command ended, which may have changed anything. */
  commandEnded(): void {
    this.#due.set('command', performance.now());
    this.#arm();
  }

  /** Somebody works: types in a terminal, edits, moves about. The first one of a session makes a snapshot at once. */
  active(): void {
    if (this.#due.has('activity')) return;
    this.#due.set('activity', Math.max(performance.now(), this.#lastBegan + activityMs));
    this.#arm();
  }

  /** None is begun any more; the one under way is cancelled. */
  dispose(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isTaking || this.#due.size === 0 || this.#stop.signal.aborted) return;
    const at = Math.max(Math.min(...this.#due.values()), this.#restUntil);
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, at - performance.now()));
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    const [[reason = 'activity'] = []] = [...this.#due].sort(([, a], [, b]) => a - b);
    this.#due.clear();
    this.#isTaking = true;
    const began = performance.now();
    this.#lastBegan = began;
    try {
      await this.#take(reason, this.#stop.signal);
    } catch (error) {
      if (!this.#stop.signal.aborted && !isCancellation(error)) this.#onError(error);
    }
    this.#isTaking = false;
    const now = performance.now();
    this.#restUntil = now + restPerCost * (now - began);
    this.#arm();
  }
}
