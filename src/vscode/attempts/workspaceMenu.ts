import * as vscode from 'vscode';
import { awaitsStart, isOver } from '#core/attempt/states.ts';
import { CancelledError } from '#core/base/errors.ts';
import type { CommandHandler, CommandId } from '#vscode/commands/commandIds.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import { stateLabel } from './words.ts';

interface MenuItem extends vscode.QuickPickItem {
  readonly command?: CommandId;
}

/** What can be done in this window's workspace: the menu of the status bar item. */
export function workspaceMenu({ sessions }: { readonly sessions: WorkspaceSessions }): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = sessions.current(id);
    if (!session) {
      await offerToOpen(sessions, id);
      return;
    }
    const picked = await vscode.window.showQuickPick(menuItems(session), {
      title: `Attempt at ${session.record.task.name}: ${session.isFrozenForGrade ? 'frozen' : stateLabel(session.record.state)}`,
      // The first sentence: a longer text is cut.
      placeHolder: session.writeBlock?.replace(/\. .*/, '.') ?? 'Choose what to do',
    });
    if (!picked) throw new CancelledError();
    if (picked.command) await vscode.commands.executeCommand(picked.command);
  };
}

/** For an attempt that could not be opened, or is being opened; the failure was told by a notification. */
async function offerToOpen(sessions: WorkspaceSessions, id: string): Promise<void> {
  const items: readonly (vscode.QuickPickItem & { readonly run: () => unknown })[] = [
    {
      label: '$(refresh) Try again',
      // Its failure is told as that of every opening.
      run: () => sessions.get(id).catch(() => undefined),
    },
    {
      label: '$(trash) Delete attempt…',
      run: () => vscode.commands.executeCommand('e2eSwe.deleteAttempt', id),
    },
    { label: '$(list-flat) Show log', run: () => vscode.commands.executeCommand('e2eSwe.showLog') },
    {
      label: '$(close) Close workspace',
      run: () => vscode.commands.executeCommand('e2eSwe.closeWorkspace'),
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: 'The workspace is not open',
    placeHolder: 'Choose what to do',
  });
  if (!picked) throw new CancelledError();
  await picked.run();
}

/** Nothing is offered that would be refused. */
export function menuItems(
  session: Pick<WorkspaceSession, 'readOnly' | 'record' | 'frozen' | 'isFrozenForGrade'>,
): MenuItem[] {
  const separator = { label: '', kind: vscode.QuickPickItemKind.Separator };
  const spec: MenuItem[] = [
    { label: '$(book) Open spec', command: 'e2eSwe.openWorkspaceSpec' },
    { label: '$(history) Snapshots…', command: 'e2eSwe.snapshots' },
  ];
  // Beside another window that works in it, a shell is refused.
  const mayEnter = session.readOnly === undefined || isOver(session.record.state);
  const work: MenuItem[] = [
    ...(mayEnter
      ? [{ label: '$(terminal) New container terminal', command: 'e2eSwe.openTerminal' } as const]
      : []),
    { label: '$(search) Search in workspace…', command: 'e2eSwe.searchWorkspace' },
    { label: '$(go-to-file) Go to file in workspace…', command: 'e2eSwe.goToFile' },
    ...spec,
  ];
  const grading: MenuItem[] = [
    separator,
    { label: '$(tools) Try setup', command: 'e2eSwe.trySetup' },
    ...(session.record.protocol?.interimGrading === false
      ? []
      : [{ label: '$(play) Grade workspace', command: 'e2eSwe.gradeAttempt' } as const]),
    { label: '$(verified) Submit…', command: 'e2eSwe.submitAttempt' },
    { label: '$(debug-pause) Pause…', command: 'e2eSwe.pauseAttempt' },
    { label: '$(comment) Add note…', command: 'e2eSwe.addNote' },
    { label: '$(circle-slash) Give up…', command: 'e2eSwe.giveUpAttempt' },
  ];
  const again: MenuItem[] = [
    separator,
    { label: '$(verified) Grade the submission again', command: 'e2eSwe.submitAttempt' },
  ];
  const attached: MenuItem[] = [
    separator,
    ...(session.readOnly === undefined
      ? [{ label: '$(remote) Attach window…', command: 'e2eSwe.attachWindow' } as const]
      : []),
    ...(session.record.mode === 'attached'
      ? [{ label: '$(plug) Check for bridges', command: 'e2eSwe.checkBridges' } as const]
      : []),
  ];
  const last = session.record.grades.findLast((grade) => grade.official);
  const close: MenuItem[] = [
    separator,
    { label: '$(close) Close workspace', command: 'e2eSwe.closeWorkspace' },
  ];
  if (session.frozen !== undefined && awaitsStart(session.record))
    return [
      { label: '$(play) Start the clock', command: 'e2eSwe.startClock' },
      { label: '$(checklist) Show conditions', command: 'e2eSwe.showConditions' },
      { label: '$(circle-slash) Give up…', command: 'e2eSwe.giveUpAttempt' },
      ...close,
    ];
  if (session.frozen !== undefined) {
    const thaw: MenuItem = { label: '$(debug-continue) Keep working', command: 'e2eSwe.keepWorking' };
    const resume: MenuItem[] =
      session.record.state === 'paused' && session.readOnly === undefined
        ? [
            { label: '$(debug-continue) Resume', command: 'e2eSwe.resumeAttempt' },
            { label: '$(verified) Submit…', command: 'e2eSwe.submitAttempt' },
            { label: '$(circle-slash) Give up…', command: 'e2eSwe.giveUpAttempt' },
          ]
        : [];
    return [...(session.isFrozenForGrade ? [thaw] : []), ...resume, ...spec, ...close];
  }
  const conditions: MenuItem[] = [
    { label: '$(checklist) Show conditions', command: 'e2eSwe.showConditions' },
    ...(isOver(session.record.state) && session.record.protocol
      ? [{ label: '$(feedback) Fill in the debrief…', command: 'e2eSwe.fillInDebrief' } as const]
      : []),
  ];
  const grades: MenuItem[] =
    session.record.grades.length > 0
      ? [{ label: '$(beaker) Show a grade…', command: 'e2eSwe.openAttemptGrade' }]
      : [];
  const isSubmitted = ['submitted', 'timed-out'].includes(session.record.state);
  const mayAgain = isSubmitted && (!last || last.verdict === 'not graded');
  return [
    ...work,
    ...conditions,
    ...grades,
    ...(session.readOnly === undefined ? grading : mayAgain ? again : []),
    ...(attached.length > 1 ? attached : []),
    ...close,
  ];
}
