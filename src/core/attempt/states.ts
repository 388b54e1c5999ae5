import { UserError } from '#core/base/errors.ts';
import type { AttemptRecord, AttemptState, AttemptStep } from './types.ts';

/** Every way that an attempt may go; whatever is not here is refused. */
export const legalMoves: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  preparing: ['ready', 'lost'],
  ready: ['running', 'paused', 'grading', 'gave-up', 'disqualified', 'lost'],
  running: ['ready', 'paused', 'grading', 'gave-up', 'disqualified', 'lost'],
  paused: ['ready', 'running', 'grading', 'gave-up', 'disqualified', 'lost'],
  grading: ['ready', 'running', 'paused', 'submitted', 'timed-out', 'lost'],
  // Also found out afterwards; its grades stay.
  submitted: ['disqualified'],
  'gave-up': ['disqualified'],
  'timed-out': ['disqualified'],
  disqualified: [],
  // The volume may turn up again: another engine was asked.
  lost: ['ready'],
};

const maxHistory = 1_000;

const words: Readonly<Record<AttemptState, string>> = {
  preparing: 'is still being prepared',
  ready: 'is ready',
  running: 'is open',
  paused: 'is paused',
  grading: 'is being graded',
  submitted: 'is submitted',
  'gave-up': 'was given up',
  'timed-out': 'ran out of time',
  disqualified: 'is disqualified',
  lost: 'is lost',
};

/** The record one state further. Errors: `UserError` for a move that is not legal. */
export function moveTo(record: AttemptRecord, to: AttemptState, reason?: string): AttemptRecord {
  if (!legalMoves[record.state].includes(to)) throw illegalMove(record, to);
  const step: AttemptStep = {
    state: to,
    at: new Date().toISOString(),
    ...(reason === undefined ? {} : { reason }),
  };
  return { ...record, state: to, history: shortened([...record.history, step]) };
}

function illegalMove(record: AttemptRecord, to: AttemptState | undefined): UserError {
  const why = reasonOf(record);
  return new UserError(
    `The attempt ${record.id} at ${record.task.name} ${words[record.state]}${why ? ` (${why})` : ''}${to === undefined ? '' : `: it cannot become "${to}"`}.`,
    {
      nextStep:
        record.state === 'grading' || record.state === 'preparing'
          ? 'Wait until that has ended, or open the attempt if it was interrupted.'
          : record.state === 'paused'
            ? 'Resume it first.'
            : 'Start another attempt at the task.',
    },
  );
}

/** Thousands of short sessions leave the first steps and the latest ones. */
function shortened(history: readonly AttemptStep[]): readonly AttemptStep[] {
  const first = 20;
  return history.length <= maxHistory
    ? history
    : [...history.slice(0, first), ...history.slice(history.length - maxHistory + first)];
}

/** Errors: `UserError` for an attempt in which nothing can be done now. */
export function requireWorkable(record: AttemptRecord): void {
  if (record.state !== 'ready' && record.state !== 'running') throw illegalMove(record, undefined);
}

/** Why it is in the state that it is in, where that was said. */
export function reasonOf({ history }: Pick<AttemptRecord, 'history'>): string | undefined {
  return history.at(-1)?.reason;
}

/** Why a measured attempt is paused that was never started. */
export const notStartedReason = 'its clock has not been started';

/** A measured attempt whose clock waits for its builder: nobody has worked in it, and the spec is not shown. */
export function awaitsStart({
  state,
  protocol,
  history,
}: Pick<AttemptRecord, 'state' | 'protocol' | 'history'>): boolean {
  const wasStarted = history.some((step) => step.state === 'running');
  return state === 'paused' && protocol !== undefined && !wasStarted;
}

const ends: readonly AttemptState[] = ['submitted', 'gave-up', 'timed-out', 'disqualified'];

/** Nothing is built in it any more. */
export function isOver(state: AttemptState): boolean {
  return ends.includes(state);
}
