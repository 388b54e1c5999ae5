import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { GradeJob, GradeQueue } from '#vscode/grading/gradeQueue.ts';
import { sourceLabel } from '#vscode/grading/words.ts';
import type { Notifier } from '#vscode/notify.ts';
import { isTreeNode } from '#vscode/tree/nodes.ts';
import type { CommandHandler } from './commandIds.ts';

export interface CancelGradeDeps {
  readonly queue: GradeQueue;
  readonly notifier: Notifier;
}

/** Stops a grade that waits or runs: the row's, the only one, or the person's choice. */
export function cancelGrade(deps: CancelGradeDeps): CommandHandler {
  return async (argument) => {
    const job =
      isTreeNode(argument) && argument.kind === 'job' ? argument.job : await askForJob(deps.queue.jobs);
    if (job) job.cancel();
    else deps.notifier.info('No grade is running.');
  };
}

async function askForJob(jobs: readonly GradeJob[]): Promise<GradeJob | undefined> {
  if (jobs.length <= 1) return jobs[0];
  const items = jobs.map((job) => ({
    label: job.task.name,
    description: `${sourceLabel(job.source)} · ${job.step}`,
    job,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Cancel grade',
    placeHolder: 'Choose the grade to stop',
  });
  if (!picked) throw new CancelledError();
  return picked.job;
}
