import { type NotGradedReason, notGradedReasons } from '#core/grading/reasons.ts';
import type { Evidence, GradeResult } from '#core/grading/types.ts';
import type { Mark, TestResult } from '#core/report/types.ts';
import { type UnresolvedReason, unresolvedReasons } from '#core/report/unresolvedReasons.ts';
import type { Tier } from './protocol.ts';

const later = 'its details are shown once the attempt is over';
const seeLater = `Work on, or submit: ${later}.`;

/**
 * What a tier shows of a grade. Nothing that a test, a report or a submission wrote is carried over but the names
 * (`names`) and messages (`messages`) of tests; whatever is told besides is numbers and sentences of our own.
 */
export function reduceGrade(result: GradeResult, tier: Tier): GradeResult {
  if (tier === 'full') return result;
  const { schemaVersion, task, verdict, reason, counts, phases, dir, startedAt, finishedAt } = result;
  const explanation = explain(result);
  return {
    ...{ schemaVersion, tier, task, verdict },
    ...(reason === undefined || !explanation ? {} : { reason, explanation }),
    // Another number could say which tests passed.
    reward: result.reward === 0 || result.reward === 1 ? result.reward : null,
    counts,
    tests: tier === 'counts' ? [] : result.tests.map((test) => reduceTest(test, tier)),
    ...(tier === 'counts' || !result.missingTests ? {} : { missingTests: result.missingTests }),
    phases,
    evidence: reduceEvidence(result.evidence),
    marks: result.marks.map(reduceMark),
    problems: [],
    ...{ dir, startedAt, finishedAt },
  };
}

function reduceTest(test: TestResult, tier: 'names' | 'messages'): TestResult {
  const { id, name, group, suite, status, message } = test;
  return {
    ...{ id, name, suite, status },
    ...(group === undefined ? {} : { group }),
    ...(tier === 'messages' && message !== undefined ? { message } : {}),
  };
}

/** The reason in our words alone: what it was completed with may be the tests' own. */
function explain({ reason, explanation }: GradeResult): GradeResult['explanation'] {
  if (reason === undefined) return undefined;
  if (Object.hasOwn(notGradedReasons, reason)) {
    const { text, nextStep, cause } = notGradedReasons[reason as NotGradedReason];
    const blamed = explanation?.cause ?? cause;
    return { text, nextStep: cause === 'unknown' ? seeLater : nextStep, cause: blamed };
  }
  if (!Object.hasOwn(unresolvedReasons, reason)) return undefined;
  return { text: unresolvedReasons[reason as UnresolvedReason].text, nextStep: seeLater };
}

function reduceMark({ rule }: Mark): Mark {
  return { rule, message: `Marked “${rule}”; ${later}.` };
}

/** How it was made, without what the tests left: paths, processes, codes. */
function reduceEvidence(evidence: Evidence): Evidence {
  const { mode, source, engine, image, taskDigest, testsDigest, environmentId, submission } = evidence;
  const { network, limits, oomKilled, timeoutSec } = evidence;
  return {
    ...defined({ mode, engine, image, taskDigest, testsDigest, environmentId, submission }),
    source,
    ...(network ? { network: { mode: network.mode, probe: network.probe } } : {}),
    ...defined({ limits, oomKilled, timeoutSec }),
  };
}

/** Without what is undefined. */
function defined<T extends object>(facts: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
