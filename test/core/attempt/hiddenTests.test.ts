import { expect, test } from 'vitest';
import { requireNoAttempt } from '#core/attempt/hiddenTests.ts';
import type { AttemptState } from '#core/attempt/types.ts';
import { record } from './support.ts';

const task = { name: 'a task', path: '/corpus/a-task', digest: 'sha256:0' };

test.each<[AttemptState, boolean]>([
  ['preparing', true],
  ['ready', true],
  ['running', true],
  ['grading', true],
  ['submitted', false],
  ['gave-up', false],
  ['lost', false],
])('the tests of a task with an attempt that is %s: refused %s', (state, isRefused) => {
  const look = () => requireNoAttempt([record({ id: 'abcdef', state })], task);
  if (isRefused) expect(look).toThrow('hidden tests of a task, and the attempt abcdef at it has not ended.');
  else expect(look).not.toThrow();
});

test('of the same content elsewhere, and not of another task', () => {
  const running = [record({ state: 'running' })];
  expect(() => requireNoAttempt(running, { ...task, path: '/copy/a-task' })).toThrow('has not ended');
  expect(() => requireNoAttempt(running, { ...task, path: '/other', digest: 'sha256:1' })).not.toThrow();
  expect(() => requireNoAttempt(running, { name: 'other', path: '/other' })).not.toThrow();
});
