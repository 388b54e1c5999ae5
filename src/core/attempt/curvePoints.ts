import type { Verdict } from '#core/report/types.ts';
import { isViewOnly, type SnapshotHead } from '#core/snapshot/types.ts';
import { type ClockState, type ClockTotals, clockAt, newClock } from './clock.ts';
import type { RecordLine } from './recordEvents.ts';

/** A snapshot with the attempt's clock when it was begun. */
export interface TimedSnapshot {
  readonly head: SnapshotHead;
  readonly clock: ClockTotals;
}

/** One moment of an attempt, graded afterwards. */
export interface CurvePoint {
  readonly snapshot: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly activeMs: number;
  readonly unpausedMs: number;
  readonly wallMs: number;
  readonly verdict: Verdict;
  /** Why there is no grade, or it is unresolved. */
  readonly reason?: string;
  readonly passed: number;
  /** Tests in the report. */
  readonly reported: number;
  readonly reward: number | null;
  /** Whose grade it is: one made for the curve, or one that the attempt had of the same files. */
  readonly by: 'curve' | 'official' | 'interim';
  /** The snapshot is by the container's own tools, not by the engine. */
  readonly byContainer: boolean;
  /** For `readGrade`. */
  readonly dir: string;
}

/** Passed tests over the time of an attempt. Its grades are no official ones: nobody saw them while it was built. */
export interface ScoreCurve {
  readonly schemaVersion: 1;
  readonly attempt: string;
  readonly task: { readonly name: string; readonly digest: string };
  /** Tests that the task expects, else the most that a report had; null while there is neither. */
  readonly total: number | null;
  /** In the order of time. */
  readonly points: readonly CurvePoint[];
}

/**
 * The clock at the moment of each snapshot, by the record: as it was after the last line of before. The order is that
 * of time.
 */
export async function timeSnapshots(
  heads: readonly SnapshotHead[],
  lines: AsyncIterable<RecordLine>,
  applyLine: (clock: ClockState, line: RecordLine) => ClockState,
): Promise<TimedSnapshot[]> {
  const waiting = heads.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const timed: TimedSnapshot[] = [];
  let clock = newClock;
  const take = (until: number): void => {
    for (let head = waiting[0]; head && Date.parse(head.at) < until; head = waiting[0]) {
      waiting.shift();
      timed.push({ head, clock: totalsAt(clock, Date.parse(head.at)) });
    }
  };
  for await (const line of lines) {
    take(Date.parse(line.utc));
    clock = applyLine(clock, line);
  }
  take(Number.POSITIVE_INFINITY);
  return timed;
}

function totalsAt(clock: ClockState, utcMs: number): ClockTotals {
  const { last } = clock;
  const passed = last ? Math.max(0, utcMs - Date.parse(last.utc)) : 0;
  const now = last && {
    utc: new Date(utcMs).toISOString(),
    mono: last.mono + passed,
    boot: last.boot,
  };
  const { wallMs, unpausedMs, focusedMs, activeMs, waitingMs, idleMs } = now ? clockAt(clock, now) : clock;
  return { wallMs, unpausedMs, focusedMs, activeMs, waitingMs, idleMs };
}

/**
 * Which snapshots a curve is made of: the last one of each stretch of so much active time, the first and the last one;
 * of equal files the first. What cannot be restored is none of them.
 */
export function chooseSnapshots(timed: readonly TimedSnapshot[], everyMs: number): TimedSnapshot[] {
  const usable = timed.filter(({ head }) => !isViewOnly(head));
  const stretch = ({ clock }: TimedSnapshot): number => Math.floor(clock.activeMs / everyMs);
  const chosen = usable.filter((one, i) => {
    const next = usable[i + 1];
    return i === 0 || next === undefined || stretch(next) !== stretch(one);
  });
  return chosen.filter(({ head }, i) => chosen.findIndex((one) => one.head.tree === head.tree) === i);
}
