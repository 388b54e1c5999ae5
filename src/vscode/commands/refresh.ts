import type { AttemptIndex } from '#vscode/attempts/attemptIndex.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import type { GradeIndex } from '#vscode/grades/gradeIndex.ts';
import type { KeptIndex } from '#vscode/grades/keptIndex.ts';
import type { CommandHandler } from './commandIds.ts';

export interface RefreshDeps {
  readonly index: TaskIndex;
  readonly grades: GradeIndex;
  readonly attempts: AttemptIndex;
  readonly kept: KeptIndex;
}

/** Reads task folders and stored grades again. */
export function refresh(deps: RefreshDeps): CommandHandler {
  return async () => {
    deps.grades.clear();
    await Promise.all([deps.index.refresh(), deps.attempts.reload(), deps.kept.refresh()]);
  };
}
