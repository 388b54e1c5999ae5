import { z } from 'zod';

/**
 * The two scripts by which a task can be graded hardened: `setup` runs the submission's own set-up where none of the
 * tests are, `test` runs the hidden tests on what it left. Both are files below tests/; the stock test.sh stays
 * valid and is what Harbor runs.
 */
export interface TwoScriptContract {
  readonly setup: string;
  readonly test: string;
}

const script = z
  .string()
  .regex(/^(?!\/)(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^\0\\]+$/, 'a path below tests/, such as "setup_phase.sh"');
const contract = z.object({ setup: script, test: script });

/** Of `[metadata.e2e_swe_workbench]`; undefined where the task declares neither key. */
export function readContract(
  metadata: Readonly<Record<string, unknown>>,
): { readonly contract: TwoScriptContract } | { readonly problem: string } | undefined {
  const table = metadata.e2e_swe_workbench;
  if (typeof table !== 'object' || table === null || !('setup' in table || 'test' in table)) return undefined;
  const parsed = contract.safeParse(table);
  if (parsed.success) return { contract: { setup: parsed.data.setup, test: parsed.data.test } };
  const issue = parsed.error.issues[0];
  return {
    problem: `metadata.e2e_swe_workbench.${issue?.path.join('.') ?? ''} is missing or is no path below tests/, such as "setup_phase.sh".`,
  };
}
