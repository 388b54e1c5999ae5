import * as vscode from 'vscode';
import type { AttemptProtocol } from '#core/attempt/protocol.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { DisposableStore } from '#core/base/disposable.ts';
import type { Log } from '#core/base/log.ts';
import type { Task } from '#core/task/types.ts';
import { askProtocol } from '#vscode/baseline/startForm.ts';
import { abortOn } from '#vscode/cancellation.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { type PickTaskDeps, pickTask } from '#vscode/commands/pickTask.ts';
import { askForHostVariables } from '#vscode/grading/askForHostVariables.ts';
import type { ChoiceMemory } from '#vscode/grading/chooseSource.ts';
import { elapsedProgress } from '#vscode/grading/elapsedProgress.ts';
import { withoutLinks } from '#vscode/text.ts';
import { requireTrust } from '#vscode/trust.ts';
import type { AttemptIndex } from './attemptIndex.ts';
import { openWorkspaceWindow } from './openAttempt.ts';
import type { AttemptRoom } from './ports.ts';

export interface StartAttemptDeps extends PickTaskDeps {
  readonly room: Pick<AttemptRoom, 'start'>;
  readonly attempts: AttemptIndex;
  /** What a person answers in every window. */
  readonly personMemory: ChoiceMemory;
  readonly log: Log;
}

/** Asks how the attempt is meant, makes a workspace for it and opens that in a window of its own. */
export function startAttempt(deps: StartAttemptDeps): CommandHandler {
  return async (argument) => {
    const task = await pickTask(deps, argument, 'Start attempt');
    requireTrust(task);
    const protocol = await askProtocol(task.name, deps.personMemory);
    try {
      const record = await prepare(deps, task, protocol);
      await deps.attempts.reload();
      await openWorkspaceWindow(record.id);
    } finally {
      await deps.attempts.reload();
    }
  };
}

async function prepare(
  { room, log, attempts }: StartAttemptDeps,
  task: Task,
  protocol: AttemptProtocol | undefined,
): Promise<AttemptRecord> {
  const store = new DisposableStore();
  const controller = new AbortController();
  const title = `Preparing a workspace for ${task.name}`;
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, cancellable: true, title: withoutLinks(title) },
      async (progress, token) => {
        store.add(abortOn(token, controller));
        const elapsed = store.add(elapsedProgress(progress));
        let step = 'Connecting to the container engine';
        elapsed.step(step);
        const options = {
          protocol,
          allowHostEnv: (names: readonly string[]) => askForHostVariables(task, names),
        };
        for await (const event of room.start(task, options, controller.signal)) {
          switch (event.kind) {
            case 'preparing':
              await attempts.reload();
              break;
            case 'phase':
              step = event.title;
              log.info(`${task.name}: ${step}`);
              elapsed.step(step);
              break;
            case 'progress':
              elapsed.step(step, event.message);
              log.debug(`${task.name}: ${event.message}`);
              break;
            case 'ready':
              for (const lowered of event.clamped)
                log.warn(`${task.name}: lowered to this machine: ${lowered}`);
              return event.attempt;
          }
        }
        throw new Error(`The start of an attempt at ${task.name} ended without a workspace.`);
      },
    );
  } finally {
    store.dispose();
  }
}
