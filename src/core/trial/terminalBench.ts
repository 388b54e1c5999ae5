import { decide } from '#core/report/decide.ts';
import type { Report, Reward, TestResult, TestStatus } from '#core/report/types.ts';
import type { TerminalBenchResult } from './trialShape.ts';
import type { TrialReading } from './types.ts';

/** Failure modes in which terminal-bench v1's tests judged nothing; `is_resolved` may be false all the same. */
const notJudged: Readonly<Record<string, string>> = {
  parse_error: 'reward-unreadable',
  test_timeout: 'verifier-timeout',
};
const noFailure = ['unset', 'none', ''];

/** terminal-bench v1: `is_resolved` is its reward, `parser_results` its report; null or a harness failure is no grade. */
export function readTerminalBench(result: TerminalBenchResult): Omit<TrialReading, 'dir'> {
  const mode = result.failure_mode ?? '';
  const unjudged = result.is_resolved === true ? undefined : notJudged[mode];
  const graded = result.is_resolved !== null && unjudged === undefined;
  const rewards = graded ? { reward: result.is_resolved ? 1 : 0 } : null;
  const reward: Reward = rewards
    ? { state: 'read', value: rewards.reward, rewards, source: 'reward.txt' }
    : { state: 'none' };
  const report = reportOf(result);
  const decision = decide({ reward, report, expected: undefined });
  const reason = graded
    ? decision.reason
    : (unjudged ?? (noFailure.includes(mode) ? 'reward-missing' : 'agent-failed'));
  const failed = !noFailure.includes(mode);
  return {
    format: 'terminal-bench-1',
    taskName: result.task_id,
    ...(result.trial_started_at ? { startedAt: result.trial_started_at } : {}),
    ...(result.trial_ended_at ? { finishedAt: result.trial_ended_at } : {}),
    trialName: result.trial_name,
    rewards,
    ...(failed && { exception: { type: mode, message: '' } }),
    reward,
    report,
    verdict: decision.verdict,
    ...(reason === undefined ? {} : { reason }),
    marks: [
      ...decision.marks,
      ...(graded && failed
        ? [
            {
              rule: 'agent-exception',
              message: `The trial records the failure "${mode}"; its tests ran all the same.`,
            },
          ]
        : []),
    ],
  };
}

function reportOf({ parser_results }: TerminalBenchResult): Report {
  if (!parser_results) return { tests: [], state: 'none', notes: [] };
  const tests = Object.entries(parser_results).map(
    ([name, word]): TestResult => ({
      id: name,
      name,
      suite: [],
      status: statusOf(word),
      ...(statusOf(word) === word ? {} : { rawStatus: word }),
    }),
  );
  return { tool: 'terminal-bench', tests, state: 'read', notes: [] };
}

function statusOf(word: string): TestStatus {
  return word === 'passed' || word === 'failed' || word === 'skipped' ? word : 'other';
}
