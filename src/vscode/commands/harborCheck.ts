import type * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { withCancel } from '#vscode/cancellation.ts';
import type { EngineStatus } from '#vscode/engine/engineStatus.ts';
import { elapsedProgress } from '#vscode/grading/elapsedProgress.ts';
import type { Notifier } from '#vscode/notify.ts';
import { harborCommandSetting } from '#vscode/settings/harborCommand.ts';
import type { CommandHandler } from './commandIds.ts';
import { passStored, type StoredGradeDeps } from './passStored.ts';
import { pickGrade } from './pickGrade.ts';

export interface HarborCheckDeps extends StoredGradeDeps {
  readonly engine: EngineStatus<ContainerEngine>;
  readonly notifier: Notifier;
  readonly log: vscode.LogOutputChannel;
  readonly showLog: () => void;
}

/** Has the real Harbor grade the submission of a grade, and tells whether it agrees; the log has both sides. */
export function harborCheck(deps: HarborCheckDeps): CommandHandler {
  return async (argument) => {
    const { findHarbor, howToGetHarbor } = await import('#core/trial/harborCommand.ts');
    const wanted = harborCommandSetting.get() || undefined;
    const harbor = findHarbor(wanted, process.env);
    if (!harbor)
      throw new UserError(`There is no command "${wanted ?? 'harbor'}" on this machine.`, {
        nextStep: howToGetHarbor,
      });
    const { task, summary } = await pickGrade(deps, argument, 'Compare with Harbor');
    const { checkWithHarbor } = await import('#core/corpus/harborCheck.ts');
    const { renderHarborCheck } = await import('#core/corpus/renderHarborCheck.ts');
    const ours = await passStored(deps, { task, summary }, 'harbor-check');
    const title = `Comparing ${task.name} with Harbor`;
    const check = await withCancel(title, async (signal, progress) => {
      const elapsed = elapsedProgress(progress);
      elapsed.step('Harbor grades the same submission');
      try {
        return await checkWithHarbor(task, ours, {
          harbor,
          // Harbor's own "no network" needs images that must be pulled; our grade proved that none is needed.
          publicNetwork: true,
          env: process.env,
          connect: () => deps.engine.connect(),
          signal,
          onOutput: (text) => deps.log.debug(text.trimEnd()),
        });
      } finally {
        elapsed.dispose();
      }
    });
    deps.log.info(
      renderHarborCheck(ours, check, 'This grade ended before there was a submission to give to Harbor.'),
    );
    const show = { title: 'Show log', run: deps.showLog };
    if (check?.outcome === 'agree')
      deps.notifier.info(`Harbor agrees on ${task.name}: ${ours.verdict}.`, show);
    else deps.notifier.error(`Harbor does not agree on ${task.name}; the log has both sides.`, show);
  };
}
