import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { type CommandHandler, type CommandHandlers, type CommandId, commandIds } from './commandIds.ts';
import type { ErrorReporter } from './reportError.ts';

/** Registers every command behind one wrapper: an error is shown once, a cancellation not at all. */
export function registerCommands(handlers: CommandHandlers, reportError: ErrorReporter): Disposable {
  const store = new DisposableStore();
  for (const id of commandIds) {
    store.add(vscode.commands.registerCommand(id, wrap(id, handlers[id], reportError)));
  }
  return store;
}

function wrap(id: CommandId, handler: CommandHandler, reportError: ErrorReporter) {
  return async (argument?: unknown): Promise<void> => {
    try {
      await handler(argument);
    } catch (error) {
      reportError(id, error);
    }
  };
}
