import * as vscode from 'vscode';
import { DisposableStore } from '#core/base/disposable.ts';
import type { CommandId } from '#vscode/commands/commandIds.ts';
import { windowAttemptId } from './attemptUri.ts';
import type { WorkspaceSession } from './workspaceSession.ts';
import type { WorkspaceSessions } from './workspaceSessions.ts';

export interface StatusText {
  readonly text: string;
  readonly tooltip: string;
  readonly command: CommandId | undefined;
  readonly isWarning: boolean;
}

export interface StatusItemOptions {
  readonly id: string;
  readonly name: string;
  /** The higher, the further to the left. */
  readonly priority: number;
  /** What it says of the window's session; nothing is shown where that is undefined. */
  readonly render: (session: WorkspaceSession | undefined) => StatusText | undefined;
}

/** A line in the status bar about the attempt of this window, which follows its session. */
export class SessionStatus extends DisposableStore {
  readonly #sessions: WorkspaceSessions;
  readonly #item: vscode.StatusBarItem;
  readonly #render: StatusItemOptions['render'];
  #shown = '';

  constructor(sessions: WorkspaceSessions, { id, name, priority, render }: StatusItemOptions) {
    super();
    this.#sessions = sessions;
    this.#render = render;
    this.#item = this.add(vscode.window.createStatusBarItem(id, vscode.StatusBarAlignment.Left, priority));
    this.#item.name = name;
    this.add(sessions.onDidOpen(() => this.update()));
    this.add(sessions.onDidChange(() => this.update()));
  }

  /** What the item says now. */
  get text(): string {
    return this.#item.text;
  }

  update(): void {
    const status = this.#render(this.#sessions.current(windowAttemptId()));
    const now = JSON.stringify(status) ?? '';
    if (now === this.#shown) return;
    this.#shown = now;
    if (!status) {
      this.#item.hide();
      return;
    }
    this.#item.text = status.text;
    this.#item.tooltip = status.tooltip;
    this.#item.command = status.command;
    this.#item.backgroundColor = status.isWarning
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    this.#item.show();
  }
}
