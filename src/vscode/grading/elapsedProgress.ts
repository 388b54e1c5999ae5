import type * as vscode from 'vscode';
import type { Disposable } from '#core/base/disposable.ts';
import { oneLine, withoutLinks } from '#vscode/text.ts';
import { elapsedLabel } from './words.ts';

const tickMs = 1000;
const detailLimit = 80;

export interface ElapsedProgress extends Disposable {
  /** A new step, or news of the step under way. */
  step(title: string, detail?: string): void;
}

/** Tells the step and the seconds since the start, again each second: a still number looks like a hang. */
export function elapsedProgress(progress: vscode.Progress<{ message?: string }>): ElapsedProgress {
  const startedAt = Date.now();
  let text = '';
  const report = (): void => {
    progress.report({ message: `${text} · ${elapsedLabel(Date.now() - startedAt)}` });
  };
  const timer = setInterval(report, tickMs);
  return {
    step: (title, detail) => {
      text =
        detail === undefined ? title : `${title}: ${withoutLinks(oneLine(detail, '').slice(0, detailLimit))}`;
      report();
    },
    dispose: () => clearInterval(timer),
  };
}
