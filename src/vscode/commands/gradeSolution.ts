import type { CommandHandler } from './commandIds.ts';
import { type GradeAndTellDeps, gradeAndTell } from './gradeAndTell.ts';
import { pickGradableTask } from './pickTask.ts';

/** Grades the task's own solution: a sound task is resolved by it. */
export function gradeSolution(deps: GradeAndTellDeps): CommandHandler {
  return async (argument) => {
    const task = await pickGradableTask(deps, argument, 'Grade reference solution');
    await gradeAndTell(deps, { task, source: { kind: 'solution' } });
  };
}
