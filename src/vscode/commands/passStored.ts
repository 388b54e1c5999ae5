import type { OutsideReveal } from '#core/attempt/outsideReveals.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { RevealGate } from '#vscode/attempts/revealGate.ts';
import type { PickedGrade, PickGradeDeps } from './pickGrade.ts';

export interface StoredGradeDeps extends PickGradeDeps {
  readonly gate: RevealGate;
}

/** A stored grade about to be shown, after the person was asked where that is more than an attempt may show. */
export async function passStored(
  { grades, gate }: StoredGradeDeps,
  { task, summary }: PickedGrade,
  what: OutsideReveal['what'],
): Promise<GradeResult> {
  const result = await grades.read(summary.dir);
  const graded = { name: task.name, dir: task.dir, gradedDigest: result.task.digest };
  await gate.pass(graded, { what, of: summary.dir, tier: 'full' });
  return result;
}
