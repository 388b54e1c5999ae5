import { type GradeAndTellDeps, gradeAndTell } from '#vscode/commands/gradeAndTell.ts';
import type { ErrorReporter } from '#vscode/commands/reportError.ts';
import { type ChoiceMemory, chooseSource } from '#vscode/grading/chooseSource.ts';
import type { RunHandler } from './hiddenTests.ts';

export interface GradeAgainDeps extends GradeAndTellDeps {
  readonly memory: ChoiceMemory;
  readonly reportError: ErrorReporter;
}

/**
 * The Testing view's run: asks once what to grade, then grades task after task. The faults of one task do not keep
 * the next from its turn.
 */
export function gradeAgain(deps: GradeAgainDeps): RunHandler {
  return async (tasks, request, token) => {
    const [first] = tasks;
    if (!first) return;
    try {
      const what = tasks.length === 1 ? first.name : `${tasks.length} tasks`;
      const source = await chooseSource(`Grade ${what}`, deps.memory);
      for (const task of tasks) {
        if (token.isCancellationRequested) return;
        try {
          await gradeAndTell(deps, { task, source, request });
        } catch (error) {
          deps.reportError(`Grade ${task.name}`, error);
        }
      }
    } catch (error) {
      deps.reportError('Grade', error);
    }
  };
}
