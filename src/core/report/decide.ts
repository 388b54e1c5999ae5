import { countTests } from './countTests.ts';
import { mainReward, type RewardKind, rewardKind } from './rewardKind.ts';
import { syntheticFailure } from './syntheticFailure.ts';
import type { Counts, Mark, Report, Reward, Verdict } from './types.ts';
import type { UnresolvedReason } from './unresolvedReasons.ts';

/**
 * How much of the task the report covers: as many tests as expected, fewer, more, a report without tests, or none that
 * could be read. Where the task gives no number, the reports' own summaries say how many there should be.
 */
export type ReportState = 'complete' | 'short' | 'over' | 'empty' | 'none';

export interface DecisionInput {
  readonly reward: Reward;
  readonly report: Report;
  /** `[verifier].test_case_count`; undefined when the task does not say. */
  readonly expected: number | undefined;
  /** The submission's setup.sh is known to have failed. */
  readonly setupFailed?: boolean | undefined;
}

export interface Decision {
  readonly verdict: Verdict;
  /** Absent when resolved; one of the last two when, and only when, not graded. */
  readonly reason?: UnresolvedReason | 'reward-missing' | 'reward-unreadable';
  readonly marks: readonly Mark[];
  readonly reportState: ReportState;
}

interface Facts {
  readonly kind: RewardKind;
  readonly state: ReportState;
  readonly counts: Counts;
  /** E2E-SWE's rule, or, with no expected number, that the report lists tests and all passed. */
  readonly ruleHolds: boolean;
}

/**
 * The decision table (design.md §4.7), {reward} x {report} x {expected count known | not}:
 *
 * - no usable reward: not graded, whatever the report says
 * - expected known: resolved needs the reward 1 and E2E-SWE's rule (as many passed as expected, nothing else reported)
 * - expected not known: the reward decides
 * - a disagreement of reward and report is a mark
 */
export function decide(input: DecisionInput): Decision {
  const { reward, report, expected, setupFailed = false } = input;
  const counts = countTests(report, expected);
  const state = reportStateOf(report, expected);
  const allPassed = counts.reported > 0 && counts.passed === counts.reported;
  const ruleHolds = allPassed && (expected === undefined || counts.passed === expected);
  const facts: Facts = { kind: rewardKind(reward), state, counts, ruleHolds };
  const marks = collectMarks(input, facts);

  if (facts.kind === 'none' || facts.kind === 'unreadable') {
    const reason = facts.kind === 'none' ? 'reward-missing' : 'reward-unreadable';
    return { verdict: 'not graded', reason, marks, reportState: state };
  }
  if (facts.kind === 'one' && (ruleHolds || expected === undefined))
    return { verdict: 'resolved', marks, reportState: state };
  const reason = setupFailed ? 'setup-failed' : unresolvedReason(report, expected, facts);
  return { verdict: 'unresolved', reason, marks, reportState: state };
}

/** The first thing that a person should look at; a failed test explains more than a missing one. */
function unresolvedReason(report: Report, expected: number | undefined, facts: Facts): UnresolvedReason {
  const { counts, state } = facts;
  if (state === 'none') {
    if (report.state === 'unreadable') return 'report-unreadable';
    return expected === undefined ? 'reward-not-1' : 'report-missing';
  }
  if (state === 'empty') return 'no-tests-ran';
  if (syntheticFailure(report.tests)) return 'build-failed';
  if (counts.failed > 0) return 'tests-failed';
  if (expected !== undefined && counts.passed > expected) return 'too-many-tests';
  if (counts.passed < counts.reported) return expected === undefined ? 'reward-not-1' : 'tests-skipped';
  return counts.notReported > 0 ? 'tests-not-reported' : 'reward-disagrees';
}

function reportStateOf(report: Report, expected: number | undefined): ReportState {
  if (report.state !== 'read') return 'none';
  const reported = report.tests.length;
  if (reported === 0) return 'empty';
  const due = expected ?? report.summaryTests ?? reported;
  return reported === due ? 'complete' : reported < due ? 'short' : 'over';
}

function collectMarks(input: DecisionInput, facts: Facts): readonly Mark[] {
  const { report, expected, reward, setupFailed } = input;
  const { counts, kind, state } = facts;
  const marks: Mark[] = [];
  const add = (rule: string, message: string): void => void marks.push({ rule, message });
  const graded = kind !== 'none' && kind !== 'unreadable';

  if (graded && disagrees(facts, expected)) add('reward-disagrees', disagreement(facts, expected));
  if (expected !== undefined && counts.reported > expected)
    add(
      'more-tests-than-expected',
      `The report lists ${counts.reported} tests, but the task has ${expected}.`,
    );
  if (expected === undefined && (state === 'short' || state === 'over'))
    add(
      'report-contradicts-itself',
      `The report lists ${counts.reported} tests, but its summary counts ${report.summaryTests ?? 0}.`,
    );
  if (report.unreadable && report.unreadable.length > 0)
    add(
      'report-unreadable',
      `A report could not be read and was not counted: ${report.unreadable.join(', ')}.`,
    );
  if (setupFailed && kind === 'one')
    add('setup-failed', 'setup.sh failed, and yet the verifier gave the reward 1.');
  const { key } = mainReward(reward);
  if (reward.state === 'read' && key === undefined) add('reward-key-missing', describeKeys(reward.rewards));
  if (key !== undefined && key !== 'reward')
    add(
      'reward-key',
      `The verifier's only reward is called ${JSON.stringify(key)}; it was taken as the reward, as Harbor does.`,
    );
  if (reward.state !== 'none' && reward.ignoredTxt !== undefined)
    add(
      'two-reward-files',
      `The verifier left reward.json and reward.txt (${JSON.stringify(reward.ignoredTxt)}); reward.json counts.`,
    );
  return marks;
}

function describeKeys(rewards: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(rewards);
  if (keys.length === 0) return "The verifier's reward.json holds no reward.";
  return `The verifier's reward.json holds ${keys.length} rewards, and none of them is called "reward".`;
}

/** Reward 1 beside anything but a full pass of what was expected, or another reward beside a full pass. */
function disagrees({ kind, state, counts, ruleHolds }: Facts, expected: number | undefined): boolean {
  if (kind !== 'one') return ruleHolds;
  if (expected !== undefined) return !ruleHolds;
  return state === 'empty' || counts.failed > 0;
}

function disagreement({ kind, state, counts }: Facts, expected: number | undefined): string {
  if (kind !== 'one')
    return `Every one of the ${counts.reported} reported tests passed, but the reward is not 1.`;
  if (state === 'none') return 'The reward is 1, but there is no report that could confirm it.';
  if (state === 'empty') return 'The reward is 1, but the report lists no test.';
  const due = expected === undefined ? counts.reported : expected;
  return `The reward is 1, but ${counts.passed} of ${due} tests passed (${counts.failed} failed, ${counts.notReported} not reported).`;
}
