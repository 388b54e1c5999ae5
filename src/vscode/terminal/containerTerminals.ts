import * as vscode from 'vscode';
import { isOver } from '#core/attempt/states.ts';
import type { Disposable } from '#core/base/disposable.ts';
import { cannot } from '#vscode/attempts/gradeAttempt.ts';
import { requireWindowAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { ContainerPty, type TerminalSize } from './containerPty.ts';

export const terminalProfileId = 'e2eSwe.container';

/** In a place that nobody looks at when it is told what does not travel. */
const env = { HISTFILE: '/tmp/.e2e-swe-history' };

/** A terminal of this window's workspace, as VS Code creates it. */
export async function containerTerminalOptions(
  sessions: WorkspaceSessions,
): Promise<vscode.ExtensionTerminalOptions> {
  const session = await sessions.get(requireWindowAttempt());
  // What is over may be looked at; beside another window that works in it, a shell would work in it too.
  if (session.readOnly !== undefined && !isOver(session.record.state))
    throw cannot('entered', session.readOnly);
  const pty = new ContainerPty({
    open: (size, signal) => openIn(session, size, signal),
    frozenBecause: () => session.frozen,
    whenThawed: () => session.whenThawed(),
  });
  return { name: 'Container', pty, iconPath: new vscode.ThemeIcon('vm') };
}

async function openIn(session: WorkspaceSession, size: TerminalSize, signal: AbortSignal) {
  const [{ openTerminal }, { recordTerminal }, { shellMarkEnv }] = await Promise.all([
    import('#core/container/terminal.ts'),
    import('#core/attempt/recordTerminal.ts'),
    import('#core/attempt/shellMarks.ts'),
  ]);
  const { user, workdir } = session.record;
  const { container, recorder } = session.open;
  const terminal = await openTerminal(
    container,
    {
      cwd: workdir,
      env: { ...env, ...(recorder ? shellMarkEnv : {}) },
      ...size,
      ...(user === undefined ? {} : { user }),
    },
    signal,
  );
  return recorder ? recordTerminal(recorder, terminal, size) : terminal;
}

/** Opens a terminal in the container. */
export function openTerminal({ sessions }: { readonly sessions: WorkspaceSessions }): CommandHandler {
  return async () => {
    vscode.window.createTerminal(await containerTerminalOptions(sessions)).show();
  };
}

/** Offers the terminal among the profiles of the terminal view. */
export function registerTerminalProfile(sessions: WorkspaceSessions): Disposable {
  return vscode.window.registerTerminalProfileProvider(terminalProfileId, {
    provideTerminalProfile: async () => new vscode.TerminalProfile(await containerTerminalOptions(sessions)),
  });
}
