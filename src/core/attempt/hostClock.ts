import { readFileSync } from 'node:fs';
import { hrtime } from 'node:process';
import type { Moment } from './recordEvents.ts';

/** The time of this host; tests have their own. */
export interface HostClock {
  /** Names the run of the machine in which moments of one monotonic clock can be compared. */
  readonly boot: string;
  readonly sleep: 'excluded' | 'included';
  monoMs(): number;
  utcMs(): number;
}

/**
 * Monotonic time is `process.hrtime`: CLOCK_MONOTONIC on Linux, which stands still while the machine sleeps, so that a
 * sleep shows as UTC running ahead of it; on macOS and Windows it goes on, so that a sleep shows as missing ticks.
 */
export const hostClock: HostClock = {
  boot: bootId(),
  sleep: process.platform === 'linux' ? 'excluded' : 'included',
  monoMs: () => Number(hrtime.bigint() / 1_000n) / 1_000,
  utcMs: () => Date.now(),
};

/** Both clocks at once: what a moment is made of later. */
export function readHostClock(clock: HostClock): { readonly utcMs: number; readonly monoMs: number } {
  return { utcMs: clock.utcMs(), monoMs: clock.monoMs() };
}

export function momentOf(clock: HostClock): Moment {
  return { utc: new Date(clock.utcMs()).toISOString(), mono: clock.monoMs(), boot: clock.boot };
}

/** Where the machine does not say, each process is a boot of its own. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return `process-${process.pid}-${Date.now()}`;
  }
}
