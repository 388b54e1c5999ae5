import { describe, expect, test } from 'vitest';
import { readReward } from '#core/report/readReward.ts';
import type { Reward } from '#core/report/types.ts';
import { bytes, fixture } from './fixtures.ts';

interface Golden {
  readonly files?: Readonly<Record<string, string>>;
  readonly hex?: Readonly<Record<string, string>>;
  readonly result: {
    readonly exception?: string;
    readonly rewards_json?: Readonly<Record<string, number | null>> | null;
  };
}

function load(name: string): readonly Golden[] {
  return JSON.parse(new TextDecoder().decode(fixture(`golden/${name}`))) as readonly Golden[];
}

/** The golden file writes bytes that are no text as "fffe3100 (hex)". */
function contents(golden: Golden, name: string): Uint8Array | undefined {
  const text = golden.files?.[name];
  const hex = golden.hex?.[name] ?? /^([0-9a-f]+) \(hex\)$/.exec(text ?? '')?.[1];
  if (hex !== undefined) return Buffer.from(hex, 'hex');
  return text === undefined ? undefined : bytes(text);
}

function asHarbor(reward: Reward): Golden['result'] {
  if (reward.state === 'none') return { exception: 'RewardFileNotFoundError' };
  if (reward.state === 'unreadable') return { exception: reward.error };
  return { rewards_json: reward.nullDocument ? null : reward.rewards };
}

for (const file of ['reward-parsing-0.22.json', 'reward-parsing-more.json']) {
  describe(file, () => {
    test.each(
      load(file).map((golden) => [JSON.stringify(golden.files ?? golden.hex).slice(0, 80), golden] as const),
    )('%s', (_, golden) => {
      const reward = readReward({
        rewardJson: contents(golden, 'reward.json'),
        rewardTxt: contents(golden, 'reward.txt'),
      });
      const { exception, rewards_json } = golden.result;
      expect(asHarbor(reward)).toEqual(exception === undefined ? { rewards_json } : { exception });
    });
  });
}

describe('readReward', () => {
  test('the value is the one under the key reward, null where there is none', () => {
    expect(readReward({ rewardJson: bytes('{"a":1,"reward":0.5}') })).toMatchObject({
      value: 0.5,
      source: 'reward.json',
    });
    expect(readReward({ rewardJson: bytes('{"a":1,"b":2}') })).toMatchObject({ value: null });
  });

  test('NaN and the infinities are null, and said', () => {
    const reward = readReward({ rewardJson: bytes('{"reward":NaN,"b":-Infinity,"c":1e999}') });
    expect(reward).toMatchObject({
      state: 'read',
      value: null,
      nonFinite: { reward: 'nan', b: '-inf', c: 'inf' },
    });
    expect(reward.state !== 'none' && reward.notes).toHaveLength(3);
  });

  test('an integer too large for a double stays finite, as in Python', () => {
    const reward = readReward({ rewardJson: bytes(`{"reward":${'9'.repeat(400)}}`) });
    expect(reward).toMatchObject({ value: Number.MAX_VALUE });
  });

  test('too deep a document is refused and not a crash', () => {
    expect(readReward({ rewardJson: bytes('['.repeat(100_000)) })).toMatchObject({ error: 'RecursionError' });
  });

  test('both files: reward.json counts and the note says so', () => {
    const reward = readReward({
      rewardJson: fixture('cases/17-reward-json-and-txt/verifier/reward.json'),
      rewardTxt: fixture('cases/17-reward-json-and-txt/verifier/reward.txt'),
    });
    expect(reward).toMatchObject({ value: 1, source: 'reward.json', ignoredTxt: '0' });
    expect(reward.state !== 'none' && reward.notes?.[0]).toContain('reward.json counts');
    expect(readReward({ rewardJson: bytes('oops'), rewardTxt: bytes('1') })).toMatchObject({
      state: 'unreadable',
      ignoredTxt: '1',
    });
  });
});
