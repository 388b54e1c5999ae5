import { parsePydanticFloat, parsePythonFloat } from './pythonFloat.ts';
import { JsonDepthError, parsePythonJson } from './pythonJson.ts';
import type { Reward, RewardError, RewardSource } from './types.ts';

type Unreadable = { readonly error: RewardError; readonly message: string };

/**
 * Reads the reward as Harbor 0.22 does (harbor.md §4.6, golden `reward-parsing-0.22.json`): `reward.json` if it is
 * there, with no way back to `reward.txt`; else `reward.txt`. A file that is not there is left out.
 */
export function readReward(files: {
  readonly rewardJson?: Uint8Array | undefined;
  readonly rewardTxt?: Uint8Array | undefined;
}): Reward {
  if (files.rewardJson === undefined)
    return files.rewardTxt === undefined ? { state: 'none' } : readFile('reward.txt', files.rewardTxt);
  const reward = readFile('reward.json', files.rewardJson);
  return files.rewardTxt === undefined || reward.state === 'none'
    ? reward
    : withIgnoredTxt(reward, files.rewardTxt);
}

function withIgnoredTxt(reward: Exclude<Reward, { readonly state: 'none' }>, rewardTxt: Uint8Array): Reward {
  const ignoredTxt = new TextDecoder().decode(rewardTxt.subarray(0, 60)).trim();
  const note = `Both reward.json and reward.txt are there: reward.json counts, reward.txt (${excerpt(ignoredTxt)}) does not.`;
  return { ...reward, ignoredTxt, notes: [...(reward.notes ?? []), note] };
}

function readFile(source: RewardSource, data: Uint8Array): Reward {
  if (data.length === 0) return unreadable(source, 'RewardFileEmptyError', 'The file is empty.');
  const text = decodeUtf8(data);
  if (text === undefined) return unreadable(source, 'VerifierOutputParseError', 'The file is not UTF-8.');
  return source === 'reward.json' ? readJson(text) : readText(text);
}

/** Python's strict UTF-8: a byte order mark stays in the text and is refused later. */
function decodeUtf8(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return undefined;
  }
}

function readText(text: string): Reward {
  const value = parsePythonFloat(text);
  if (value === undefined)
    return unreadable('reward.txt', 'VerifierOutputParseError', `${excerpt(text)} is not a number.`);
  return read('reward.txt', { reward: value });
}

function readJson(text: string): Reward {
  let json: unknown;
  try {
    json = parsePythonJson(text);
  } catch (error) {
    if (error instanceof JsonDepthError)
      return unreadable('reward.json', 'RecursionError', `${error.message}.`);
    const reason = error instanceof Error ? error.message : String(error);
    return unreadable('reward.json', 'VerifierOutputParseError', `The file is not JSON: ${reason}.`);
  }
  if (json === null) {
    const notes = ['reward.json is `null`: it holds no reward.'];
    return { state: 'read', value: null, rewards: {}, source: 'reward.json', nullDocument: true, notes };
  }
  // Pydantic's `dict[str, float | int] | None`, by hand: zod's records drop the key `__proto__`.
  if (typeof json !== 'object' || Array.isArray(json))
    return unreadable('reward.json', 'ValidationError', 'The file does not hold an object of rewards.');
  const values = new Map<string, number>();
  for (const [key, raw] of Object.entries(json)) {
    const value = coerce(raw);
    if (typeof value !== 'number')
      return unreadable('reward.json', value.error, `The reward ${excerpt(key)} ${value.message}`);
    values.set(key, value);
  }
  return read('reward.json', Object.fromEntries(values));
}

/** Pydantic's lax `float | int`. */
function coerce(raw: unknown): number | Unreadable {
  if (typeof raw === 'number') return raw;
  if (typeof raw === 'boolean') return raw ? 1 : 0;
  const value = typeof raw === 'string' ? parsePydanticFloat(raw) : undefined;
  if (value !== undefined) return value;
  const found =
    typeof raw === 'string'
      ? excerpt(raw)
      : raw === null
        ? 'null'
        : Array.isArray(raw)
          ? 'a list'
          : 'an object';
  return { error: 'ValidationError', message: `is ${found}, not a number.` };
}

function read(source: RewardSource, values: Readonly<Record<string, number>>): Reward {
  const rewards = new Map<string, number | null>();
  const nonFinite = new Map<string, 'nan' | 'inf' | '-inf'>();
  for (const [key, value] of Object.entries(values)) {
    rewards.set(key, Number.isFinite(value) ? value : null);
    if (!Number.isFinite(value)) nonFinite.set(key, Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf');
  }
  return {
    state: 'read',
    value: rewards.get('reward') ?? null,
    rewards: Object.fromEntries(rewards),
    source,
    ...(nonFinite.size > 0 && {
      nonFinite: Object.fromEntries(nonFinite),
      notes: [...nonFinite].map(
        ([key, word]) => `The reward ${excerpt(key)} is ${word}, which is no usable number.`,
      ),
    }),
  };
}

function unreadable(source: RewardSource, error: RewardError, message: string): Reward {
  return { state: 'unreadable', source, error, message };
}

/** A quoted piece of the file for a message: one line, at most 60 characters. */
function excerpt(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
