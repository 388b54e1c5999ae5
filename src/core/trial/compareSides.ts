import type { TestStatus, Verdict } from '#core/report/types.ts';
import { reasonsOf, type TrialException } from './exceptions.ts';
import { sameRewards } from './readTrialResult.ts';

/** One side of a cross-check: our grade, or Harbor's trial read by our own decision. */
export interface Side {
  readonly verdict: Verdict;
  readonly reason?: string;
  readonly rewards: Readonly<Record<string, number | null>> | null;
  readonly tests: readonly {
    readonly id: string;
    readonly name: string;
    readonly suite: readonly string[];
    readonly status: TestStatus;
  }[];
  /** Harbor's own word for why there is no reward. */
  readonly exception?: TrialException;
}

export interface Difference {
  /** Kebab-case: `verdict`, `reward`, `test-status`, `test-missing`, `not-graded`. */
  readonly rule: string;
  readonly message: string;
}

export interface Comparison {
  readonly outcome: 'agree' | 'differ' | 'one side not graded';
  readonly differences: readonly Difference[];
}

/** Tests named in a difference. */
const maxNamed = 20;

/**
 * Compares a grade of ours with Harbor's of the same submission: the rewards, the status of every test, the verdict
 * that one decision gives for both. Two sides without a reward agree when Harbor's exception is the one in which our
 * reason ends there (harbor.md §4.7).
 */
export function compareSides(ours: Side, harbor: Side): Comparison {
  const oursRewarded = ours.rewards !== null;
  const harborRewarded = harbor.rewards !== null;
  const tests = testDifferences(ours, harbor);
  if (!oursRewarded && !harborRewarded) {
    const reasons = harbor.exception ? reasonsOf(harbor.exception) : [harbor.reason ?? ''];
    const same = reasons.includes(ours.reason ?? '');
    if (same) return { outcome: tests.length > 0 ? 'differ' : 'agree', differences: tests };
    const message = `Neither side has a reward, for different reasons: ours ${ours.reason ?? 'none'}, Harbor's ${describe(harbor)}.`;
    return { outcome: 'differ', differences: [{ rule: 'not-graded', message }, ...tests] };
  }
  if (oursRewarded !== harborRewarded) {
    const message = oursRewarded
      ? `Only we have a reward (${show(ours.rewards)}); Harbor has none: ${describe(harbor)}.`
      : `Only Harbor has a reward (${show(harbor.rewards)}); ours is ${ours.verdict}: ${ours.reason ?? 'no reason'}.`;
    // Where no test ran on one side, naming each says nothing more.
    const named = ours.tests.length > 0 && harbor.tests.length > 0 ? tests : [];
    return { outcome: 'one side not graded', differences: [{ rule: 'not-graded', message }, ...named] };
  }
  const differences: Difference[] = [];
  if (!sameRewards(ours.rewards ?? {}, harbor.rewards ?? {}))
    differences.push({
      rule: 'reward',
      message: `The rewards differ: ours ${show(ours.rewards)}, Harbor's ${show(harbor.rewards)}.`,
    });
  if (ours.verdict !== harbor.verdict)
    differences.push({
      rule: 'verdict',
      message: `The verdicts differ: ours ${ours.verdict}, from Harbor's files ${harbor.verdict}.`,
    });
  differences.push(...tests);
  return { outcome: differences.length > 0 ? 'differ' : 'agree', differences };
}

function testDifferences(ours: Side, harbor: Side): readonly Difference[] {
  const theirs = new Map(harbor.tests.map((test) => [test.id, test]));
  const differences: Difference[] = [];
  for (const test of ours.tests) {
    const other = theirs.get(test.id);
    theirs.delete(test.id);
    const name = [...test.suite, test.name].join(' > ');
    if (other === undefined)
      differences.push({
        rule: 'test-missing',
        message: `Only our report lists "${name}" (${test.status}).`,
      });
    else if (other.status !== test.status)
      differences.push({
        rule: 'test-status',
        message: `"${name}" is ${test.status} with us and ${other.status} with Harbor.`,
      });
  }
  for (const test of theirs.values())
    differences.push({
      rule: 'test-missing',
      message: `Only Harbor's report lists "${[...test.suite, test.name].join(' > ')}" (${test.status}).`,
    });
  if (differences.length <= maxNamed) return differences;
  const rest = differences.length - maxNamed;
  return [...differences.slice(0, maxNamed), { rule: 'test-status', message: `… and ${rest} more tests.` }];
}

function describe({ exception, reason }: Side): string {
  return exception
    ? `${exception.type}${exception.message ? ` ("${firstLine(exception.message)}")` : ''}`
    : (reason ?? 'none');
}

function firstLine(text: string): string {
  const line = text.split('\n')[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function show(rewards: Side['rewards']): string {
  return JSON.stringify(rewards);
}
