import * as vscode from 'vscode';
import type { Disposable } from '#core/base/disposable.ts';
import { CancelledError } from '#core/base/errors.ts';

/** Aborts the controller when the token fires; the one bridge from VS Code's cancellation to core's. */
export function abortOn(token: vscode.CancellationToken, controller: AbortController): Disposable {
  if (token.isCancellationRequested) controller.abort();
  return token.onCancellationRequested(() => controller.abort());
}

/** Work under a notification that can cancel it. */
export function withCancel<T>(
  title: string,
  work: (signal: AbortSignal, progress: vscode.Progress<{ message?: string }>) => Promise<T>,
): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    const controller = new AbortController();
    const cancelling = abortOn(token, controller);
    try {
      return await work(controller.signal, progress);
    } catch (error) {
      throw controller.signal.aborted ? new CancelledError() : error;
    } finally {
      cancelling.dispose();
    }
  });
}
