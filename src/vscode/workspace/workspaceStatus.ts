import { isOver } from '#core/attempt/states.ts';
import { isolationSentence, standing, stateLabel } from '#vscode/attempts/words.ts';
import { windowAttemptId } from './attemptUri.ts';
import { SessionStatus, type StatusText } from './sessionStatus.ts';
import type { WorkspaceSession } from './workspaceSession.ts';
import type { WorkspaceSessions } from './workspaceSessions.ts';

/** The menu of the workspace is behind it, whatever it says. */
const command = 'e2eSwe.workspaceMenu';

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
    command,
    isWarning: !open.isolation.isIsolated,
  };
}

/** One line in the status bar: how the attempt of this window stands, also before it is open. */
export function workspaceStatus(sessions: WorkspaceSessions): SessionStatus {
  const window = windowAttemptId();
  let closed: StatusText | undefined =
    window === undefined
      ? undefined
      : {
          text: '$(loading~spin) Workspace: opening',
          tooltip: 'The workspace is being opened.',
          command,
          isWarning: false,
        };
  const status = new SessionStatus(sessions, {
    id: 'e2eSwe.workspace',
    name: 'E2E-SWE workspace',
    priority: 100,
    render: (session) => (session ? statusText(session) : closed),
  });
  status.add(
    sessions.onDidFail(({ attemptId }) => {
      if (attemptId !== windowAttemptId()) return;
      closed = {
        text: '$(warning) Workspace: not open',
        tooltip: 'The attempt could not be opened. Click for what can be done.',
        command,
        isWarning: true,
      };
      status.update();
    }),
  );
  status.update();
  return status;
}
