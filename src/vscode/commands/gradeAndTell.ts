import type { GradeResult } from '#core/grading/types.ts';
import type { RevealGate } from '#vscode/attempts/revealGate.ts';
import { type GradeOrder, type GradeRunDeps, runGrade } from '#vscode/grading/runGrade.ts';
import { tellResult } from '#vscode/grading/tellResult.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { PickTaskDeps } from './pickTask.ts';

export interface GradeAndTellDeps extends GradeRunDeps, PickTaskDeps {
  readonly tests: GradeRunDeps['tests'];
  readonly notifier: Notifier;
  readonly gate: RevealGate;
  readonly showLog: () => void;
  /** Brings the grades of a task into view, where the tree is visible. */
  readonly revealTask: (dir: string) => Promise<void>;
}

/** Grades, tells the verdict and returns the result; what the commands and the Testing view's run have in common. */
export async function gradeAndTell(deps: GradeAndTellDeps, order: GradeOrder): Promise<GradeResult> {
  const { task, source } = order;
  // What an attempt's own grades show, its protocol says.
  if (source.kind !== 'attempt') await deps.gate.pass(task, { what: 'grade', of: source.kind, tier: 'full' });
  const result = await runGrade(order, deps);
  // Before the verdict is told: revealing later would take the person back from where its button leads.
  await deps.revealTask(task.dir);
  tellResult(deps.notifier, result, deps.showLog);
  return result;
}
