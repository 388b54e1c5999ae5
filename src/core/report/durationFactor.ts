import type { CtrfSummary } from './ctrfDocument.ts';

/** Tests to look at when the unit of a report's durations is sought. */
const sampleSize = 2000;
/** Whole seconds say little about a span shorter than this. */
const shortestWholeSecondSpan = 5;
/** Epoch times below are seconds, above milliseconds (1973 in ms, 5138 in s); smaller than `oldestSeconds` is no date. */
const oldestSeconds = 1e8;
const oldestMilliseconds = 1e11;

/** The times of one entry, as written. */
interface Times {
  readonly duration?: unknown;
  readonly start?: unknown;
  readonly stop?: unknown;
}

/**
 * The number that turns a report's `duration` into milliseconds. The spec says milliseconds, but pytest-json-ctrf 0.3
 * writes seconds and others any unit: where the tests give start and stop, those decide; else pytest's fractions are
 * seconds unless the whole run says otherwise.
 */
export function durationFactor(
  tests: readonly unknown[],
  tool: string | undefined,
  summary: CtrfSummary | undefined,
): number {
  let durations = 0;
  let timedDurations = 0;
  let spans = 0;
  let fractions = false;
  for (const test of tests.slice(0, sampleSize)) {
    if (typeof test !== 'object' || test === null) continue;
    const { duration, start, stop }: Times = test;
    if (typeof duration !== 'number' || !(duration > 0)) continue;
    durations += duration;
    fractions ||= !Number.isInteger(duration);
    const span = spanMs(start, stop);
    if (span === undefined || span <= 0) continue;
    timedDurations += duration;
    spans += span;
  }
  if (timedDurations > 0) return nearestFactor(spans / timedDurations);
  if (!isPytest(tool) || !fractions) return 1;
  const run = tests.length <= sampleSize ? spanMs(summary?.start, summary?.stop) : undefined;
  return run !== undefined && run > 0 && nearestFactor(run / durations) === 1 ? 1 : 1000;
}

/** True for pytest under any of the names its reporters give. */
export function isPytest(tool: string | undefined): boolean {
  return tool !== undefined && /pytest/i.test(tool);
}

/** Milliseconds from `start` to `stop`, where both are dates fine enough to tell. */
export function spanMs(start: unknown, stop: unknown): number | undefined {
  if (typeof start !== 'number' || typeof stop !== 'number' || !(start >= oldestSeconds) || !(stop >= start))
    return undefined;
  if (start >= oldestMilliseconds) return stop - start;
  const whole = Number.isInteger(start) && Number.isInteger(stop);
  return whole && stop - start < shortestWholeSecondSpan ? undefined : (stop - start) * 1000;
}

/** Seconds, milliseconds, microseconds or nanoseconds: whichever is nearest on a logarithmic scale. */
function nearestFactor(ratio: number): number {
  const steps = Math.min(1, Math.max(-2, Math.round(Math.log10(ratio) / 3)));
  return 1000 ** steps;
}
