import { isCancellation, UserError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import type { NextAction, Notifier } from '#vscode/notify.ts';

/** Tells the person about something that was thrown, once. */
export type ErrorReporter = (where: string, error: unknown) => void;

/**
 * A `UserError` is its sentence and the next step; a cancellation is the person's own doing and stays silent;
 * anything else is a bug of ours, whose details are in the log.
 */
export function createErrorReporter(log: Log, notifier: Notifier, showLog: () => void): ErrorReporter {
  const logAction: NextAction = { title: 'Show log', run: showLog };
  return (where, error) => {
    if (isCancellation(error)) {
      log.info(`${where}: cancelled.`);
      return;
    }
    if (error instanceof UserError) {
      log.warn(`${where}: ${error.message}`);
      notifier.error([error.message, error.nextStep].filter(Boolean).join(' '), logAction);
      return;
    }
    log.error(`${where}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    notifier.error('Something went wrong. The log has the details.', logAction);
  };
}
