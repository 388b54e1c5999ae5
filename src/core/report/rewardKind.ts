import type { Reward } from './types.ts';

/** A reward as the decision table sees it (design.md §4.7). */
export type RewardKind = 'one' | 'zero' | 'other' | 'none' | 'unreadable';

/**
 * The one number that Harbor's statistics use: the value under `reward`, else the only value there is (Harbor's mean of
 * a single key). `key` is undefined when there is no such number, `value` null when it is NaN or infinite.
 */
export function mainReward(reward: Reward): {
  readonly key: string | undefined;
  readonly value: number | null;
} {
  if (reward.state !== 'read') return { key: undefined, value: null };
  const [first, ...others] = Object.keys(reward.rewards);
  const key = Object.hasOwn(reward.rewards, 'reward') ? 'reward' : others.length === 0 ? first : undefined;
  return { key, value: key === undefined ? null : (reward.rewards[key] ?? null) };
}

/** Sorts a reward into the table's columns. NaN and infinities are unreadable: never 0 and never a pass. */
export function rewardKind(reward: Reward): RewardKind {
  if (reward.state !== 'read') return reward.state;
  const { key, value } = mainReward(reward);
  if (key === undefined) return 'none';
  if (value === null) return 'unreadable';
  return value === 1 ? 'one' : value === 0 ? 'zero' : 'other';
}
