import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { GradeProblems } from '#vscode/testing/gradeProblems.ts';
import type { MessagePlace } from '#vscode/testing/planItems.ts';
import { locateInWorkspace } from '#vscode/testing/workspacePlaces.ts';
import { attemptUri } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';

export interface InlineDeps {
  readonly sessions: WorkspaceSessions;
  readonly problems: GradeProblems;
  readonly log: Log;
}

/**
 * Finds the lines of the workspace that failed tests of a grade are about, puts the tests' messages there in the
 * Problems view, and returns them by test. Never fails a grade: without them it is told as any other.
 */
export function inlineResults({ sessions, problems, log }: InlineDeps, id: string, task: Task) {
  return async ({ tests }: GradeResult): Promise<ReadonlyMap<string, MessagePlace>> => {
    try {
      const { open, record } = await sessions.get(id);
      const look = { files: open.files, workdir: record.workdir, taskDir: task.dir };
      const found = await locateInWorkspace(look, tests);
      const places = new Map(
        [...found].map(([test, { path, line }]) => [test, { uri: attemptUri(id, path), line }]),
      );
      problems.show(tests, places);
      return places;
    } catch (error) {
      log.warn(`The places of failed tests could not be looked up: ${errorMessage(error)}`);
      return new Map();
    }
  };
}

/** Takes what a grade found off the Problems view. */
export function clearProblems({ problems }: Pick<InlineDeps, 'problems'>): CommandHandler {
  return () => problems.clear();
}
