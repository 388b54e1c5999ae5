import type { Mark, Report, Reward, Verdict } from '#core/report/types.ts';
import type { TrialException } from './exceptions.ts';

/** A finished trial as its own folder tells it. */
export interface TrialReading {
  readonly format: 'harbor' | 'terminal-bench-1';
  readonly dir: string;
  readonly taskName: string;
  /** The task's folder on the machine where the trial was run. */
  readonly taskPath?: string;
  /** ISO 8601; of the whole trial. */
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly trialName: string;
  readonly agent?: { readonly name: string; readonly version: string; readonly model?: string };
  /** As the result records them; null when it records none. */
  readonly rewards: Readonly<Record<string, number | null>> | null;
  readonly exception?: TrialException;
  readonly reward: Reward;
  readonly report: Report;
  readonly verdict: Verdict;
  /** Why it is not resolved, by the same words as a grade of ours. */
  readonly reason?: string;
  readonly marks: readonly Mark[];
}
