/** Composition root of the extension: builds the parts, joins them, and returns at once. */
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { createAttempts } from '#vscode/attempts/joinAttempts.ts';
import { RevealGate } from '#vscode/attempts/revealGate.ts';
import { engineCommands } from '#vscode/commands/engineCommands.ts';
import { openSettings } from '#vscode/commands/openSettings.ts';
import { registerCommands } from '#vscode/commands/registerCommands.ts';
import { createErrorReporter } from '#vscode/commands/reportError.ts';
import { showLog as showLogCommand } from '#vscode/commands/showLog.ts';
import { storedGradeCommands } from '#vscode/commands/storedGradeCommands.ts';
import { taskCommands } from '#vscode/commands/taskCommands.ts';
import { listCorpusFolders } from '#vscode/corpora/corpusFolders.ts';
import { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import { gradeScheme, readGradeDocument } from '#vscode/documents/gradeLog.ts';
import { registerReadonlyFiles } from '#vscode/documents/readonlyFiles.ts';
import { EngineStatus } from '#vscode/engine/engineStatus.ts';
import { exportCommands } from '#vscode/exports/exportCommands.ts';
import { ImportIndex } from '#vscode/exports/importIndex.ts';
import { GradeIndex } from '#vscode/grades/gradeIndex.ts';
import { KeptIndex } from '#vscode/grades/keptIndex.ts';
import { GradeQueue } from '#vscode/grading/gradeQueue.ts';
import {
  createConnect,
  createGrader,
  createKept,
  gradeStore,
  listEngines,
  taskReader,
} from '#vscode/joinCore.ts';
import { createNotifier } from '#vscode/notify.ts';
import { corporaSetting } from '#vscode/settings/corpora.ts';
import { showBundledTasksSetting } from '#vscode/settings/showBundledTasks.ts';
import { storeFolderSetting } from '#vscode/settings/storeFolder.ts';
import { registerTaskToml } from '#vscode/taskToml/registerTaskToml.ts';
import type { TestApi } from '#vscode/testApi.ts';
import { gradeAgain } from '#vscode/testing/gradeAgain.ts';
import { HiddenTests } from '#vscode/testing/hiddenTests.ts';
import { TasksTree } from '#vscode/tree/tasksTree.ts';
import { createTasksView } from '#vscode/tree/tasksView.ts';
import { watchTasks } from '#vscode/watchTasks.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';

let stop: (() => Promise<unknown>) | undefined;

export function activate(context: vscode.ExtensionContext): TestApi | undefined {
  const own = <T extends vscode.Disposable>(part: T): T => {
    context.subscriptions.push(part);
    return part;
  };
  const channel = own(vscode.window.createOutputChannel('E2E-SWE', { log: true }));
  const showLog = (): void => channel.show(true);
  const notifier = createNotifier(channel);
  const reportError = createErrorReporter(channel, notifier, showLog);
  const storeDir = (): string => storeFolderSetting.get() || context.globalStorageUri.fsPath;

  const guardScript = context.asAbsolutePath('dist/guard.cjs');
  const folders = () =>
    listCorpusFolders({
      configured: corporaSetting.get(),
      workspace: (vscode.workspace.workspaceFolders ?? [])
        .filter(({ uri }) => uri.scheme === 'file')
        .map(({ uri }) => uri.fsPath),
      bundled: showBundledTasksSetting.get() ? context.asAbsolutePath('tasks') : undefined,
      home: homedir(),
    });
  const index = own(new TaskIndex({ reader: taskReader, folders, log: channel }));
  const grades = own(new GradeIndex(gradeStore(storeDir), channel));
  const engine = own(new EngineStatus(createConnect(channel), channel));
  const kept = own(new KeptIndex(createKept(engine), channel));
  const queue = own(new GradeQueue());
  const attempts = own(createAttempts({ engine, storeDir, guardScript, log: channel }));
  const gate = new RevealGate(attempts.room);
  const imports = own(new ImportIndex({ index, storeDir, log: channel }));
  const tree = own(new TasksTree({ index, grades, queue, attempts, imports, kept, gate }));
  const view = own(createTasksView({ tree, index, engine, queue, kept, log: channel }));
  const tests: HiddenTests = own(new HiddenTests((...request) => rerun(...request)));
  own(index.onDidChange(() => tests.sync(index.tasks)));
  own(watchTasks(index, grades));

  const grading = {
    ...{ index, queue, grades, tests, notifier, reportError, showLog, log: channel },
    ...{ attempts, kept, gate, engine },
    grader: createGrader({ engine, storeDir, log: channel }),
    memory: context.workspaceState,
    personMemory: context.globalState,
    revealTask: view.revealTask,
  };
  const rerun = gradeAgain(grading);
  const workspace = own(registerWorkspace({ ...grading, reader: taskReader }));
  stop = () => Promise.all([queue.stop(), workspace.stop()]);

  own(registerTaskToml(channel));
  own(registerReadonlyFiles(gradeScheme, readGradeDocument(storeDir, gate)));
  own(
    registerCommands(
      {
        ...workspace.commands,
        ...taskCommands(grading),
        ...storedGradeCommands(grading),
        ...exportCommands({ ...grading, imports, storeDir }),
        ...engineCommands({ engine, notifier, showLog, listEngines }),
        'e2eSwe.openSettings': openSettings(context.extension.id),
        'e2eSwe.showLog': showLogCommand({ showLog }),
      },
      reportError,
    ),
  );

  if (context.extensionMode !== vscode.ExtensionMode.Test) return undefined;
  return { tree, view, index, grades, queue, tests, engine, notifier, channel, storeDir, workspace };
}

/** Grades are cancelled, the workspace is frozen; VS Code waits a moment for it. */
export const deactivate = (): Promise<unknown> | undefined => stop?.();
