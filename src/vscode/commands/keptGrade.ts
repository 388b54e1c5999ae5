import { requireNoAttempt } from '#core/attempt/hiddenTests.ts';
import { UserError } from '#core/base/errors.ts';
import type { Task } from '#core/task/types.ts';
import type { AttemptIndex } from '#vscode/attempts/attemptIndex.ts';
import type { KeptIndex } from '#vscode/grades/keptIndex.ts';
import { type PickedGrade, type PickGradeDeps, pickGrade } from './pickGrade.ts';

export interface KeptGradeDeps extends PickGradeDeps {
  readonly kept: KeptIndex;
  readonly attempts: AttemptIndex;
}

/** As `pickGrade`, among grades whose container was kept. */
export async function pickKeptGrade(
  deps: KeptGradeDeps,
  argument: unknown,
  title: string,
): Promise<PickedGrade> {
  await deps.kept.refresh();
  return pickGrade(deps, argument, title, {
    isOne: ({ dir }) => deps.kept.has(dir),
    none: new UserError('No grade of this task has a kept container.', {
      nextStep: 'Grade it with "Grade and keep container".',
    }),
  });
}

/** Refuses what shows the hidden tests of a task while somebody builds at it. Errors: `UserError`. */
export async function refuseWhileAttempted(
  { attempts }: Pick<KeptGradeDeps, 'attempts'>,
  task: Task,
  gradedDigest?: string,
): Promise<void> {
  const { contentDigest } = await import('#core/task/digest.ts');
  const now = await contentDigest(task.dir).catch(() => undefined);
  // Read from the store itself: another window may just have started one.
  const records = await attempts.room.list();
  for (const digest of [now, gradedDigest])
    requireNoAttempt(records, { name: task.name, path: task.dir, digest });
}
