import { isOver } from '#core/attempt/states.ts';
import type { AttemptGradeOptions } from '#core/attempt/types.ts';
import type { SubmissionSource } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { askForHostVariables } from '#vscode/grading/askForHostVariables.ts';
import type { Grader } from '#vscode/ports.ts';
import { hardenedVerifierSetting } from '#vscode/settings/hardenedVerifier.ts';
import { verifierTimeoutSetting } from '#vscode/settings/verifierTimeoutSeconds.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import type { AttemptIndex } from './attemptIndex.ts';
import type { AttemptRoom } from './ports.ts';

export interface AttemptGraderDeps {
  readonly room: AttemptRoom;
  readonly sessions: WorkspaceSessions;
  readonly attempts: AttemptIndex;
}

/** How an attempt stands in the queue and in the Testing view; what is graded, core takes from the container. */
export function attemptSource(id: string): SubmissionSource {
  return { kind: 'attempt', id, path: '', skipped: [], marks: [] };
}

export function gradeOptions(task: Task, isOfficial: boolean): AttemptGradeOptions {
  // A settings file in the workspace may set it too: the official grade goes by the task's own limit.
  const timeoutSec = isOfficial ? 0 : verifierTimeoutSetting.get();
  return {
    live: true,
    allowHostEnv: (names) => askForHostVariables(task, names),
    ...(timeoutSec > 0 ? { timeoutSec } : {}),
    ...(hardenedVerifierSetting.get() ? { hardened: 'where declared' as const } : {}),
  };
}

/** Grades the workspace of an attempt, and follows how its attempt stands meanwhile: core freezes and thaws it. */
export function attemptGrader(deps: AttemptGraderDeps, id: string, isOfficial: boolean): Grader {
  return async function* grade(task, _source, signal) {
    const { room, sessions } = deps;
    const session = sessions.current(id);
    const options = gradeOptions(task, isOfficial);
    const events = isOfficial ? room.submit(id, signal, options) : room.grade(id, options, signal);
    const update = async (): Promise<void> => {
      const record = await room.read(id).catch(() => undefined);
      if (session && record) session.record = record;
    };
    const listening = session?.open.onDidFreeze(() => void update());
    try {
      yield* events;
    } finally {
      listening?.dispose();
      await settle(deps, id);
    }
  };
}

/** Takes over what became of the attempt: it goes on, or is over and open to be read only. */
export async function settle({ room, sessions, attempts }: AttemptGraderDeps, id: string): Promise<void> {
  const session = sessions.current(id);
  const record = await room.read(id);
  if (session) {
    if (isOver(record.state)) {
      // Its container was ended: the files are read from one that is started anew.
      await sessions.close(id);
      await sessions.get(id);
    } else session.record = record;
  }
  await attempts.reload();
}
