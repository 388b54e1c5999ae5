import { askProtocol } from '#vscode/baseline/startForm.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { type PickTaskDeps, pickTask } from '#vscode/commands/pickTask.ts';
import { askForHostVariables } from '#vscode/grading/askForHostVariables.ts';
import type { ChoiceMemory } from '#vscode/grading/chooseSource.ts';
import { requireTrust } from '#vscode/trust.ts';
import { openWorkspaceWindow } from './openAttempt.ts';
import type { AttemptRoom } from './ports.ts';
import { type PrepareDeps, prepareWorkspace } from './prepareWorkspace.ts';

export interface StartAttemptDeps extends PickTaskDeps, PrepareDeps {
  readonly room: Pick<AttemptRoom, 'start'>;
  /** What a person answers in every window. */
  readonly personMemory: ChoiceMemory;
}

/** Asks how the attempt is meant, makes a workspace for it and opens that in a window of its own. */
export function startAttempt(deps: StartAttemptDeps): CommandHandler {
  return async (argument) => {
    const task = await pickTask(deps, argument, 'Start attempt');
    requireTrust(task);
    const protocol = await askProtocol(task.name, deps.personMemory);
    try {
      const allowHostEnv = (names: readonly string[]) => askForHostVariables(task, names);
      const record = await prepareWorkspace(deps, task.name, (signal) =>
        deps.room.start(task, { protocol, allowHostEnv }, signal),
      );
      await deps.attempts.reload();
      await openWorkspaceWindow(record.id);
    } finally {
      await deps.attempts.reload();
    }
  };
}
