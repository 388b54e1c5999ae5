import * as vscode from 'vscode';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { withoutLinks } from './text.ts';

/** A button of a notification. */
export interface NextAction {
  readonly title: string;
  run(): unknown;
}

/** One notification, as it was shown. */
export interface Notification {
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly actions: readonly string[];
}

/** Shows notifications without waiting for the person; the log keeps what they said. */
export interface Notifier {
  info(message: string, ...actions: readonly NextAction[]): void;
  warn(message: string, ...actions: readonly NextAction[]): void;
  error(message: string, ...actions: readonly NextAction[]): void;
  /** Everything that was shown, oldest first: tests read it where toasts are suppressed. */
  readonly history: readonly Notification[];
}

const historyLimit = 50;

export function createNotifier(log: Log): Notifier {
  const history: Notification[] = [];

  const show = async (
    severity: Notification['severity'],
    open: (message: string, ...titles: string[]) => Thenable<string | undefined>,
    message: string,
    actions: readonly NextAction[],
  ): Promise<void> => {
    history.push({ severity, message, actions: actions.map((action) => action.title) });
    if (history.length > historyLimit) history.shift();
    try {
      const picked = await open(withoutLinks(message), ...actions.map((action) => action.title));
      await actions.find((action) => action.title === picked)?.run();
    } catch (error) {
      log.error(`The action of a notification failed: ${errorMessage(error)}`);
    }
  };

  return {
    history,
    // Not awaited: a notification stays until the person closes it.
    info: (message, ...actions) => {
      void show('info', vscode.window.showInformationMessage, message, actions);
    },
    warn: (message, ...actions) => {
      void show('warning', vscode.window.showWarningMessage, message, actions);
    },
    error: (message, ...actions) => {
      void show('error', vscode.window.showErrorMessage, message, actions);
    },
  };
}
