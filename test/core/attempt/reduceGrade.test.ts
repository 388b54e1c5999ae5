import { expect, test } from 'vitest';
import type { Tier } from '#core/attempt/protocol.ts';
import { reduceGrade } from '#core/attempt/reduceGrade.ts';
import { notGradedReasons } from '#core/grading/reasons.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { TestResult } from '#core/report/types.ts';
import { unresolvedReasons } from '#core/report/unresolvedReasons.ts';
import { randoms } from './support.ts';

const lower: readonly Exclude<Tier, 'full'>[] = ['counts', 'names', 'messages'];

/** What each tier shows, by the tests' own words. */
const shownFrom: Readonly<Record<string, Tier>> = { name: 'names', message: 'messages', rest: 'full' };

/** A grade whose every text that may come from outside is one of `words`, each of its kind. */
function grade(words: (kind: string) => string, random = (): number => 0.9): GradeResult {
  const statuses = ['passed', 'failed', 'skipped', 'pending', 'other'] as const;
  const tests = Array.from({ length: Math.floor(random() * 4) + 1 }, (): TestResult => {
    const status = statuses[Math.floor(random() * statuses.length)] ?? 'failed';
    return {
      id: words('name'),
      name: words('name'),
      group: words('name'),
      suite: [words('name'), words('name')],
      status,
      rawStatus: words('rest'),
      durationMs: 3,
      message: words('message'),
      trace: words('rest'),
      expected: words('rest'),
      actual: words('rest'),
      file: words('rest'),
      line: 7,
      retries: 1,
      flaky: true,
    };
  });
  const reasons = [...Object.keys(notGradedReasons), ...Object.keys(unresolvedReasons), words('rest')];
  return {
    schemaVersion: 1,
    task: { name: 'a task', path: '/corpus/a-task', digest: 'sha256:0' },
    verdict: 'unresolved',
    reason: reasons[Math.floor(random() * reasons.length)] ?? '',
    explanation: { text: words('rest'), nextStep: words('rest'), cause: 'submission' },
    reward: random() < 0.5 ? 0.37 : 1,
    rewards: { [words('rest')]: 0.5 },
    counts: {
      ...{ expected: 9, reported: tests.length, passed: 1, failed: 2, skipped: 3, pending: 4, other: 5 },
      notReported: 6,
    },
    tests,
    missingTests: [words('name')],
    phases: [{ name: 'tests', durationMs: 12 }],
    evidence: {
      mode: 'separate',
      source: 'attempt',
      engine: { version: '1', os: 'linux', arch: 'amd64' },
      image: { id: 'sha256:1', reference: 'image:1', os: 'linux', arch: 'amd64', emulated: false },
      testsDigest: 'sha256:2',
      submission: { sha256: 'abc', bytes: 1, entries: 2, skipped: [] },
      network: { mode: 'none', probe: 'failed as it should', detail: words('rest') },
      limits: { cpus: 1, memoryMb: null, pids: 4096, clamped: [] },
      arrival: { checked: 3, differing: [words('rest')] },
      exitCode: 37,
      changedOutside: [words('rest')],
      testsAltered: [words('rest')],
      processesLeft: [words('rest')],
      oomKilled: false,
      timeoutSec: 60,
    },
    marks: [
      { rule: 'tests-altered', message: words('rest') },
      { rule: 'report-unreadable', message: words('rest') },
    ],
    problems: [{ code: 'report-note', message: words('rest'), file: words('rest'), line: 3 }],
    dir: '/store/attempts/a-task/abc/grades/1',
    startedAt: '2026-01-02T03:04:05.000Z',
    finishedAt: '2026-01-02T03:05:05.000Z',
  };
}

const plain = { ...grade((kind) => `a ${kind}`), reason: 'tests-failed', reward: 0 };

test('counts: how many, how long, and how it was made', () => {
  const { explanation, marks, evidence, ...rest } = reduceGrade(plain, 'counts');
  const { schemaVersion, task, verdict, counts, phases, dir, startedAt, finishedAt } = plain;
  expect(rest).toEqual({
    ...{ schemaVersion, tier: 'counts', task, verdict, reason: 'tests-failed', reward: 0, counts },
    ...{ tests: [], phases, problems: [], dir, startedAt, finishedAt },
  });
  expect(explanation?.text).toBe('At least one hidden test failed.');
  expect(marks.map(({ rule }) => rule)).toEqual(['tests-altered', 'report-unreadable']);
  const { exitCode, changedOutside, testsAltered, processesLeft, arrival, network, ...kept } = plain.evidence;
  expect(evidence).toEqual({ ...kept, network: { mode: 'none', probe: 'failed as it should' } });
});

test.each([
  ['names', {}],
  ['messages', { message: 'a message' }],
] as const)('%s: of each test no more than that', (tier, more) => {
  const reduced = reduceGrade(plain, tier);
  const { id, name, group, suite, status } = plain.tests[0] as TestResult;
  expect(reduced.tests[0]).toEqual({ id, name, group, suite, status, ...more });
  expect(reduced.tests).toHaveLength(plain.tests.length);
  expect(reduced.missingTests).toEqual(['a name']);
  const { tests, missingTests, tier: _, ...rest } = reduced;
  const { tests: _none, tier: __, ...counts } = reduceGrade(plain, 'counts');
  expect(rest).toEqual(counts);
});

test('full: all of it', () => {
  expect(reduceGrade(plain, 'full')).toBe(plain);
});

test('a reward that is no plain yes or no could tell which tests passed', () => {
  expect(lower.map((tier) => reduceGrade({ ...plain, reward: 0.37 }, tier).reward)).toEqual([
    null,
    null,
    null,
  ]);
  expect(reduceGrade({ ...plain, reward: null }, 'counts').reward).toBeNull();
});

test.each([
  ['verifier-timeout', 'unknown', 'The tests did not end in time.'],
  ['image-build-failed', 'task', "The task's image cannot be built."],
] as const)('why there is no grade is said in our words: %s', (reason, cause, text) => {
  const { explanation } = plain;
  const failed = { ...plain, reason, explanation: { ...explanation, text: 'x', nextStep: 'y', cause } };
  expect(reduceGrade(failed, 'counts').explanation).toMatchObject({ text, cause });
  expect(JSON.stringify(reduceGrade(failed, 'counts'))).not.toContain('test-stdout');
});

test('no word of a hidden test is in the JSON of a tier that does not show it', () => {
  for (let seed = 0; seed < 100; seed++) {
    const random = randoms(seed);
    const said = new Map<string, string>();
    const odd = [
      '',
      ' passed',
      '"quoted"',
      '\n  at x (/tests/a.py:3)',
      '\u0000',
      '💥',
      '/tests/',
      '__proto__',
    ];
    const words = (kind: string): string => {
      const word = `w${said.size}-${seed}`;
      said.set(word, kind);
      return `${odd[Math.floor(random() * odd.length)]}${word}`;
    };
    const full = grade(words, random);
    const all = JSON.stringify(full);
    for (const tier of lower) {
      const text = JSON.stringify(reduceGrade(full, tier));
      const order: readonly Tier[] = ['counts', 'names', 'messages', 'full'];
      for (const [word, kind] of said) {
        const isShown = order.indexOf(tier) >= order.indexOf(shownFrom[kind] ?? 'full');
        const pattern = new RegExp(`${word}(?![0-9])`);
        // A reason that is none of ours may not have been drawn.
        if (kind !== 'rest') expect(all).toMatch(pattern);
        if (isShown) expect(text).toMatch(pattern);
        else expect(text).not.toMatch(pattern);
      }
    }
  }
});
