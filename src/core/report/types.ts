/** Reports, rewards and verdicts as plain data (design.md §4.6, §4.7). */

/** CTRF's five statuses. */
export type TestStatus = 'passed' | 'failed' | 'skipped' | 'pending' | 'other';

/** One hidden test as a report tells it. */
export interface TestResult {
  /** Unique within a grade, safe in any tree: derived from suite, name and occurrence, never the raw name. */
  readonly id: string;
  readonly name: string;
  /** The report file it came from; only where a grade has several reports, which then are groups of one grade. */
  readonly group?: string;
  /** Outermost first; empty when the report gives none. */
  readonly suite: readonly string[];
  readonly status: TestStatus;
  /** The tool's own word for the status, where it differs from `status` (`call_failed`, `interrupted`, …). */
  readonly rawStatus?: string;
  /** Milliseconds; undefined when the report does not say. */
  readonly durationMs?: number;
  readonly message?: string;
  readonly trace?: string;
  readonly expected?: string;
  readonly actual?: string;
  /** As the report writes it; to be checked before anything is opened. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** As the report counts them; pytest's may be further parameters of one test. */
  readonly retries?: number;
  /** True where the report says that the test passed only after failing; never a guess from repeated names. */
  readonly flaky?: boolean;
}

/** What came of reading the report files of one grade. */
export interface Report {
  readonly tool?: string;
  readonly tests: readonly TestResult[];
  /** `none`: no report file; `unreadable`: a file that is no CTRF; `read`: at least one was understood. */
  readonly state: 'none' | 'unreadable' | 'read';
  /** What was odd, one sentence each. */
  readonly notes: readonly string[];
  /** How many tests the reports' own summaries claim, where each of them says so. */
  readonly summaryTests?: number;
  /** Report files that were not understood, also where others were. */
  readonly unreadable?: readonly string[];
}

/** The files that Harbor looks for, in its order. */
export type RewardSource = 'reward.json' | 'reward.txt';

/** Harbor's class of error for a reward file that it cannot use (harbor.md §4.6). */
export type RewardError =
  | 'RewardFileEmptyError'
  | 'VerifierOutputParseError'
  | 'ValidationError'
  | 'RecursionError';

/** What Harbor would read from /logs/verifier (harbor.md §4.6). */
export type Reward =
  | {
      readonly state: 'read';
      /** The value under the key `reward`; null when there is none, or when it is NaN or infinite (see `nonFinite`). */
      readonly value: number | null;
      /** All keys; NaN and the infinities are null, as in Harbor's result.json. */
      readonly rewards: Readonly<Record<string, number | null>>;
      readonly source: RewardSource;
      /** Start of a reward.txt that was there too and does not count. */
      readonly ignoredTxt?: string;
      /** The document was `null`: Harbor then records `rewards: null`, not `{}`. */
      readonly nullDocument?: true;
      /** The keys that hold NaN or an infinity, with Python's word for it. */
      readonly nonFinite?: Readonly<Record<string, 'nan' | 'inf' | '-inf'>>;
      readonly notes?: readonly string[];
    }
  | { readonly state: 'none' }
  | {
      readonly state: 'unreadable';
      readonly source: RewardSource;
      readonly error: RewardError;
      readonly message: string;
      readonly ignoredTxt?: string;
      readonly notes?: readonly string[];
    };

export interface Counts {
  /** `[verifier].test_case_count`; null when the task does not say. */
  readonly expected: number | null;
  readonly reported: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly pending: number;
  readonly other: number;
  /** Expected but absent from the report; 0 when the expected count is not known. */
  readonly notReported: number;
}

export type Verdict = 'resolved' | 'unresolved' | 'not graded';

/** Something suspicious or lossy about a grade, with its rule; it changes no verdict. */
export interface Mark {
  /** Kebab-case. */
  readonly rule: string;
  /** One sentence. */
  readonly message: string;
}
