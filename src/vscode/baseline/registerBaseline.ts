import * as vscode from 'vscode';
import { DisposableStore } from '#core/base/disposable.ts';
import type { Log } from '#core/base/log.ts';
import { registerReadonlyFiles } from '#vscode/documents/readonlyFiles.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import { aiSentence, awaitAiOutcome } from './aiFeatures.ts';
import { BaselineView } from './baselineView.ts';
import { conditionsScheme, readConditionsDocument } from './conditionsDocument.ts';
import { type DebriefDeps, fillInDebrief, offerDebrief } from './fillInDebrief.ts';
import { phaseOf } from './phase.ts';
import { showConditions } from './showConditions.ts';
import { startClock } from './startClock.ts';

export interface BaselineDeps extends DebriefDeps {
  readonly log: Log;
  /** The clock was started in this window: the work begins. */
  readonly onStarted: (session: WorkspaceSession) => void;
}

/** Measured attempts in their window: the view, the start, the AI policy, the debrief. */
export function registerBaseline(deps: BaselineDeps) {
  const { sessions, notifier, room, log } = deps;
  const store = new DisposableStore();
  const view = store.add(new BaselineView({ room, sessions, log }));
  store.add(registerReadonlyFiles(conditionsScheme, readConditionsDocument(room)));
  const commands = {
    'e2eSwe.startClock': startClock(deps),
    'e2eSwe.showConditions': showConditions(),
    'e2eSwe.fillInDebrief': fillInDebrief(deps),
  };

  const checked = new WeakMap<WorkspaceSession['open'], string>();

  const opened = async (session: WorkspaceSession): Promise<void> => {
    if (session.id !== windowAttemptId()) return;
    const { protocol, debrief, state, task } = session.record;
    if (!protocol) return;
    const phase = phaseOf(session);
    if (phase === 'waiting') await offerStart(session);
    if (state === 'timed-out' && !debrief)
      offerDebrief(notifier, `The attempt at ${task.name} is over.`, () =>
        commands['e2eSwe.fillInDebrief'](session.id),
      );
    await checkAi(session);
  };
  const offerStart = async (session: WorkspaceSession): Promise<void> => {
    notifier.info(
      `The attempt at ${session.record.task.name} is ready. Its clock stands, and its spec is shown when you start it.`,
      { title: 'Start the clock', run: () => vscode.commands.executeCommand('e2eSwe.startClock') },
      { title: 'Show conditions', run: () => vscode.commands.executeCommand('e2eSwe.showConditions') },
    );
    await view.focus();
  };
  /**
   * The workspace's settings switch AI off (`aiSettings`); what became of it is recorded, again when it changes, and told
   * where it is not enough.
   */
  const checkAi = async ({ open, record }: WorkspaceSession): Promise<void> => {
    if (record.protocol?.aiPolicy !== 'none' || !open.recorder) return;
    const outcome = await awaitAiOutcome();
    const now = JSON.stringify(outcome);
    if (checked.get(open) === now) return;
    checked.set(open, now);
    open.recorder.append({ kind: 'ai-features', ...outcome });
    if (outcome.on.length > 0 || outcome.extensions.length > 0)
      notifier.warn(aiSentence(outcome), {
        title: 'Show extensions',
        run: () => vscode.commands.executeCommand('workbench.extensions.search', '@installed'),
      });
  };

  store.add(sessions.onDidOpen((session) => void opened(session)));
  store.add(
    vscode.extensions.onDidChange(() => {
      const session = sessions.current(windowAttemptId());
      if (session) void checkAi(session);
    }),
  );
  const waiting = new WeakSet<WorkspaceSession>();
  const follow = (session: WorkspaceSession): void => {
    if (session.isWaiting) waiting.add(session);
    else if (waiting.has(session) && phaseOf(session) === 'running') {
      waiting.delete(session);
      deps.onStarted(session);
    }
  };
  store.add(sessions.onDidOpen(follow));
  store.add(sessions.onDidChange(follow));
  return { commands, view, dispose: () => store.dispose() };
}
