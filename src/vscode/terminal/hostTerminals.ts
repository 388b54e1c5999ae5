import * as vscode from 'vscode';
import type { Disposable } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import type { Notifier } from '#vscode/notify.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';

export interface HostTerminalDeps {
  readonly notifier: Notifier;
  readonly log: Log;
  /** Opens a terminal in the container. */
  readonly open: () => Promise<void>;
}

/**
 * In the window of a workspace, VS Code's own "+" would open a shell of this machine, which looks like one of the
 * container: one in the container takes its place. No setting does that for one window alone, since a window's settings
 * are a file of the workspace. A shell that somebody asked for by name (a profile, another extension) stays.
 */
export function replaceHostTerminals({ notifier, log, open }: HostTerminalDeps): Disposable {
  let isTold = false;
  return vscode.window.onDidOpenTerminal((terminal) => {
    if (windowAttemptId() === undefined || !isDefaultShell(terminal)) return;
    terminal.dispose();
    if (!isTold) notifier.info('Terminals of this window run in the container.');
    isTold = true;
    open().catch((error: unknown) => log.info(`No terminal in the container: ${errorMessage(error)}`));
  });
}

function isDefaultShell({ creationOptions }: vscode.Terminal): boolean {
  if ('pty' in creationOptions) return false;
  return creationOptions.name === undefined && !creationOptions.hideFromUser;
}
