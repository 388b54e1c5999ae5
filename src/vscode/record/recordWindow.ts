import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';

/** Records which editor with which extensions this is, and whether the window has the focus. */
export function recordWindow(sessions: WorkspaceSessions): Disposable {
  const store = new DisposableStore();
  const recorder = () => sessions.current(windowAttemptId())?.open.recorder;
  store.add(
    sessions.onDidOpen((session) => {
      if (session.id !== windowAttemptId()) return;
      session.open.recorder?.append({
        kind: 'editor',
        name: vscode.env.appName,
        version: vscode.version,
        extensions: vscode.extensions.all.flatMap(({ id, packageJSON }) => {
          const { isBuiltin, version } = packageJSON as { isBuiltin?: boolean; version?: string };
          return isBuiltin ? [] : [`${id}@${version ?? ''}`];
        }),
      });
      session.open.recorder?.append({ kind: 'focus', focused: vscode.window.state.focused });
    }),
  );
  let wasFocused: boolean | undefined;
  store.add(
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused !== wasFocused) recorder()?.append({ kind: 'focus', focused });
      wasFocused = focused;
    }),
  );
  return store;
}
