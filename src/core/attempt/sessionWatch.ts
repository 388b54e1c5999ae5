import { tickMs } from './clock.ts';
import type { Recorder } from './recorder.ts';

const lookMs = 1_000;
const diskLookMs = 5_000;
/** Of the budget. */
const warnings = [0.1, 0.02];

export interface SessionWatchDeps {
  readonly recorder: Recorder;
  /** Seconds; null: no end. */
  readonly budgetSec: number | null;
  readonly minFreeBytes: number;
  readonly freeBytes: () => Promise<number>;
  readonly onTimeUp: () => void;
  readonly onDiskLow: () => void;
}

/** What is left of a budget in seconds, never below 0; undefined where there is none. */
export function budgetLeftSec(budgetSec: number | null, unpausedMs: number): number | undefined {
  return budgetSec === null ? undefined : Math.max(0, budgetSec - unpausedMs / 1000);
}

/** While a workspace may run: ticks for its clock, warnings before its time is up, and room on the disk. */
export class SessionWatch {
  readonly #deps: SessionWatchDeps;
  readonly #timer: NodeJS.Timeout;
  #warned = Number.POSITIVE_INFINITY;
  #isUp = false;
  #lastDiskLook = performance.now();
  #isLow = false;

  constructor(deps: SessionWatchDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#look();
  }

  #look(): void {
    const { recorder, budgetSec } = this.#deps;
    const clock = recorder.clock;
    if (clock.phase === 'running' && recorder.quietMs >= tickMs) recorder.append({ kind: 'tick' });
    const leftSec = budgetLeftSec(budgetSec, clock.unpausedMs);
    if (budgetSec !== null && leftSec !== undefined && clock.phase !== 'over') this.#warn(budgetSec, leftSec);
    if (performance.now() - this.#lastDiskLook < diskLookMs) return;
    this.#lastDiskLook = performance.now();
    void this.#lookAtDisk().catch(() => undefined);
  }

  #warn(budgetSec: number, leftSec: number): void {
    const threshold = [0, ...warnings.toReversed()].find((part) => leftSec <= part * budgetSec);
    if (threshold === undefined || threshold >= this.#warned) return;
    this.#warned = threshold;
    this.#deps.recorder.append({ kind: 'budget', budgetSec, leftSec: Math.round(leftSec) });
    if (threshold > 0 || this.#isUp) return;
    this.#isUp = true;
    this.#deps.onTimeUp();
  }

  async #lookAtDisk(): Promise<void> {
    const freeBytes = await this.#deps.freeBytes();
    const isLow = freeBytes < this.#deps.minFreeBytes;
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    this.#deps.recorder.append({ kind: 'disk', what: isLow ? 'low' : 'enough', freeBytes });
    if (isLow) this.#deps.onDiskLow();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
