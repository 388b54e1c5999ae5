import { Anonymiser, hostIdentity, type Identity } from './anonymise.ts';
import type { AttemptStore } from './attemptStore.ts';
import { isOver } from './states.ts';
import { type GeometricMean, geometricMean, type Interval, median, wilsonInterval } from './statistics.ts';
import { type SummaryRow, summariseAttempt } from './summaryRow.ts';

export interface SummaryOptions {
  /** Only attempts at the task of this name. */
  readonly task?: string | undefined;
  readonly anonymised: boolean;
  /** Counts attempts without a protocol too, which are practice. */
  readonly practice: boolean;
  /** What identifies this machine; tests say another. */
  readonly identity?: Identity;
}

/** Seconds. */
export interface TimeEstimate extends GeometricMean {}

/** What several attempts say together. An attempt that is excluded is in no figure but `attempts` and `excluded`. */
export interface Aggregate {
  readonly attempts: number;
  readonly counted: number;
  /** How many, by reason. */
  readonly excluded: Readonly<Record<string, number>>;
  readonly resolved: number;
  readonly completion_rate: number | null;
  /** Wilson, 95 %. */
  readonly completion_rate_interval: Interval | null;
  /** Of the resolved ones: the geometric mean of unpaused seconds, with Student's 95 % interval on logarithms. */
  readonly unpaused_sec: TimeEstimate | null;
  /** The same of active seconds. */
  readonly active_sec: TimeEstimate | null;
}

export interface TaskSummary extends Aggregate {
  readonly task: string;
  readonly builders: number;
  /** Of the task's content; more than one: the attempts were not at the same task. */
  readonly digests: readonly string[];
}

/** What the reporting checklist for human baselines asks for (Wei et al.). */
export interface Checklist extends Aggregate {
  readonly baseliners: number;
  readonly tasks: number;
  readonly attempts_per_baseliner: Spread | null;
  readonly attempts_per_task: Spread | null;
  readonly exclusion_rate: number | null;
  /** Each task had the same content in all attempts at it. */
  readonly same_tasks: boolean;
  readonly modes: Readonly<Record<string, number>>;
  readonly editors: Readonly<Record<string, number>>;
  readonly ai_policies: Readonly<Record<string, number>>;
  readonly tiers: Readonly<Record<string, number>>;
  readonly budgets_sec: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export interface Summary {
  readonly schemaVersion: 1;
  readonly anonymised: boolean;
  /** One an attempt, the oldest first; `excluded`: why it is in no figure. */
  readonly attempts: readonly (SummaryRow & { readonly excluded: string | null })[];
  readonly tasks: readonly TaskSummary[];
  readonly checklist: Checklist;
}

/** Sums the attempts of a store up. */
export async function summarise(store: AttemptStore, options: SummaryOptions): Promise<Summary> {
  const records = (await store.list())
    .filter(({ task }) => options.task === undefined || task.name === options.task)
    .toReversed();
  const plain: SummaryRow[] = [];
  for (const record of records) plain.push(await summariseAttempt(store, record, !options.anonymised));
  const rows = options.anonymised ? anonymous(plain, store, options.identity) : plain;
  const attempts = rows.map((row) => ({ ...row, excluded: exclusionOf(row, options.practice) }));
  const names = [...new Set(attempts.map(({ task }) => task))].toSorted();
  return {
    schemaVersion: 1,
    anonymised: options.anonymised,
    attempts,
    tasks: names.map((task) =>
      taskSummary(
        task,
        attempts.filter((row) => row.task === task),
      ),
    ),
    checklist: checklistOf(attempts),
  };
}

type Row = Summary['attempts'][number];

/**
 * Why an attempt says nothing of its builder; null where it does. A failure of infrastructure is no failure of theirs; one
 * that was given up, or whose submission spoiled its own grade, is (design.md §4.7).
 */
export function exclusionOf(
  row: Pick<
    SummaryRow,
    'damage' | 'outcome' | 'measured' | 'official_verdict' | 'official_reason' | 'official_cause'
  >,
  practice: boolean,
): string | null {
  if (row.damage !== null) return 'damaged';
  if (row.outcome === 'lost' || row.outcome === 'disqualified') return row.outcome;
  if (!isOver(row.outcome)) return 'not over';
  if (!row.measured && !practice) return 'practice';
  if (row.outcome === 'gave-up') return null;
  if (row.official_verdict === null) return 'no official grade';
  if (row.official_verdict === 'not graded' && row.official_cause !== 'submission')
    return `not graded: ${row.official_reason ?? 'unknown'}`;
  return null;
}

/** The same builder has the same name in all rows: p1 is who began first. */
function anonymous(
  rows: readonly SummaryRow[],
  store: AttemptStore,
  given?: Identity,
): readonly SummaryRow[] {
  const names = [...new Set(rows.flatMap(({ builder }) => builder ?? []))];
  const identity = new Map([
    ...(given ?? hostIdentity([store.storeDir])),
    ...names.map((name, at) => [name, `p${at + 1}`] as const),
  ]);
  const anonymiser = new Anonymiser(identity);
  return rows.map((row) => ({
    ...anonymiser.value(row),
    builder: row.builder === null ? null : `p${names.indexOf(row.builder) + 1}`,
  }));
}

function taskSummary(task: string, rows: readonly Row[]): TaskSummary {
  return {
    task,
    builders: distinct(rows.map(({ builder }) => builder)).length,
    digests: distinct(rows.map(({ task_digest }) => task_digest || null)),
    ...aggregate(rows),
  };
}

function checklistOf(rows: readonly Row[]): Checklist {
  const all = aggregate(rows);
  const builders = rows.filter(({ builder }) => builder !== null);
  const names = distinct(rows.map(({ task }) => task));
  return {
    baseliners: distinct(rows.map(({ builder }) => builder)).length,
    tasks: names.length,
    attempts_per_baseliner: spread(Object.values(tally(builders, ({ builder }) => builder))),
    attempts_per_task: spread(Object.values(tally(rows, ({ task }) => task))),
    exclusion_rate: rows.length === 0 ? null : (rows.length - all.counted) / rows.length,
    same_tasks: names.every(
      (name) => distinct(rows.map((row) => (row.task === name ? row.task_digest : null))).length <= 1,
    ),
    modes: tally(rows, ({ mode }) => mode),
    editors: tally(rows, ({ editor }) => editor),
    ai_policies: tally(rows, ({ ai_policy }) => ai_policy),
    tiers: tally(rows, ({ tier }) => tier),
    budgets_sec: tally(rows, ({ budget_sec }) => budget_sec),
    outcomes: tally(rows, ({ outcome }) => outcome),
    ...all,
  };
}

function aggregate(rows: readonly Row[]): Aggregate {
  const counted = rows.filter(({ excluded }) => excluded === null);
  const resolved = counted.filter(({ official_verdict: verdict }) => verdict === 'resolved');
  const timeOf = (key: 'unpaused_sec' | 'active_sec'): TimeEstimate | null =>
    geometricMean(resolved.map((row) => row[key]).filter((value) => value > 0)) ?? null;
  return {
    attempts: rows.length,
    counted: counted.length,
    excluded: tally(
      rows.filter(({ excluded }) => excluded !== null),
      ({ excluded }) => excluded,
    ),
    resolved: resolved.length,
    completion_rate: counted.length === 0 ? null : resolved.length / counted.length,
    completion_rate_interval: wilsonInterval(resolved.length, counted.length) ?? null,
    unpaused_sec: timeOf('unpaused_sec'),
    active_sec: timeOf('active_sec'),
  };
}

function tally<T>(rows: readonly T[], key: (row: T) => string | number | null): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const name = String(key(row) ?? 'none');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function distinct<T>(values: readonly (T | null)[]): T[] {
  return [...new Set(values)].filter((value) => value !== null);
}

function spread(counts: readonly number[]): Spread | null {
  const middle = median(counts);
  return middle === undefined ? null : { min: Math.min(...counts), median: middle, max: Math.max(...counts) };
}
