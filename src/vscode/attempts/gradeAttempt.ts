import * as vscode from 'vscode';
import { requireInterimGrading } from '#core/attempt/conditions.ts';
import { tierOf } from '#core/attempt/protocol.ts';
import { UserError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { type GradeAndTellDeps, gradeAndTell } from '#vscode/commands/gradeAndTell.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { GradeProblems } from '#vscode/testing/gradeProblems.ts';
import { type AttemptGraderDeps, attemptGrader, attemptSource } from './attemptGrader.ts';
import type { AttemptTasks } from './attemptTasks.ts';
import { inlineResults } from './inlineResults.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import { willNotTravelSentence } from './willNotTravel.ts';

export interface GradeAttemptDeps extends AttemptGraderDeps {
  readonly grading: GradeAndTellDeps;
  readonly tasks: AttemptTasks;
  readonly problems: GradeProblems;
}

/** Grades this window's workspace as it is now; it is frozen meanwhile, unless the person wants to work on. */
export function gradeAttempt(deps: GradeAttemptDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = await deps.sessions.get(id);
    if (session.readOnly !== undefined) throw cannot('graded', session.readOnly);
    requireInterimGrading(session.record);
    const { grading } = deps;
    const task = await deps.tasks.of(session.record);
    // Of no tier, it would show what another attempt's hides.
    if (tierOf(session.record) === 'full') await grading.gate.confirm({ ...task, except: id });
    await saveAll();
    const warning = willNotTravelSentence(await deps.room.willNotTravel(id), grading.log);
    if (warning !== undefined) grading.notifier.warn(warning, { title: 'Show log', run: grading.showLog });
    const grader = attemptGrader(deps, id, false);
    const listening = session.open.onDidFreeze((reason) => {
      if (reason === 'grade') offerToWorkOn(grading.notifier);
    });
    try {
      deps.problems.clear();
      const locate = inlineResults({ ...deps, log: grading.log }, id, task);
      await gradeAndTell({ ...grading, grader }, { task, source: attemptSource(id), locate });
    } finally {
      listening.dispose();
    }
  };
}

/** A progress has no buttons, so that a notification of its own offers it. */
function offerToWorkOn(notifier: Notifier): void {
  notifier.info('The workspace is frozen while it is graded.', {
    title: 'Keep working',
    run: () => vscode.commands.executeCommand('e2eSwe.keepWorking'),
  });
}

export function cannot(what: string, why: string): UserError {
  return new UserError(`The workspace cannot be ${what}: ${why}`);
}

/** What is only in an editor is in no submission. */
export async function saveAll(): Promise<void> {
  if (await vscode.workspace.saveAll(false)) return;
  throw new UserError('A file could not be saved.', { nextStep: 'Save or revert it, then try again.' });
}
