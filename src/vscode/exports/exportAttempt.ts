import path from 'node:path';
import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { pickAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import type { RevealGate } from '#vscode/attempts/revealGate.ts';
import { withCancel } from '#vscode/cancellation.ts';
import { chooseFolders } from '#vscode/chooseFolder.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { Notifier } from '#vscode/notify.ts';
import { revealAction } from '#vscode/reveal.ts';

export interface ExportDeps {
  readonly attempts: { readonly room: Pick<AttemptRoom, 'list' | 'read'> };
  readonly gate: RevealGate;
  readonly storeDir: () => string;
  readonly notifier: Notifier;
  readonly log: Log;
}

/** Writes an attempt as a trial folder of Harbor, below a folder that the person chooses, and offers to open it. */
export function exportAttempt(deps: ExportDeps): CommandHandler {
  const { notifier, log } = deps;
  return async (argument) => {
    const record = await pickAttempt(deps.attempts.room, argument, {
      title: 'Export attempt',
      ofWindow: true,
    });
    // It holds the verifier's own files: others who are at the task may not have seen as much.
    const { id, task, grades } = record;
    if (grades.some(({ official }) => official))
      await deps.gate.pass(
        { name: task.name, dir: task.path, gradedDigest: task.digest, except: id },
        { what: 'attempt-grade', of: id, tier: 'full' },
      );
    const anonymised = await chooseAnonymised();
    const [parent] = await chooseFolders({ title: 'Export attempt', openLabel: 'Export into this folder' });
    if (!parent) throw new CancelledError();
    const core = await import('#core/attempt/exportAttempt.ts');
    const { AttemptStore } = await import('#core/attempt/attemptStore.ts');
    const { newTrialName } = await import('#core/trial/exportTrial.ts');
    const dir = path.join(parent.fsPath, newTrialName({ dir: record.task.path }));
    const exported = await withCancel(`Exporting the attempt at ${record.task.name}`, (signal, progress) =>
      core.exportAttempt(
        new AttemptStore(deps.storeDir()),
        record.id,
        { dir, anonymised, onProgress: (message) => progress.report({ message }) },
        signal,
      ),
    );
    const said = [...exported.losses, ...exported.marks].map(({ message }) => message);
    log.info([`Exported ${record.id} to ${dir}: ${exported.steps} steps.`, ...said].join('\n  '));
    const lost =
      said.length === 0
        ? ''
        : ` ${said.length === 1 ? 'One thing' : `${said.length} things`} to know: ${said[0]}`;
    notifier.info(
      `The attempt is exported to ${dir}.${lost}${anonymised ? ` ${core.anonymisedMeans}` : ''}`,
      revealAction(dir),
      {
        title: 'Show trajectory',
        run: () =>
          vscode.commands.executeCommand(
            'vscode.open',
            vscode.Uri.file(path.join(dir, 'agent', 'trajectory.json')),
          ),
      },
    );
  };
}

async function chooseAnonymised(): Promise<boolean> {
  const items = [
    {
      label: 'As it is',
      detail: 'With its builder, notes, and the folders of this machine',
      anonymised: false,
    },
    {
      label: 'Anonymised',
      detail:
        'Without pseudonym, notes, and names of this machine; the files of the workspace stay as they are',
      anonymised: true,
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Export attempt',
    placeHolder: 'Choose what goes along',
  });
  if (!picked) throw new CancelledError();
  return picked.anonymised;
}
