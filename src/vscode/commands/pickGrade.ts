import * as vscode from 'vscode';
import { CancelledError, UserError } from '#core/base/errors.ts';
import type { GradeSummary } from '#core/grading/store.ts';
import type { Task } from '#core/task/types.ts';
import type { GradeIndex } from '#vscode/grades/gradeIndex.ts';
import { countsLabel, sourceKindLabel } from '#vscode/grading/words.ts';
import { gradeOf, isTreeNode } from '#vscode/tree/nodes.ts';
import { type PickTaskDeps, pickTask } from './pickTask.ts';

export interface PickGradeDeps extends PickTaskDeps {
  readonly grades: GradeIndex;
}

export interface PickedGrade {
  readonly task: Task;
  readonly summary: GradeSummary;
}

/**
 * The grade that a command is about: the row it was called on, or else the person's choice of task and grade, among
 * those that are offered.
 */
export async function pickGrade(
  deps: PickGradeDeps,
  argument: unknown,
  title: string,
  offered?: { readonly isOne: (summary: GradeSummary) => boolean; readonly none: UserError },
): Promise<PickedGrade> {
  const node = isTreeNode(argument) ? gradeOf(argument) : undefined;
  if (node) return { task: node.task, summary: node.summary };
  const task = await pickTask(deps, argument, title);
  const summaries = await deps.grades.list(task);
  if (summaries.length === 0) {
    throw new UserError(`${task.name} has no grades yet.`, { nextStep: 'Grade it first.' });
  }
  const some = offered ? summaries.filter(offered.isOne) : summaries;
  if (offered && some.length === 0) throw offered.none;
  const items = some.map((summary) => ({
    label: sourceKindLabel(summary.source),
    description: `${summary.verdict} · ${countsLabel(summary.counts)}`,
    detail: new Date(summary.startedAt).toLocaleString(),
    summary,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: `Choose a grade of ${task.name}`,
  });
  if (!picked) throw new CancelledError();
  return { task, summary: picked.summary };
}
