import * as vscode from 'vscode';
import type { ScoreCurve } from '#core/attempt/curvePoints.ts';
import type { CurveOptions } from '#core/attempt/scoreCurve.ts';
import { isOver } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { CancelledError } from '#core/base/errors.ts';
import type { AttemptTasks } from '#vscode/attempts/attemptTasks.ts';
import { pickAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import { abortOn } from '#vscode/cancellation.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { ErrorReporter } from '#vscode/commands/reportError.ts';
import { askForHostVariables } from '#vscode/grading/askForHostVariables.ts';
import { elapsedProgress } from '#vscode/grading/elapsedProgress.ts';
import { hardenedVerifierSetting } from '#vscode/settings/hardenedVerifier.ts';
import { requireTrust } from '#vscode/trust.ts';
import { showCurve } from './curvePanel.ts';

export interface ScoreCurveDeps {
  readonly room: AttemptRoom;
  readonly tasks: AttemptTasks;
  readonly reportError: ErrorReporter;
}

/** Grades past snapshots of an attempt afterwards, and shows passed tests over its active time. */
export function scoreCurve(deps: ScoreCurveDeps): CommandHandler {
  return async (argument) => {
    const record = await pickAttempt(deps.room, argument, { title: 'Score curve', ofWindow: true });
    const task = await deps.tasks.of(record);
    requireTrust(task);
    const asAuthor = await askAuthor(record);
    const everyMinutes = await askMinutes();
    const options: CurveOptions = {
      ...{ everyMinutes, asAuthor },
      allowHostEnv: (names) => askForHostVariables(task, names),
      ...(hardenedVerifierSetting.get() ? { hardened: 'where declared' as const } : {}),
    };
    showCurve(await makeCurve(deps.room, record, options), deps.reportError);
  };
}

/** Of a measured attempt core refuses; practice that goes on is asked about. */
async function askAuthor(record: AttemptRecord): Promise<boolean> {
  if (isOver(record.state) || record.protocol) return false;
  const answer = await vscode.window.showWarningMessage(
    `The attempt at ${record.task.name} is not over. Show how the hidden tests go?`,
    {
      modal: true,
      detail:
        'A score curve is for afterwards, or for the author of the task: it helps whoever still builds.',
    },
    'Show it',
  );
  if (answer !== 'Show it') throw new CancelledError();
  return true;
}

async function askMinutes(): Promise<number> {
  const text = await vscode.window.showInputBox({
    title: 'Score curve',
    prompt: 'One snapshot is graded for so many minutes of active time, besides the first and the last.',
    value: '10',
    validateInput: (value) => (Number(value) > 0 ? undefined : 'A number of minutes above 0.'),
  });
  if (text === undefined) throw new CancelledError();
  return Number(text);
}

async function makeCurve(
  room: AttemptRoom,
  { id, task }: AttemptRecord,
  options: CurveOptions,
): Promise<ScoreCurve> {
  const where = { location: vscode.ProgressLocation.Notification, cancellable: true };
  return vscode.window.withProgress(
    { ...where, title: `Score curve of ${task.name}` },
    async (progress, token) => {
      const controller = new AbortController();
      const cancelling = abortOn(token, controller);
      const elapsed = elapsedProgress(progress);
      try {
        let at = 'Choosing snapshots';
        elapsed.step(at);
        for await (const event of room.scoreCurve(id, options, controller.signal)) {
          if (event.kind === 'curve') return event.curve;
          if (event.kind === 'grading') at = `Grading ${event.index + 1} of ${event.points}`;
          const step = event.kind === 'grade' && event.event.kind === 'phase' ? event.event.title : undefined;
          elapsed.step(at, step);
        }
        throw new Error('The curve ended without a result.');
      } finally {
        elapsed.dispose();
        cancelling.dispose();
      }
    },
  );
}
