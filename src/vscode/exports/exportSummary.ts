import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { CancelledError, UserError } from '#core/base/errors.ts';
import { withCancel } from '#vscode/cancellation.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { ExportDeps } from './exportAttempt.ts';

type Format = 'attempts' | 'tasks' | 'json';

/** Sums the attempts up, writes that where the person says, and opens it. */
export function exportSummary({ storeDir, notifier }: ExportDeps): CommandHandler {
  return async () => {
    const format = await choose<Format>('Export summary of attempts', [
      { label: 'CSV, a row an attempt', value: 'attempts' },
      { label: 'CSV, a row a task', detail: 'With rates, times and their intervals', value: 'tasks' },
      { label: 'JSON', detail: 'Both, and the fields of the reporting checklist', value: 'json' },
    ]);
    const scope = await choose('Which attempts, and what of them', [
      { label: 'Measured attempts', value: { practice: false, anonymised: false } },
      { label: 'Measured attempts, anonymised', value: { practice: false, anonymised: true } },
      { label: 'Practice too', value: { practice: true, anonymised: false } },
      { label: 'Practice too, anonymised', value: { practice: true, anonymised: true } },
    ]);
    const extension = format === 'json' ? 'json' : 'csv';
    const file = await vscode.window.showSaveDialog({
      title: 'Export summary of attempts',
      defaultUri: vscode.Uri.file(path.join(homedir(), `attempts.${extension}`)),
      filters: { [extension.toUpperCase()]: [extension] },
    });
    if (!file) throw new CancelledError();
    const count = await withCancel('Summing the attempts up', async () => {
      const [{ AttemptStore }, { summarise }, { toCsv }, { writeFileAtomic }] = await Promise.all([
        import('#core/attempt/attemptStore.ts'),
        import('#core/attempt/summary.ts'),
        import('#core/attempt/summaryCsv.ts'),
        import('#core/base/files.ts'),
      ]);
      const summary = await summarise(new AttemptStore(storeDir()), scope);
      if (summary.attempts.length === 0)
        throw new UserError('There are no attempts yet.', {
          nextStep: 'Start one on a task of the Tasks view.',
        });
      const text =
        format === 'json'
          ? `${JSON.stringify(summary, null, 2)}\n`
          : toCsv(format === 'tasks' ? summary.tasks.map((task) => ({ ...task })) : summary.attempts);
      await writeFileAtomic(file.fsPath, text);
      return summary.attempts.length;
    });
    await vscode.commands.executeCommand('vscode.open', file);
    notifier.info(`${count} ${count === 1 ? 'attempt is' : 'attempts are'} summed up in ${file.fsPath}.`);
  };
}

interface Choice<T> {
  readonly label: string;
  readonly detail?: string;
  readonly value: T;
}

async function choose<T>(title: string, choices: readonly Choice<T>[]): Promise<T> {
  const picked = await vscode.window.showQuickPick(choices, { title });
  if (!picked) throw new CancelledError();
  return picked.value;
}
