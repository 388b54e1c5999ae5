import * as vscode from 'vscode';
import type { AttemptBridges } from '#core/attempt/types.ts';
import { abortOn } from '#vscode/cancellation.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { Notifier } from '#vscode/notify.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';
import { isolationSentence } from './words.ts';

export interface CheckBridgesDeps {
  readonly room: Pick<AttemptRoom, 'bridges'>;
  readonly notifier: Notifier;
  readonly log: { info(message: string): void };
  readonly showLog: () => void;
}

const shown = 6;

/** Removes what an attached editor opened between the container and this machine, and says what remains. */
export function checkBridges({ room, notifier, log, showLog }: CheckBridgesDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const report = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: 'Looking for ways out of the container',
        cancellable: true,
      },
      async (_progress, token) => {
        const controller = new AbortController();
        const listening = abortOn(token, controller);
        try {
          return await room.bridges(id, { scrub: true }, controller.signal);
        } finally {
          listening.dispose();
        }
      },
    );
    for (const { kind, name, meaning } of [...report.bridges, ...report.notes])
      log.info(`Found in the container: ${kind} ${quoted(name)}: ${quoted(meaning)}`);
    const isFine = report.bridges.length === 0 && report.isolation.isIsolated;
    notifier[isFine ? 'info' : 'warn'](bridgesSentence(report), { title: 'Show log', run: showLog });
  };
}

/** "These ways out of the container remain: variable SSH_AUTH_SOCK (use of the SSH keys of another machine)." */
export function bridgesSentence({ bridges, notes, scrubbed, isolation }: AttemptBridges): string {
  const rest = bridges.length - shown;
  const names = bridges
    .slice(0, shown)
    .map(({ kind, name, meaning }) => `${kind} ${quoted(name)} (${quoted(meaning)})`);
  const ports = notes.filter(({ kind }) => kind === 'port').map(({ name }) => quoted(name));
  return [
    bridges.length === 0
      ? 'No way out of the container was found; it was asked itself, so a builder could hide one.'
      : `These ways out of the container remain: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`,
    scrubbed.length > 0 ? `Removed: ${scrubbed.length}; an attached window may make them again.` : undefined,
    ports.length > 0 ? `It listens on ${ports.slice(0, shown).join(', ')}.` : undefined,
    isolation.isIsolated ? undefined : isolationSentence(isolation),
  ]
    .filter((text) => text !== undefined)
    .join(' ');
}

/** The names are the container's: nothing of them may look like more than a name. */
function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
