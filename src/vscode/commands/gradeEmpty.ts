import type { CommandHandler } from './commandIds.ts';
import { type GradeAndTellDeps, gradeAndTell } from './gradeAndTell.ts';
import { pickGradableTask } from './pickTask.ts';

/** Grades an empty workspace: a sound task is not resolved by it. */
export function gradeEmpty(deps: GradeAndTellDeps): CommandHandler {
  return async (argument) => {
    const task = await pickGradableTask(deps, argument, 'Grade empty workspace');
    await gradeAndTell(deps, { task, source: { kind: 'empty' } });
  };
}
