import { readFileSync } from 'node:fs';
import { say, seconds } from './log.mjs';

/**
 * @typedef {{ name: string, message: string }} Failure
 * @typedef {{ name: string, reason: string }} Skip
 * @typedef {{ passed: number, failed: Failure[], skipped: Skip[], flaky?: Failure[] }} Results
 *   `flaky`: passed, but only when tried a second time.
 */

/** @returns {Results} */
export const passedOne = () => ({ passed: 1, failed: [], skipped: [] });

/** @returns {Results} */
export const failedOne = (name, message) => ({ passed: 0, failed: [{ name, message }], skipped: [] });

/**
 * The results that a group's runner wrote, checked against how it ended: a runner that crashed, told nothing, ran
 * nothing, or failed without a failed test is one failed test.
 *
 * @returns {Results}
 */
export function readResults(group, file, { code, signal }) {
  const ending = signal ?? `exit code ${code}`;
  let results;
  try {
    results = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return failedOne(`${group}: no results`, `The runner ended (${ending}) without results.`);
  }
  const add = (name, message) => results.failed.push({ name: `${group}: ${name}`, message });
  if (results.passed + results.failed.length === 0) add('no test ran', `The runner ended with ${ending}.`);
  else if (code !== 0 && results.failed.length === 0) add('the runner failed', `It ended with ${ending}.`);
  return results;
}

/** Prints what failed or was skipped in a group, its counts and its time. */
export function sayGroup(group, { passed, failed, skipped, flaky = [] }, ms) {
  for (const { name, message } of flaky) say(`  FLAKY: ${name}: ${message.split('\n')[0]}`);
  for (const { name, reason } of skipped) say(`  skipped: ${name} (${reason})`);
  for (const { name, message } of failed) say(`  FAILED: ${name}: ${message.split('\n')[0]}`);
  say(`${group}: ${counts({ passed, failed, skipped })} (${seconds(ms)})`);
}

const counts = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;

/** Prints the table of groups and the closing line. Returns the exit code. */
export function saySummary(groups, ms) {
  say('\nGroup         passed  failed  skipped     time');
  for (const { name, results, ms: took } of groups) {
    const numbers = [results.passed, results.failed.length, results.skipped.length];
    const columns = [
      name.padEnd(12),
      ...numbers.map((n) => String(n).padStart(7)),
      seconds(took).padStart(9),
    ];
    say(columns.join(' '));
  }
  say(`${'total'.padEnd(36)} ${seconds(ms).padStart(9)}`);
  const total = {
    passed: groups.reduce((sum, { results }) => sum + results.passed, 0),
    failed: groups.flatMap(({ results }) => results.failed),
    skipped: groups.flatMap(({ results }) => results.skipped),
    flaky: groups.flatMap(({ results }) => results.flaky ?? []),
  };
  if (total.skipped.length > 0) say('\nSkipped:');
  for (const { name, reason } of total.skipped) say(`  ${name}: ${reason}`);
  if (total.flaky.length > 0) say('\nFlaky, passed on the second try:');
  for (const { name, message } of total.flaky) say(`  ${name}: ${message.split('\n')[0]}`);
  if (total.failed.length > 0) say('\nFailed:');
  for (const { name, message } of total.failed) say(`  ${name}: ${message.split('\n')[0]}`);
  say();
  say(counts(total));
  return total.failed.length > 0 ? 1 : 0;
}
