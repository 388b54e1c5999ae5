import * as vscode from 'vscode';
import type { AttemptEvent, AttemptRecord } from '#core/attempt/types.ts';
import { DisposableStore } from '#core/base/disposable.ts';
import type { Log } from '#core/base/log.ts';
import { abortOn } from '#vscode/cancellation.ts';
import { elapsedProgress } from '#vscode/grading/elapsedProgress.ts';
import { withoutLinks } from '#vscode/text.ts';
import type { AttemptIndex } from './attemptIndex.ts';

export interface PrepareDeps {
  readonly attempts: AttemptIndex;
  readonly log: Log;
}

/** Follows the making of a workspace under one cancellable progress; the attempt that it is of. */
export async function prepareWorkspace(
  { log, attempts }: PrepareDeps,
  taskName: string,
  begin: (signal: AbortSignal) => AsyncGenerator<AttemptEvent>,
): Promise<AttemptRecord> {
  const store = new DisposableStore();
  const controller = new AbortController();
  const title = `Preparing a workspace for ${taskName}`;
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, cancellable: true, title: withoutLinks(title) },
      async (progress, token) => {
        store.add(abortOn(token, controller));
        const elapsed = store.add(elapsedProgress(progress));
        let step = 'Connecting to the container engine';
        elapsed.step(step);
        for await (const event of begin(controller.signal)) {
          switch (event.kind) {
            case 'preparing':
              await attempts.reload();
              break;
            case 'phase':
              step = event.title;
              log.info(`${taskName}: ${step}`);
              elapsed.step(step);
              break;
            case 'progress':
              elapsed.step(step, event.message);
              log.debug(`${taskName}: ${event.message}`);
              break;
            case 'ready':
              for (const lowered of event.clamped)
                log.warn(`${taskName}: lowered to this machine: ${lowered}`);
              return event.attempt;
          }
        }
        throw new Error(`The making of a workspace for ${taskName} ended without one.`);
      },
    );
  } finally {
    store.dispose();
  }
}
