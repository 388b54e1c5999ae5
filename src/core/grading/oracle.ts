import { missingTests } from '#core/report/countTests.ts';
import type { Report } from '#core/report/types.ts';
import { unresolvedReasons } from '#core/report/unresolvedReasons.ts';
import type { Task } from '#core/task/types.ts';
import { notGradedReasons } from './reasons.ts';
import { listGrades, readGrade } from './store.ts';
import type { GradeResult } from './types.ts';

/** How many of the newest grades of a task are looked at for one of its reference solution. */
const lookedAt = 50;

/**
 * What an earlier, resolved grade of the reference solution adds to a grade: for a hardened one, that its tests are
 * the same; else the names of tests that were not
 * reported, and that a limit which was hit is the submission's own doing (design.md §4.7). Only one with the same
 * tests, and for limits the same limits, counts.
 */
export async function compareWithOracle(
  result: GradeResult,
  task: Task,
  storeDir: string,
): Promise<GradeResult> {
  if (
    result.evidence.mode === 'hardened' &&
    result.verdict === 'resolved' &&
    result.evidence.source !== 'solution'
  )
    return requireSameTests(result, await findOracle(result, task, storeDir));
  const missing = result.counts.notReported > 0;
  const limited = isLimit(result.reason) && result.explanation?.cause === 'unknown';
  if (!missing && !limited) return result;
  const oracle = await findOracle(result, task, storeDir);
  if (!oracle) return result;
  const report: Report = { tests: result.tests, state: 'read', notes: [] };
  const blamed = limited && sameLimits(oracle, result) && result.explanation;
  return {
    ...result,
    ...(missing ? { missingTests: missingTests(report, oracle.tests) } : {}),
    ...(blamed ? { explanation: { ...blamed, cause: 'submission' as const } } : {}),
  };
}

/** A hardened grade is resolved by the very tests that the reference solution passes. */
function requireSameTests(result: GradeResult, oracle: GradeResult | undefined): GradeResult {
  if (!oracle) {
    const message =
      'No grade of the reference solution with these tests is kept, so the names of the tests were not compared.';
    return { ...result, marks: [...result.marks, { rule: 'no-oracle', message }] };
  }
  const report = (tests: GradeResult['tests']): Report => ({ tests, state: 'read', notes: [] });
  const missing = missingTests(report(result.tests), oracle.tests);
  const more = missingTests(report(oracle.tests), result.tests);
  if (missing.length === 0 && more.length === 0) return result;
  const reason = 'other-tests';
  return {
    ...result,
    verdict: 'unresolved',
    reason,
    explanation: unresolvedReasons[reason],
    ...(missing.length > 0 ? { missingTests: missing } : {}),
  };
}

async function findOracle(
  result: GradeResult,
  task: Task,
  storeDir: string,
): Promise<GradeResult | undefined> {
  const summaries = (await listGrades(storeDir, task))
    .filter(({ source, verdict }) => source === 'solution' && verdict === 'resolved')
    .slice(0, lookedAt);
  for (const { dir } of summaries) {
    const grade = await readGrade(dir).catch(() => undefined);
    const digest = grade?.evidence.testsDigest;
    if (grade && digest !== undefined && digest === result.evidence.testsDigest) return grade;
  }
  return undefined;
}

function sameLimits(oracle: GradeResult, result: GradeResult): boolean {
  const key = ({ evidence: { mode, limits, timeoutSec, image } }: GradeResult): string =>
    JSON.stringify([mode, limits?.cpus, limits?.memoryMb, limits?.pids, timeoutSec, image?.id]);
  return key(oracle) === key(result);
}

function isLimit(reason: string | undefined): boolean {
  return (
    reason !== undefined &&
    Object.hasOwn(notGradedReasons, reason) &&
    [
      'verifier-timeout',
      'verifier-out-of-memory',
      'verifier-killed',
      'reward-missing',
      'reward-unreadable',
      'verifier-needs-network',
    ].includes(reason)
  );
}
