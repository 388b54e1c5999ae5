import { type ChoiceMemory, chooseSource } from '#vscode/grading/chooseSource.ts';
import type { CommandHandler } from './commandIds.ts';
import { type GradeAndTellDeps, gradeAndTell } from './gradeAndTell.ts';
import { pickGradableTask } from './pickTask.ts';

/** Asks what to grade, then grades it. */
export function grade(deps: GradeAndTellDeps & { readonly memory: ChoiceMemory }): CommandHandler {
  return async (argument) => {
    const task = await pickGradableTask(deps, argument, 'Grade');
    const source = await chooseSource(`Grade ${task.name}`, deps.memory);
    await gradeAndTell(deps, { task, source });
  };
}
