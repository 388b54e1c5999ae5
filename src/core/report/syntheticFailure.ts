import type { TestResult } from './types.ts';

/** Names under which graders report a build or harness that failed before any test could run. */
const syntheticName = /^(?:BUILD|HARNESS|<(?:build|harness)>)$/;

/** The one failed entry that stands for a failed build, when a report holds nothing else. */
export function syntheticFailure(tests: readonly TestResult[]): TestResult | undefined {
  const [only] = tests;
  return tests.length === 1 && only?.status === 'failed' && syntheticName.test(only.name.trim())
    ? only
    : undefined;
}
