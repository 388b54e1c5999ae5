import path from 'node:path';
import * as vscode from 'vscode';
import type { AttemptGrade } from '#core/attempt/types.ts';
import { CancelledError, UserError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { GradeAndTellDeps } from '#vscode/commands/gradeAndTell.ts';
import { showInTestingView } from '#vscode/commands/openGrade.ts';
import { verdictLabel } from '#vscode/grading/words.ts';
import type { AttemptTasks } from './attemptTasks.ts';
import { pickAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

export interface OpenAttemptGradeDeps {
  readonly room: AttemptRoom;
  readonly tasks: AttemptTasks;
  readonly grading: GradeAndTellDeps;
}

/** Shows a grade of an attempt in the Testing view: as its tier shows it, and all of it once the attempt is over. */
export function openAttemptGrade({ room, tasks, grading }: OpenAttemptGradeDeps): CommandHandler {
  return async (argument) => {
    const title = 'Show grade of attempt';
    const record = await pickAttempt(room, argument, { title, ofWindow: true });
    const { dir } = await askForGrade((await room.read(record.id)).grades, title);
    const task = await tasks.of(record);
    const result = await grading.grades.read(dir);
    // Of its own builder it hides what it may; of another attempt at the task it may show too much.
    await grading.gate.pass(
      { name: task.name, dir: task.dir, gradedDigest: result.task.digest, except: record.id },
      { what: 'attempt-grade', of: record.id, tier: result.tier ?? 'full' },
    );
    await showInTestingView(grading.tests, task, result);
  };
}

async function askForGrade(grades: readonly AttemptGrade[], title: string): Promise<AttemptGrade> {
  if (grades.length === 0)
    throw new UserError('The attempt has no grades yet.', {
      nextStep: 'Grade or submit its workspace first.',
    });
  const items = grades.toReversed().map((grade) => ({
    label: grade.official ? 'Submission' : `Grade ${path.basename(grade.dir)}`,
    description: verdictLabel(grade.verdict),
    detail: new Date(grade.at).toLocaleString(),
    grade,
  }));
  const picked = await vscode.window.showQuickPick(items, { title, placeHolder: 'Choose a grade' });
  if (!picked) throw new CancelledError();
  return picked.grade;
}
