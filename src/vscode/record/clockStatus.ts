import * as vscode from 'vscode';
import type { ClockState } from '#core/attempt/clock.ts';
import { budgetLeftSec } from '#core/attempt/sessionWatch.ts';
import { awaitsStart, isOver } from '#core/attempt/states.ts';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { waitingSentence } from '#vscode/attempts/words.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';

const updateMs = 1_000;

export interface ClockText {
  readonly text: string;
  readonly tooltip: string;
  readonly command: 'e2eSwe.startClock' | 'e2eSwe.pauseAttempt' | 'e2eSwe.resumeAttempt' | undefined;
  readonly isWarning: boolean;
}

/** "$(watch) 0:12:34 / 4:00:00": the unpaused time, and the budget where there is one. */
export function clockText(
  { record, readOnly }: Pick<WorkspaceSession, 'record' | 'readOnly'>,
  clock: ClockState,
  failure: string | undefined,
): ClockText {
  const { budgetSec } = record;
  if (awaitsStart(record)) return waitingText(budgetSec, failure);
  const leftSec = budgetLeftSec(budgetSec, clock.unpausedMs);
  const budget = budgetSec === null ? '' : ` / ${durationText(budgetSec * 1000)}`;
  const isRunning = clock.phase === 'running';
  const isPaused = record.state === 'paused';
  const rows = [
    failure === undefined ? undefined : `Nothing can be recorded at the moment: ${failure}`,
    isRunning ? 'The clock runs.' : 'The clock stands: the workspace is frozen.',
    `Active ${durationText(clock.activeMs)}, waiting for commands ${durationText(clock.waitingMs)}, idle ${durationText(clock.idleMs)}`,
    `In this window ${durationText(clock.focusedMs)}, with all pauses ${durationText(clock.wallMs)}`,
    leftSec === undefined
      ? undefined
      : `${durationText(leftSec * 1000)} left; then the workspace is submitted.`,
    isPaused ? 'Click to resume.' : isRunning ? 'Click to pause.' : undefined,
  ];
  return {
    text: `$(${failure !== undefined ? 'warning' : isRunning ? 'watch' : 'debug-pause'}) ${durationText(clock.unpausedMs)}${budget}`,
    tooltip: rows.filter(Boolean).join('\n'),
    command: isPaused ? 'e2eSwe.resumeAttempt' : readOnly === undefined ? 'e2eSwe.pauseAttempt' : undefined,
    isWarning:
      failure !== undefined || (budgetSec !== null && leftSec !== undefined && leftSec <= budgetSec / 10),
  };
}

/** The clock of a measured attempt that was not started yet. */
function waitingText(budgetSec: number | null, failure: string | undefined): ClockText {
  const budget = budgetSec === null ? '' : ` (${durationText(budgetSec * 1000)})`;
  return {
    text: `$(${failure === undefined ? 'play' : 'warning'}) Start the clock${budget}`,
    tooltip: failure === undefined ? waitingSentence : `Nothing can be recorded at the moment: ${failure}`,
    command: 'e2eSwe.startClock',
    isWarning: failure !== undefined,
  };
}

/** `0:02:03` */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** The clock of this window's attempt in the status bar. */
export class ClockStatus implements Disposable {
  readonly #store = new DisposableStore();
  readonly #sessions: WorkspaceSessions;
  readonly #item: vscode.StatusBarItem;
  #shown = '';

  constructor(sessions: WorkspaceSessions) {
    this.#sessions = sessions;
    this.#item = this.#store.add(
      vscode.window.createStatusBarItem('e2eSwe.clock', vscode.StatusBarAlignment.Left, 99),
    );
    this.#item.name = 'E2E-SWE clock';
    this.#store.add(sessions.onDidOpen(() => this.update()));
    this.#store.add(sessions.onDidChange(() => this.update()));
    if (windowAttemptId() === undefined) return;
    const timer = setInterval(() => this.update(), updateMs);
    this.#store.add({ dispose: () => clearInterval(timer) });
  }

  /** What the item says now. */
  get text(): string {
    return this.#item.text;
  }

  update(): void {
    const session = this.#sessions.current(windowAttemptId());
    const recorder = session?.open.recorder;
    if (!session || !recorder || isOver(session.record.state)) {
      this.#item.hide();
      this.#shown = '';
      return;
    }
    const { text, tooltip, command, isWarning } = clockText(session, recorder.clock, recorder.failure);
    const now = `${text}${tooltip}`;
    if (now === this.#shown) return;
    this.#shown = now;
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.command = command;
    this.#item.backgroundColor = isWarning
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    this.#item.show();
  }

  dispose(): void {
    this.#store.dispose();
  }
}
