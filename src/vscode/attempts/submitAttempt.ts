import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { gradeAndTell } from '#vscode/commands/gradeAndTell.ts';
import { attemptGrader, attemptSource } from './attemptGrader.ts';
import { cannot, type GradeAttemptDeps, saveAll } from './gradeAttempt.ts';
import { inlineResults } from './inlineResults.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import { willNotTravelSentence } from './willNotTravel.ts';

/** Ends the attempt with its final submission and the official grade, after the person confirmed it. */
export function submitAttempt(deps: GradeAttemptDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = await deps.sessions.get(id);
    // A submission whose official grade the engine spoiled can be graded again.
    const isAgain = ['submitted', 'timed-out'].includes(session.record.state);
    if (session.readOnly !== undefined && !isAgain) throw cannot('submitted', session.readOnly);
    const task = await deps.tasks.of(session.record);
    if (!isAgain) {
      await saveAll();
      const warning = willNotTravelSentence(await deps.room.willNotTravel(id), deps.grading.log);
      const detail = [
        'The workspace is taken as it is now and graded officially. Nothing can be changed afterwards.',
        warning,
      ];
      const answer = await vscode.window.showWarningMessage(
        `Submit this attempt at ${task.name}?`,
        { modal: true, detail: detail.filter(Boolean).join('\n\n') },
        'Submit',
      );
      if (answer !== 'Submit') throw new CancelledError();
    }
    await deps.grading.gate.confirm({ ...task, except: id });
    const grader = attemptGrader(deps, id, true);
    deps.problems.clear();
    const locate = inlineResults({ ...deps, log: deps.grading.log }, id, task);
    await gradeAndTell({ ...deps.grading, grader }, { task, source: attemptSource(id), locate });
  };
}
