import type { Counts, Mark, TestResult, Verdict } from '#core/report/types.ts';

/** What is graded. */
export type SubmissionSource =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'tar'; readonly path: string }
  | AttemptSource
  | { readonly kind: 'solution' }
  | { readonly kind: 'empty' };

/** The submission that an attempt keeps, taken from its container. */
export interface AttemptSource {
  readonly kind: 'attempt';
  readonly id: string;
  /** Gzipped tar; names are container paths without the slash in front. */
  readonly path: string;
  /** What was not taken, with what it is. */
  readonly skipped: readonly string[];
  /** What was noticed when it was taken. */
  readonly marks: readonly Mark[];
}

/** The steps of a grade, in order. `setup` and `tests` appear where test.sh prints our phase markers, else `verify`. */
export type PhaseName =
  | 'image'
  | 'solution'
  | 'submission'
  | 'container'
  | 'copy'
  | 'verify'
  | 'setup'
  | 'take'
  | 'tests'
  | 'collect'
  | 'remove';

export interface Phase {
  readonly name: PhaseName;
  readonly durationMs: number;
}

/** Who is to blame for a grade that could not be made (design.md §4.7). */
export type Cause = 'engine' | 'task' | 'submission' | 'unknown';

/** Everything a finished grade says; what `grade --json` prints and `grade.json` holds. */
export interface GradeResult {
  readonly schemaVersion: 1;
  /** All that it shows while its attempt is open; absent where it shows all. */
  readonly tier?: 'counts' | 'names' | 'messages';
  readonly task: { readonly name: string; readonly path: string; readonly digest: string };
  readonly verdict: Verdict;
  /** A `NotGradedReason` or an `UnresolvedReason`; absent when resolved. */
  readonly reason?: string;
  /** The reason in words, with its cause and what to do next. */
  readonly explanation?: { readonly text: string; readonly nextStep: string; readonly cause?: Cause };
  /** The value under Harbor's key `reward`; null when there is none. */
  readonly reward: number | null;
  /** All keys that the verifier wrote. */
  readonly rewards?: Readonly<Record<string, number | null>>;
  readonly counts: Counts;
  readonly tests: readonly TestResult[];
  /** Tests that an earlier grade of the reference solution lists and this report does not; absent when unknown. */
  readonly missingTests?: readonly string[];
  readonly phases: readonly Phase[];
  readonly evidence: Evidence;
  readonly marks: readonly Mark[];
  readonly problems: readonly {
    readonly code: string;
    readonly message: string;
    readonly file?: string;
    readonly line?: number;
  }[];
  /** Where submission, logs and reports are kept. */
  readonly dir: string;
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  /** ISO 8601 UTC. */
  readonly finishedAt: string;
}

/** Facts about how the grade was made (design.md §4.8); a fact that was not taken is absent. */
export interface Evidence {
  readonly mode?: string;
  readonly source: SubmissionSource['kind'];
  readonly engine?: {
    /** Absent in grades made before other engines than Docker were known. */
    readonly product?: string;
    readonly version: string;
    readonly os: string;
    readonly arch: string;
    readonly rootless?: boolean;
  };
  readonly image?: {
    readonly id: string;
    readonly reference: string;
    readonly digest?: string;
    readonly os: string;
    readonly arch: string;
    readonly emulated: boolean;
  };
  readonly taskDigest?: string;
  readonly testsDigest?: string;
  readonly environmentId?: string;
  readonly submission?: {
    readonly sha256: string;
    readonly bytes: number;
    readonly entries: number;
    readonly skipped: readonly string[];
  };
  readonly network?: {
    readonly mode: string;
    readonly probe: 'failed as it should' | 'connected' | 'not probed';
    readonly detail?: string;
  };
  readonly limits?: {
    readonly cpus: number | null;
    readonly memoryMb: number | null;
    readonly pids: number;
    readonly clamped: readonly string[];
  };
  readonly arrival?: { readonly checked: number; readonly differing: readonly string[] };
  readonly exitCode?: number | null;
  readonly changedOutside?: readonly string[];
  readonly testsAltered?: readonly string[];
  readonly processesLeft?: readonly string[];
  readonly oomKilled?: boolean;
  readonly timeoutSec?: number;
}

/** Progress of a running grade, in order; the last event is always `finished`. */
export type GradeEvent =
  | { readonly kind: 'phase'; readonly phase: PhaseName; readonly title: string }
  | { readonly kind: 'progress'; readonly message: string }
  | { readonly kind: 'output'; readonly chunk: string }
  | { readonly kind: 'finished'; readonly result: GradeResult };
