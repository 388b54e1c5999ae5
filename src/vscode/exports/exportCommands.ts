import type { CommandHandlers } from '#vscode/commands/commandIds.ts';
import { type ExportDeps, exportAttempt } from './exportAttempt.ts';
import { exportSummary } from './exportSummary.ts';
import { type ImportTrialsDeps, importTrials } from './importTrials.ts';
import { removeImport } from './removeImport.ts';

/** The commands about what leaves the store, and about what of others is read. */
export function exportCommands(deps: ExportDeps & ImportTrialsDeps) {
  return {
    'e2eSwe.exportAttempt': exportAttempt(deps),
    'e2eSwe.exportSummary': exportSummary(deps),
    'e2eSwe.importTrials': importTrials(deps),
    'e2eSwe.removeImport': removeImport(deps),
  } satisfies Partial<CommandHandlers>;
}
