import type { GradeResult } from '#core/grading/types.ts';
import type { Mark } from '#core/report/types.ts';
import { exceptionTypeOf, type TrialException } from '#core/trial/exceptions.ts';
import { plainReason } from './plainReason.ts';
import { isOver, reasonOf } from './states.ts';
import type { AttemptRecord } from './types.ts';

/** Harbor reads no reward that is no number, though it writes one. */
export function rewardsOf(official: GradeResult | undefined, marks: Mark[]): Record<string, number> | null {
  if (!official?.rewards) return null;
  const rewards: Record<string, number> = {};
  for (const [key, value] of Object.entries(official.rewards)) {
    if (value === null) {
      marks.push({ rule: 'reward-not-a-number', message: `The reward "${key}" is no number.` });
      return null;
    }
    rewards[key] = value;
  }
  return rewards;
}

/** How it ended, by Harbor's classes; of ends that Harbor does not know, by names of the same kind. */
export function exceptionOf(
  record: AttemptRecord,
  official: GradeResult | undefined,
  freeText: boolean,
): TrialException | undefined {
  const said = reasonOf(record);
  const why = said === undefined ? '' : `: ${freeText ? said : plainReason(said)}`;
  switch (record.state) {
    case 'gave-up':
      return { type: 'AgentGaveUpError', message: `The builder gave the attempt up${why}` };
    case 'disqualified':
      return { type: 'AgentDisqualifiedError', message: `The attempt is disqualified${why}` };
    case 'lost':
      return { type: 'EnvironmentLostError', message: `The workspace is lost${why}` };
    case 'timed-out':
      return {
        type: 'AgentTimeoutError',
        message: `Agent execution timed out after ${record.budgetSec} seconds`,
      };
    default:
  }
  if (official?.verdict !== 'not graded' || official.rewards) return undefined;
  const reason = official.reason ?? 'engine-failed';
  return { type: exceptionTypeOf(reason), message: official.explanation?.text ?? reason };
}

/** From the first session to the end of the last one. */
export function workTimes({ history, submission }: AttemptRecord) {
  const startedAt = history.find(({ state }) => state === 'running')?.at;
  if (startedAt === undefined) return undefined;
  const end = history.findLast(({ state }) => isOver(state) && state !== 'disqualified');
  return { startedAt, finishedAt: submission?.at ?? end?.at ?? history.at(-1)?.at ?? startedAt };
}
