import type { Notifier } from '#vscode/notify.ts';
import { isLocalWindow, reveal, revealAction } from '#vscode/reveal.ts';
import type { CommandHandler } from './commandIds.ts';
import { passStored, type StoredGradeDeps } from './passStored.ts';
import { pickGrade } from './pickGrade.ts';

/** Shows the folder of a grade in the system's file manager; in a remote window, where it is. */
export function openGradeFolder(deps: StoredGradeDeps & { readonly notifier: Notifier }): CommandHandler {
  return async (argument) => {
    const { task, summary } = await pickGrade(deps, argument, 'Reveal grade folder');
    await passStored(deps, { task, summary }, 'grade-folder');
    if (isLocalWindow()) await reveal(summary.dir);
    else deps.notifier.info(`The grade is kept in ${summary.dir}.`, revealAction(summary.dir));
  };
}
