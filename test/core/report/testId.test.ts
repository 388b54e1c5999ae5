import { describe, expect, test } from 'vitest';
import { countTests, missingTests } from '#core/report/countTests.ts';
import { createIdMaker } from '#core/report/testId.ts';
import { readResults, reportOf } from './fixtures.ts';

/** A small generator, so that a failure can be repeated (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pieces = [
  '',
  'a',
  'b',
  ' > ',
  '/',
  '\n',
  '\0',
  '\u202e',
  '-2',
  'ab',
  'é',
  '💥',
  '\ud800',
  '__proto__',
  'constructor',
  't',
];

describe('ids', () => {
  test('are unique, safe and stable whatever the names are', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const next = random(seed);
      const text = (): string =>
        Array.from({ length: Math.floor(next() * 3) }, () => pieces[Math.floor(next() * pieces.length)]).join(
          '',
        );
      const tests = Array.from({ length: 400 }, () => ({
        name: text(),
        status: 'passed',
        suite: Array.from({ length: Math.floor(next() * 3) }, text),
      }));
      const ids = readResults({ tests }).tests.map((entry) => entry.id);
      expect(new Set(ids).size).toBe(400);
      for (const id of ids) expect(id).toMatch(/^t[0-9a-f]{16}(-\d+)?$/);
      expect(readResults({ tests }).tests.map((entry) => entry.id)).toEqual(ids);
    }
  });

  test('do not depend on other tests, on status or on order among different names', () => {
    const id = (...names: readonly string[]): readonly string[] =>
      readResults({ tests: names.map((name) => ({ name, status: 'failed' })) }).tests.map(
        (entry) => entry.id,
      );
    expect(id('b', 'a')).toEqual(id('a', 'b').toReversed());
    expect(readResults({ tests: [{ name: 'a', status: 'passed' }] }).tests[0]?.id).toBe(id('a')[0]);
  });

  test('keep the border between suite and name', () => {
    const make = createIdMaker();
    expect(
      new Set([
        make('', ['a', 'b'], 'c'),
        make('', ['a'], 'bc'),
        make('', ['ab'], 'c'),
        make('a', ['b'], 'c'),
      ]).size,
    ).toBe(4);
  });
});

describe('counts', () => {
  test('come from the list, the denominator from the task', () => {
    const report = reportOf('passed', 'failed', 'skipped', 'pending', 'other');
    const each = { reported: 5, passed: 1, failed: 1, skipped: 1, pending: 1, other: 1 };
    expect(countTests(report, 7)).toEqual({ expected: 7, ...each, notReported: 2 });
    expect(countTests(report, 3)).toEqual({ expected: 3, ...each, notReported: 0 });
    expect(countTests(report, undefined)).toEqual({ expected: null, ...each, notReported: 0 });
  });

  test('missing tests are named, as often as the oracle lists them', () => {
    const oracle = [
      { suite: ['s'], name: 'a' },
      { suite: ['s'], name: 'a' },
      { suite: [], name: 'a' },
      { suite: ['s', 't'], name: 'b' },
    ];
    const report = readResults({
      tests: [
        { name: 'a', suite: 's', status: 'failed' },
        { name: 'new', status: 'passed' },
      ],
    });
    expect(missingTests(report, oracle)).toEqual(['s > a', 'a', 's > t > b']);
    expect(missingTests({ tests: [], state: 'none', notes: [] }, oracle)).toHaveLength(4);
  });
});
