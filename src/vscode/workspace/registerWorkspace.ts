import * as vscode from 'vscode';
import { isOver } from '#core/attempt/states.ts';
import { DisposableStore } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { attachWindow } from '#vscode/attempts/attachWindow.ts';
import type { AttemptIndex } from '#vscode/attempts/attemptIndex.ts';
import { AttemptTasks } from '#vscode/attempts/attemptTasks.ts';
import { checkBridges } from '#vscode/attempts/checkBridges.ts';
import { cleanUpWorkspaces } from '#vscode/attempts/cleanUpWorkspaces.ts';
import { closeWorkspace } from '#vscode/attempts/closeWorkspace.ts';
import { deleteAttempt } from '#vscode/attempts/deleteAttempt.ts';
import { giveUpAttempt } from '#vscode/attempts/giveUpAttempt.ts';
import { gradeAttempt } from '#vscode/attempts/gradeAttempt.ts';
import { clearProblems } from '#vscode/attempts/inlineResults.ts';
import { keepWorking } from '#vscode/attempts/keepWorking.ts';
import { openAttempt } from '#vscode/attempts/openAttempt.ts';
import { openAttemptGrade } from '#vscode/attempts/openAttemptGrade.ts';
import { openWorkspaceSpec } from '#vscode/attempts/openWorkspaceSpec.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import { startAttempt } from '#vscode/attempts/startAttempt.ts';
import { submitAttempt } from '#vscode/attempts/submitAttempt.ts';
import { trySetup } from '#vscode/attempts/trySetup.ts';
import { workspaceMenu } from '#vscode/attempts/workspaceMenu.ts';
import { thenDebrief } from '#vscode/baseline/fillInDebrief.ts';
import { registerBaseline } from '#vscode/baseline/registerBaseline.ts';
import type { CommandHandlers } from '#vscode/commands/commandIds.ts';
import type { GradeAndTellDeps } from '#vscode/commands/gradeAndTell.ts';
import type { ErrorReporter } from '#vscode/commands/reportError.ts';
import { setContextKey } from '#vscode/contextKeys.ts';
import { scoreCurve } from '#vscode/curve/scoreCurve.ts';
import { registerReadonlyFiles } from '#vscode/documents/readonlyFiles.ts';
import { readSpecDocument, specScheme } from '#vscode/documents/specDocument.ts';
import type { ChoiceMemory } from '#vscode/grading/chooseSource.ts';
import type { TaskReader } from '#vscode/ports.ts';
import { registerRecord } from '#vscode/record/registerRecord.ts';
import { goToFile } from '#vscode/search/goToFile.ts';
import { SearchView } from '#vscode/search/searchView.ts';
import { clearSearch, searchWorkspace } from '#vscode/search/searchWorkspace.ts';
import { readSnapshotDocument } from '#vscode/snapshots/snapshotDocuments.ts';
import { snapshots } from '#vscode/snapshots/snapshots.ts';
import { snapshotScheme } from '#vscode/snapshots/snapshotUri.ts';
import { openTerminal, registerTerminalProfile } from '#vscode/terminal/containerTerminals.ts';
import { replaceHostTerminals } from '#vscode/terminal/hostTerminals.ts';
import { GradeProblems } from '#vscode/testing/gradeProblems.ts';
import { attemptUri, windowAttemptId } from './attemptUri.ts';
import { openPatiently } from './openPatiently.ts';
import { isFirstOpening, showSpecBeside, tellMode } from './welcome.ts';
import { registerWorkspaceFiles, WorkspaceFiles } from './workspaceFiles.ts';
import type { WorkspaceSession } from './workspaceSession.ts';
import { WorkspaceSessions } from './workspaceSessions.ts';
import { workspaceStatus } from './workspaceStatus.ts';

export interface WorkspaceDeps extends GradeAndTellDeps {
  readonly attempts: AttemptIndex;
  readonly reader: TaskReader;
  readonly memory: ChoiceMemory;
  /** What a person answers in every window. */
  readonly personMemory: ChoiceMemory;
  readonly reportError: ErrorReporter;
  readonly log: Log;
}

const restartPauseMs = 10_000;

/** Everything about attempts in the editor: the files of this window's workspace, its terminals, search, commands. */
export function registerWorkspace(deps: WorkspaceDeps) {
  const { attempts, log, notifier, index } = deps;
  const { room } = attempts;
  const store = new DisposableStore();
  const sessions = store.add(new WorkspaceSessions({ open: openPatiently(room), log }));
  const files = store.add(new WorkspaceFiles(sessions, (id) => room.read(id).catch(() => undefined)));
  store.add(registerWorkspaceFiles(files));
  store.add(registerTerminalProfile(sessions));
  const problems = store.add(new GradeProblems());
  const status = store.add(workspaceStatus(sessions));
  const tasks = new AttemptTasks(index, deps.reader);
  const search = store.add(new SearchView({ uriOf: (path) => attemptUri(windowAttemptId() ?? '', path) }));
  void setContextKey('e2eSwe.inWorkspace', windowAttemptId() !== undefined);

  /** The task of this window's attempt, so that its spec can be read however the task is listed. */
  const windowTask = async () => {
    const id = windowAttemptId();
    return id === undefined ? undefined : tasks.of(await room.read(id));
  };
  // Specs of listed tasks, and of the one that this window's attempt is at.
  const specTasks = {
    ready: async (): Promise<void> => {
      await index.ready();
      await windowTask().catch(() => undefined);
    },
    findByDir: (dir: string) => tasks.findByDir(dir),
  };
  store.add(registerReadonlyFiles(specScheme, readSpecDocument(specTasks, deps.reader)));
  store.add(registerReadonlyFiles(snapshotScheme, readSnapshotDocument(room)));
  const welcome = async (session: WorkspaceSession): Promise<void> => {
    // It is shown when the clock is started.
    if (session.isWaiting) return;
    const isFirst = await isFirstOpening(session, deps.memory);
    tellMode(session, notifier, isFirst);
    if (!isFirst) return;
    try {
      await showSpecBeside(await tasks.of(session.record));
      session.open.recorder?.append({ kind: 'milestone', what: 'spec-opened' });
    } catch (error) {
      log.warn(`The spec could not be opened: ${errorMessage(error)}`);
    }
  };
  let wasOpened = false;
  let lastRestart = 0;
  const tellRestart = (reason: string): void => {
    log.warn(`The connection to the files was restarted: ${reason}`);
    // Each of several processes is restarted when they are killed together: said once.
    if (Date.now() - lastRestart > restartPauseMs) {
      const text = `The connection to the files of the container was restarted. ${reason}`;
      notifier.warn(text, { title: 'Show log', run: deps.showLog });
    }
    lastRestart = Date.now();
  };
  store.add(
    sessions.onDidOpen((session) => {
      session.open.files.onDidRestart((restart) => {
        // What is over had its container ended on purpose.
        if (sessions.current(session.id) === session && !isOver(session.record.state))
          tellRestart(restart.reason);
      });
      void attempts.reload();
      if (session.id !== windowAttemptId()) return;
      void welcome(session);
      // Opened anew, its files may be others, and be changed or not: explorer and editors do not look by themselves.
      if (wasOpened) {
        // It takes the side bar; what is over has the files that it had.
        if (!isOver(session.record.state))
          void vscode.commands.executeCommand('workbench.files.action.refreshFilesExplorer');
        files.refreshEditors(session);
      }
      wasOpened = true;
    }),
  );
  store.add(sessions.onDidChange((session) => files.refreshEditors(session)));
  const tellFrozen = (session: WorkspaceSession): void => {
    if (session.id === windowAttemptId())
      void setContextKey('e2eSwe.frozenForGrade', session.isFrozenForGrade);
  };
  store.add(sessions.onDidOpen(tellFrozen));
  store.add(sessions.onDidChange(tellFrozen));
  store.add(
    sessions.onDidFail(({ attemptId, error }) => {
      if (attemptId === windowAttemptId()) deps.reportError('Open attempt', error);
    }),
  );
  // Other windows start, end and delete attempts too.
  store.add(
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (!focused) return;
      void attempts.reload();
      void takeOver(sessions, room);
    }),
  );
  const windowAttempt = windowAttemptId();
  // Also without an open editor: the status bar tells how it stands. A failure is told by `onDidFail`.
  if (windowAttempt !== undefined) void sessions.get(windowAttempt).catch(() => undefined);

  const openShell = openTerminal({ sessions });
  store.add(replaceHostTerminals({ notifier, log, open: async () => void (await openShell()) }));
  const recording = store.add(registerRecord({ room, sessions, attempts, notifier, log }));
  const attempt = { room, sessions, attempts, tasks, problems, grading: deps };
  // Not by the command that reads the explorer anew: it takes the side bar.
  const tellOfTop = (session: WorkspaceSession): Promise<void> =>
    files
      .tellOfTop(session)
      .catch((error: unknown) => log.warn(`The workspace could not be listed: ${errorMessage(error)}`));
  const onStarted = (session: WorkspaceSession): void => {
    void tellOfTop(session);
    void welcome(session);
  };
  const onReset = (session: WorkspaceSession): void => {
    files.refreshEditors(session);
    void tellOfTop(session);
  };
  const ending = { room, sessions, attempts, notifier };
  const baseline = store.add(registerBaseline({ ...ending, log, onStarted }));
  const commands = {
    'e2eSwe.startAttempt': startAttempt({ ...deps, room, attempts }),
    'e2eSwe.openAttempt': openAttempt(attempt),
    'e2eSwe.deleteAttempt': deleteAttempt(attempt),
    'e2eSwe.cleanUpWorkspaces': cleanUpWorkspaces({ room, notifier }),
    'e2eSwe.workspaceMenu': workspaceMenu(attempt),
    'e2eSwe.openWorkspaceSpec': openWorkspaceSpec(attempt),
    'e2eSwe.openTerminal': openShell,
    'e2eSwe.searchWorkspace': searchWorkspace({ sessions, view: search }),
    'e2eSwe.clearSearch': clearSearch({ view: search }),
    'e2eSwe.goToFile': goToFile(attempt),
    'e2eSwe.trySetup': trySetup(attempt),
    'e2eSwe.gradeAttempt': gradeAttempt(attempt),
    'e2eSwe.openAttemptGrade': openAttemptGrade(attempt),
    'e2eSwe.clearProblems': clearProblems({ problems }),
    'e2eSwe.keepWorking': keepWorking({ room, sessions, notifier }),
    'e2eSwe.submitAttempt': thenDebrief(ending, submitAttempt(attempt)),
    'e2eSwe.giveUpAttempt': thenDebrief(ending, giveUpAttempt(attempt)),
    ...recording.commands,
    ...baseline.commands,
    'e2eSwe.snapshots': snapshots({ ...deps, ...attempt, onReset }),
    'e2eSwe.scoreCurve': scoreCurve({ ...deps, ...attempt }),
    'e2eSwe.attachWindow': attachWindow({ ...deps, ...attempt, hostEnv: process.env }),
    'e2eSwe.checkBridges': checkBridges({ ...deps, room }),
    'e2eSwe.closeWorkspace': closeWorkspace(),
  } satisfies Partial<CommandHandlers>;

  return {
    ...{ commands, recording, baseline, sessions, status, search, attempts, problems },
    stop: () => sessions.stop(),
    dispose: () => store.dispose(),
  };
}

/** A window that may only read gets the attempt once the other one has let go of it. */
async function takeOver(sessions: WorkspaceSessions, room: AttemptRoom): Promise<void> {
  const session = sessions.current(windowAttemptId());
  if (!session?.open.readOnly || isOver(session.record.state) || (await room.isTaken(session.id))) return;
  await sessions.close(session.id);
  await sessions.get(session.id).catch(() => undefined);
}

export type Workspace = ReturnType<typeof registerWorkspace>;
