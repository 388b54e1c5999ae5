import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { isOver } from '#core/attempt/states.ts';
import type { AttemptState } from '#core/attempt/types.ts';
import { DisposableStore } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { type AttemptGraderDeps, settle } from '#vscode/attempts/attemptGrader.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import { clockStatus, durationText } from './clockStatus.ts';
import { addNote, pauseAttempt, resumeAttempt } from './pauseCommands.ts';
import { DocumentRecorder } from './recordDocuments.ts';
import { recordFiles } from './recordFiles.ts';
import { recordWindow } from './recordWindow.ts';

export interface RecordDeps extends AttemptGraderDeps {
  readonly notifier: Notifier;
  readonly log: Log;
}

/** What happens in this window goes into the record of its attempt; the clock of it is shown. */
export function registerRecord(deps: RecordDeps) {
  const { sessions, notifier, log } = deps;
  const store = new DisposableStore();
  const documents = store.add(new DocumentRecorder(sessions));
  store.add(recordFiles(sessions));
  store.add(recordWindow(sessions));
  const clock = store.add(clockStatus(sessions));
  store.add(
    sessions.onDidOpen((session) => {
      session.open.recorder?.onDidAppend((line) => tell(session, line));
    }),
  );

  const tell = (session: WorkspaceSession, line: RecordLine): void => {
    if (line.kind === 'budget' && line.leftSec > 0)
      notifier.warn(
        `${durationText(line.leftSec * 1000)} left for ${session.record.task.name}; then it is submitted.`,
      );
    else if (line.kind === 'budget')
      notifier.warn(`The time for ${session.record.task.name} is up: the workspace is being submitted.`);
    else if (line.kind === 'disk' && line.what === 'low')
      notifier.warn('The disk is nearly full. Make room, then resume the attempt.');
    else if (line.kind === 'state') void follow(session, line.state as AttemptState);
  };
  /** What core did by itself: the time was up, or the disk low. */
  const follow = async (session: WorkspaceSession, state: AttemptState): Promise<void> => {
    if (sessions.current(session.id) !== session) return;
    try {
      if (state === 'timed-out') {
        await settle(deps, session.id);
        const { task, grades } = await deps.room.read(session.id);
        const verdict = grades.findLast(({ official }) => official)?.verdict ?? 'not graded';
        notifier.info(`The time for ${task.name} was up: submitted, ${verdict}.`);
      } else if (!isOver(state)) session.record = await deps.room.read(session.id);
    } catch (error) {
      log.warn(`The state of ${session.id} could not be followed: ${errorMessage(error)}`);
    }
  };

  const commands = {
    'e2eSwe.pauseAttempt': pauseAttempt(deps),
    'e2eSwe.resumeAttempt': resumeAttempt(deps),
    'e2eSwe.addNote': addNote(deps),
  };
  return { commands, clock, documents, dispose: () => store.dispose() };
}
