import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import { gradeLogUri, readVerifierLog } from '#vscode/documents/gradeLog.ts';
import type { CommandHandler } from './commandIds.ts';
import { passStored, type StoredGradeDeps } from './passStored.ts';
import { pickGrade } from './pickGrade.ts';

/** Opens what the verifier printed, read-only. */
export function openGradeLog(deps: StoredGradeDeps): CommandHandler {
  return async (argument) => {
    const { task, summary } = await pickGrade(deps, argument, 'Open verifier log');
    if ((await readVerifierLog(summary.dir)) === undefined) {
      throw new UserError(
        `This grade of ${task.name} has no verifier log: it ended before the verifier ran.`,
        {
          nextStep: 'The log of the extension has the reason.',
        },
      );
    }
    await passStored(deps, { task, summary }, 'verifier-log');
    await vscode.window.showTextDocument(gradeLogUri(task.name, summary.dir), { preview: true });
  };
}
