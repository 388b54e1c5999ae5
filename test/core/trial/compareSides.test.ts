import { expect, test } from 'vitest';
import { compareSides, type Side } from '#core/trial/compareSides.ts';

const side = (more: Partial<Side> = {}): Side => ({
  verdict: 'resolved',
  rewards: { reward: 1 },
  tests: [],
  ...more,
});
const tests = (...statuses: readonly ('passed' | 'failed')[]): Side['tests'] =>
  statuses.map((status, index) => ({ id: `t${index}`, name: `n${index}`, suite: ['s'], status }));
const none = (reason: string): Side => ({ verdict: 'not graded', reason, rewards: null, tests: [] });
const raised = (type: string, message = ''): Side => ({ ...none('x'), exception: { type, message } });
const rules = (ours: Side, harbor: Side): readonly string[] =>
  compareSides(ours, harbor).differences.map(({ rule }) => rule);

test('the same rewards, tests and verdict agree', () => {
  const one = side({ tests: tests('passed', 'failed'), rewards: { reward: 1, style: 0.5 } });
  expect(compareSides(one, { ...one, rewards: { style: 0.5, reward: 1 } })).toEqual({
    outcome: 'agree',
    differences: [],
  });
});

test('rewards, tests and verdicts that differ are named', () => {
  const ours = side({ tests: tests('passed', 'passed') });
  const theirs = side({
    verdict: 'unresolved',
    rewards: { reward: 0 },
    tests: tests('passed', 'failed').slice(1),
  });
  expect(compareSides(ours, theirs).outcome).toBe('differ');
  expect(rules(ours, theirs)).toEqual(['reward', 'verdict', 'test-missing', 'test-status']);
  expect(rules(side(), side({ rewards: { reward: 1, extra: 0 } }))).toEqual(['reward']);
});

test.each([
  ['verifier-timeout', 'VerifierTimeoutError', ''],
  ['reward-missing', 'RewardFileNotFoundError', ''],
  ['verifier-out-of-memory', 'RewardFileNotFoundError', ''],
  ['test-script-missing', 'RewardFileNotFoundError', ''],
  ['reward-unreadable', 'RewardFileEmptyError', ''],
  ['image-missing', 'RuntimeError', 'No such image: x'],
])('%s is %s', (reason, type, message) => {
  expect(compareSides(none(reason), raised(type, message)).outcome).toBe('agree');
});

test('different reasons for no reward differ', () => {
  expect(compareSides(none('reward-missing'), raised('VerifierTimeoutError')).outcome).toBe('differ');
});

test('a reward on one side only is no agreement', () => {
  const only = compareSides(side({ tests: tests('passed') }), raised('RuntimeError', 'first\nsecond'));
  expect(only.outcome).toBe('one side not graded');
  expect(only.differences).toHaveLength(1);
  expect(only.differences[0]?.message).toContain('RuntimeError ("first")');
  expect(compareSides(none('artifact-missing'), side()).outcome).toBe('one side not graded');
});

test('names at most twenty tests', () => {
  const many = tests(...Array.from({ length: 30 }, () => 'passed' as const));
  expect(compareSides(side({ tests: many }), side()).differences).toHaveLength(21);
});
