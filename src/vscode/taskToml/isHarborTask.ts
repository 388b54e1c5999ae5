import type { TomlTokens } from './tomlTokens.ts';

/** Keys of the root by which a Harbor task shows, old and wrong spellings included. */
const telling: readonly string[] = [
  'schema_version',
  'task',
  'metadata',
  'verifier',
  'agent',
  'environment',
  'solution',
  'steps',
  'artifacts',
  'multi_step_reward_strategy',
  'multi_step_reward_mode',
];

/** Keys that other tools use just as well: they do where nothing else stands beside them. */
const common: readonly string[] = ['version', 'source'];

/**
 * Other tools have files named task.toml too. One without any table of ours is theirs, and nothing is said about it;
 * nor about an empty one, which is only just begun.
 */
export function isHarborTask(tokens: TomlTokens): boolean {
  const roots = new Set([...tokens.headers, ...tokens.pairs].map(({ path }) => String(path[0])));
  const names = [...roots];
  if (names.some((name) => telling.includes(name))) return true;
  return names.length > 0 && names.every((name) => common.includes(name));
}
