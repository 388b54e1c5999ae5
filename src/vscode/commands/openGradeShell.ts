import * as vscode from 'vscode';
import { attemptUnderWay } from '#core/attempt/hiddenTests.ts';
import { DisposableStore } from '#core/base/disposable.ts';
import { ContainerPty } from '#vscode/terminal/containerPty.ts';
import type { CommandHandler } from './commandIds.ts';
import { type KeptGradeDeps, pickKeptGrade, refuseWhileAttempted } from './keptGrade.ts';
import type { PickedGrade } from './pickGrade.ts';

/** In a place that no look at changes counts. */
const env = { HISTFILE: '/tmp/.e2e-swe-history' };

/** Opens a terminal in the kept container of a grade. */
export function openGradeShell(deps: KeptGradeDeps): CommandHandler {
  return async (argument) =>
    openShellOf(deps, await pickKeptGrade(deps, argument, "Open shell in grade's container"));
}

/** It holds the hidden tests: refused, and closed again, as long as an attempt at the task is under way. */
export async function openShellOf(deps: KeptGradeDeps, { task, summary }: PickedGrade): Promise<void> {
  const { attempts, kept } = deps;
  const graded = await deps.grades.read(summary.dir);
  await refuseWhileAttempted(deps, task, graded.task.digest);
  const container = await kept.containers.open(summary.dir);
  const { openTerminal } = await import('#core/container/terminal.ts');
  const pty = new ContainerPty({
    // The container's own working directory, which is the task's.
    open: (size, signal) => openTerminal(container, { cwd: '.', env, ...size }, signal),
    frozenBecause: () => undefined,
    whenThawed: () => Promise.resolve(true),
  });
  const name = `Grade of ${task.name}`;
  const terminal = vscode.window.createTerminal({ name, pty, iconPath: new vscode.ThemeIcon('inspect') });
  terminal.show();
  await attempts.list();
  const watching = new DisposableStore();
  watching.add(attempts.onDidChange(() => void closeWhileAttempted()));
  watching.add(
    vscode.window.onDidCloseTerminal((closed) => {
      if (closed === terminal) watching.dispose();
    }),
  );

  async function closeWhileAttempted(): Promise<void> {
    const at = { path: task.dir, digest: graded.task.digest };
    if (attemptUnderWay(await attempts.list(), at)) terminal.dispose();
  }
}
