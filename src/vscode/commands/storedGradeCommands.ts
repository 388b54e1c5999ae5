import type { Notifier } from '#vscode/notify.ts';
import type { CommandHandlers } from './commandIds.ts';
import { deleteGrade } from './deleteGrade.ts';
import { type GradeAndKeepDeps, gradeAndKeep } from './gradeAndKeep.ts';
import { openGrade } from './openGrade.ts';
import { openGradeFolder } from './openGradeFolder.ts';
import { openGradeLog } from './openGradeLog.ts';
import { openGradeShell } from './openGradeShell.ts';
import { removeKeptContainer } from './removeKeptContainer.ts';

type Deps = GradeAndKeepDeps & Parameters<typeof openGrade>[0] & { readonly notifier: Notifier };

/** The commands about grades in the store, and about the containers that are kept of them. */
export function storedGradeCommands(deps: Deps) {
  return {
    'e2eSwe.openGrade': openGrade(deps),
    'e2eSwe.openGradeLog': openGradeLog(deps),
    'e2eSwe.openGradeFolder': openGradeFolder(deps),
    'e2eSwe.deleteGrade': deleteGrade(deps),
    'e2eSwe.gradeAndKeep': gradeAndKeep(deps),
    'e2eSwe.openGradeShell': openGradeShell(deps),
    'e2eSwe.removeKeptContainer': removeKeptContainer(deps),
  } satisfies Partial<CommandHandlers>;
}
