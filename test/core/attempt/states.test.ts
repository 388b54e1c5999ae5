import { describe, expect, test } from 'vitest';
import { legalMoves, moveTo, reasonOf, requireWorkable } from '#core/attempt/states.ts';
import type { AttemptState } from '#core/attempt/types.ts';
import { UserError } from '#core/base/errors.ts';
import { record } from './support.ts';

const states = Object.keys(legalMoves) as AttemptState[];

const table: Readonly<Record<AttemptState, string>> = {
  preparing: 'ready lost',
  ready: 'running paused grading gave-up disqualified lost',
  running: 'ready paused grading gave-up disqualified lost',
  paused: 'ready running grading gave-up disqualified lost',
  grading: 'ready running paused submitted timed-out lost',
  submitted: 'disqualified',
  'gave-up': 'disqualified',
  'timed-out': 'disqualified',
  disqualified: '',
  lost: 'ready',
};

describe.each(states)('from %s', (from) => {
  test.each(states)('to %s', (to) => {
    const before = record({ state: from });
    if (table[from].split(' ').includes(to)) {
      const after = moveTo(before, to, 'because');
      expect(after.state).toBe(to);
      expect(after.history.slice(0, -1)).toEqual(before.history);
      expect(after.history.at(-1)).toMatchObject({ state: to, reason: 'because' });
      expect(reasonOf(after)).toBe('because');
      expect(before.state).toBe(from);
    } else {
      expect(() => moveTo(before, to)).toThrow(UserError);
      expect(() => moveTo(before, to)).toThrow(`it cannot become "${to}"`);
    }
  });
});

test('only what is ready or running can be worked on; the error says why', () => {
  expect(states.filter((state) => isWorkable(state))).toEqual(['ready', 'running']);
  const lost = moveTo(record({ state: 'ready' }), 'lost', 'the volume is gone');
  expect(() => requireWorkable(lost)).toThrow(`${lost.id} at a task is lost (the volume is gone).`);
});

test('the history of thousands of sessions keeps its beginning and its end', () => {
  let attempt = moveTo(record(), 'ready');
  for (let i = 0; i < 1_500; i++) attempt = moveTo(attempt, i % 2 === 0 ? 'running' : 'ready', String(i));
  expect(attempt.history).toHaveLength(1_000);
  expect(attempt.history[0]?.state).toBe('preparing');
  expect(attempt.history.at(-1)?.reason).toBe('1499');
});

function isWorkable(state: AttemptState): boolean {
  try {
    requireWorkable(record({ state }));
    return true;
  } catch {
    return false;
  }
}
