import type { ClockState } from '#core/attempt/clock.ts';
import { budgetLeftSec } from '#core/attempt/sessionWatch.ts';
import { awaitsStart, isOver } from '#core/attempt/states.ts';
import { waitingSentence } from '#vscode/attempts/words.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import { SessionStatus, type StatusText } from '#vscode/workspace/sessionStatus.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';

const updateMs = 1_000;

/** "$(watch) 0:12:34 / 4:00:00": the unpaused time, and the budget where there is one. */
export function clockText(
  { record, readOnly }: Pick<WorkspaceSession, 'record' | 'readOnly'>,
  clock: ClockState,
  failure: string | undefined,
): StatusText {
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
function waitingText(budgetSec: number | null, failure: string | undefined): StatusText {
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
export function clockStatus(sessions: WorkspaceSessions): SessionStatus {
  const status = new SessionStatus(sessions, {
    id: 'e2eSwe.clock',
    name: 'E2E-SWE clock',
    priority: 99,
    render(session) {
      const recorder = session?.open.recorder;
      if (!session || !recorder || isOver(session.record.state)) return undefined;
      return clockText(session, recorder.clock, recorder.failure);
    },
  });
  if (windowAttemptId() === undefined) return status;
  const timer = setInterval(() => status.update(), updateMs);
  status.add({ dispose: () => clearInterval(timer) });
  return status;
}
