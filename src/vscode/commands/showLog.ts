import type { CommandHandler } from './commandIds.ts';

/** Opens the extension's log. */
export function showLog(deps: { readonly showLog: () => void }): CommandHandler {
  return () => deps.showLog();
}
