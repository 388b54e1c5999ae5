import type { Notifier } from '#vscode/notify.ts';
import type { CommandHandler } from './commandIds.ts';
import { type KeptGradeDeps, pickKeptGrade } from './keptGrade.ts';

/** Removes the container that was kept of a grade; the grade itself stays. */
export function removeKeptContainer(deps: KeptGradeDeps & { readonly notifier: Notifier }): CommandHandler {
  return async (argument) => {
    const { task, summary } = await pickKeptGrade(deps, argument, 'Remove kept container');
    await deps.kept.remove(summary.dir);
    deps.notifier.info(`The kept container of ${task.name} was removed.`);
  };
}
