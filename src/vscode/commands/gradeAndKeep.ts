import { type ChoiceMemory, chooseSource } from '#vscode/grading/chooseSource.ts';
import type { CommandHandler } from './commandIds.ts';
import { type GradeAndTellDeps, gradeAndTell } from './gradeAndTell.ts';
import { type KeptGradeDeps, refuseWhileAttempted } from './keptGrade.ts';
import { openShellOf } from './openGradeShell.ts';
import { pickGradableTask } from './pickTask.ts';
import type { ErrorReporter } from './reportError.ts';

export interface GradeAndKeepDeps extends GradeAndTellDeps, Omit<KeptGradeDeps, keyof GradeAndTellDeps> {
  readonly memory: ChoiceMemory;
  readonly reportError: ErrorReporter;
}

/** Asks what to grade, grades it and keeps the container, for the task's author to look inside. */
export function gradeAndKeep(deps: GradeAndKeepDeps): CommandHandler {
  return async (argument) => {
    const task = await pickGradableTask(deps, argument, 'Grade and keep container');
    await refuseWhileAttempted(deps, task);
    const source = await chooseSource(`Grade ${task.name} and keep the container`, deps.memory);
    const result = await gradeAndTell(deps, { task, source, keep: true });
    await deps.kept.refresh();
    const summary = (await deps.grades.list(task)).find(({ dir }) => dir === result.dir);
    // A grade that never came to its container has none to keep.
    if (!summary || !deps.kept.has(result.dir)) return;
    deps.notifier.info('The container of the grade is kept until you remove it or delete the grade.', {
      title: 'Open shell',
      run: () => openShellOf(deps, { task, summary }).catch((error) => deps.reportError('Open shell', error)),
    });
  };
}
