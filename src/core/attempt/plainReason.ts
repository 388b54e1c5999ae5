import { defaultPauseReason } from './pauseAttempt.ts';

/** Reasons that the product gives by itself; all others are words of people. */
const own: readonly string[] = [
  ...['grade', 'submit', 'setup', 'snapshot', 'comparison', 'pause', 'closed'],
  ...['crash', 'no answer', 'restart', 'sleep'],
  ...[defaultPauseReason, 'its time is up', 'the disk is nearly full', 'it could not be frozen'],
];

/** The reason where it is none of a person's own words, else that it is one. */
export function plainReason(reason: string): string {
  return own.includes(reason) ? reason : 'in the words of a person';
}
