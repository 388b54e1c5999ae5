import * as vscode from 'vscode';
import { CancelledError, UserError } from '#core/base/errors.ts';
import type { Task, TaskEntry } from '#core/task/types.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import { entryOf, isTreeNode } from '#vscode/tree/nodes.ts';
import { taskCategory, taskLanguage } from '#vscode/tree/taskTooltip.ts';

export interface PickTaskDeps {
  readonly index: TaskIndex;
  readonly tests: { taskOf(item: vscode.TestItem): Task | undefined };
}

interface TaskItem extends vscode.QuickPickItem {
  readonly task: Task;
}

/**
 * The task that a command is about: the row or test it was called on, a folder's path, or else the person's
 * choice. Rejects with `CancelledError` when they give up.
 */
export async function pickTask(deps: PickTaskDeps, argument: unknown, title: string): Promise<Task> {
  const given = await taskOfArgument(deps, argument);
  if (given) return given;
  await deps.index.ready();
  const items = deps.index.corpora.flatMap((corpus) =>
    corpus.entries.flatMap((entry): TaskItem[] =>
      entry.task ? [taskItem(entry, entry.task, corpus.label)] : [],
    ),
  );
  if (items.length === 0) {
    throw new UserError('There are no tasks.', { nextStep: 'Add a folder of tasks to the Tasks view.' });
  }
  const picked = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: 'Choose a task',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (!picked) throw new CancelledError();
  return picked.task;
}

function taskItem(entry: TaskEntry, task: Task, corpus: string): TaskItem {
  const description = [corpus, taskLanguage(entry), taskCategory(entry)].filter(Boolean).join(' · ');
  return { label: entry.name, description, task };
}

/** As `pickTask`, for grading: refuses a task that cannot be graded here, with its reason. */
export async function pickGradableTask(deps: PickTaskDeps, argument: unknown, title: string): Promise<Task> {
  const task = await pickTask(deps, argument, title);
  const entry = deps.index.findByDir(task.dir);
  if (entry && !entry.gradable) throw notGradable(entry);
  return task;
}

async function taskOfArgument(deps: PickTaskDeps, argument: unknown): Promise<Task | undefined> {
  if (isTreeNode(argument)) {
    const entry = entryOf(argument);
    if (entry && !entry.task) throw notGradable(entry);
    return entry?.task;
  }
  if (isTestItem(argument)) return deps.tests.taskOf(argument);
  const dir = argument instanceof vscode.Uri ? argument.fsPath : argument;
  if (typeof dir !== 'string') return undefined;
  await deps.index.ready();
  const entry = deps.index.findByDir(dir);
  if (!entry) {
    throw new UserError(`${dir} is none of the listed tasks.`, {
      nextStep: 'Add its parent folder to the Tasks view.',
    });
  }
  if (!entry.task) throw notGradable(entry);
  return entry.task;
}

function notGradable(entry: TaskEntry): UserError {
  const problem = entry.problems.find((candidate) => candidate.severity === 'error') ?? entry.problems[0];
  return new UserError(`${entry.name} cannot be graded${problem ? `: ${problem.message}` : '.'}`, {
    nextStep: 'Open the task in the Tasks view to see its problems.',
  });
}

function isTestItem(value: unknown): value is vscode.TestItem {
  return typeof value === 'object' && value !== null && 'children' in value && 'canResolveChildren' in value;
}
