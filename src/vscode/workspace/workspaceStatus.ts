import * as vscode from 'vscode';
import { isOver } from '#core/attempt/states.ts';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { isolationSentence, standing, stateLabel } from '#vscode/attempts/words.ts';
import { windowAttemptId } from './attemptUri.ts';
import type { WorkspaceSession } from './workspaceSession.ts';
import type { WorkspaceSessions } from './workspaceSessions.ts';

export interface StatusText {
  readonly text: string;
  readonly tooltip: string;
  readonly isWarning: boolean;
}

/** "$(edit) tidequery: running": the task, and how its attempt stands. */
export function statusText(session: WorkspaceSession): StatusText {
  const { record, frozen, readOnly, open } = session;
  const icon = frozen !== undefined ? 'debug-pause' : readOnly !== undefined ? 'lock' : 'edit';
  const state =
    frozen === undefined
      ? [
          stateLabel(record.state),
          isOver(record.state) ? record.grades.findLast(({ official }) => official)?.verdict : '',
        ]
          .filter(Boolean)
          .join(', ')
      : session.isFrozenForGrade
        ? 'frozen while graded'
        : record.state === 'paused'
          ? standing(record)
          : 'frozen';
  const note = readOnly !== undefined && !isOver(record.state) ? ', read-only' : '';
  return {
    text: `$(${icon}) ${record.task.name}: ${state}${note}`,
    tooltip: [session.writeBlock, isolationSentence(open.isolation), 'Click for what can be done.']
      .filter(Boolean)
      .join('\n'),
    isWarning: !open.isolation.isIsolated,
  };
}

/** One line in the status bar, with the menu of the workspace behind it. */
export class WorkspaceStatus implements Disposable {
  readonly #store = new DisposableStore();
  readonly #item: vscode.StatusBarItem;
  readonly #sessions: WorkspaceSessions;

  constructor(sessions: WorkspaceSessions) {
    this.#sessions = sessions;
    this.#item = this.#store.add(
      vscode.window.createStatusBarItem('e2eSwe.workspace', vscode.StatusBarAlignment.Left, 100),
    );
    this.#item.name = 'E2E-SWE workspace';
    this.#item.command = 'e2eSwe.workspaceMenu';
    this.#store.add(sessions.onDidOpen(() => this.#update()));
    this.#store.add(sessions.onDidChange(() => this.#update()));
    this.#store.add(
      sessions.onDidFail(({ attemptId }) => {
        if (attemptId !== windowAttemptId()) return;
        this.#show({
          text: '$(warning) Workspace: not open',
          tooltip: 'The attempt could not be opened. Click for what can be done.',
          isWarning: true,
        });
      }),
    );
    if (windowAttemptId() === undefined) return;
    this.#show({
      text: '$(loading~spin) Workspace: opening',
      tooltip: 'The workspace is being opened.',
      isWarning: false,
    });
  }

  /** What the item says now. */
  get text(): string {
    return this.#item.text;
  }

  #update(): void {
    const session = this.#sessions.current(windowAttemptId());
    if (session) this.#show(statusText(session));
  }

  #show({ text, tooltip, isWarning }: StatusText): void {
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.backgroundColor = isWarning
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    this.#item.show();
  }

  dispose(): void {
    this.#store.dispose();
  }
}
