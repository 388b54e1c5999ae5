import type * as vscode from 'vscode';
import type { Disposable } from '#core/base/disposable.ts';

/** Aborts the controller when the token fires; the one bridge from VS Code's cancellation to core's. */
export function abortOn(token: vscode.CancellationToken, controller: AbortController): Disposable {
  if (token.isCancellationRequested) controller.abort();
  return token.onCancellationRequested(() => controller.abort());
}
