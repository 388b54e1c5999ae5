/** Composition root of the extension: builds the parts, joins them, and returns at once. */
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { createAttempts } from '#vscode/attempts/joinAttempts.ts';
import { addCorpus } from '#vscode/commands/addCorpus.ts';
import { cancelGrade } from '#vscode/commands/cancelGrade.ts';
import { checkEngine } from '#vscode/commands/checkEngine.ts';
import { chooseEngine } from '#vscode/commands/chooseEngine.ts';
import { grade } from '#vscode/commands/grade.ts';
import { gradeEmpty } from '#vscode/commands/gradeEmpty.ts';
import { gradeSolution } from '#vscode/commands/gradeSolution.ts';
import { harborCheck } from '#vscode/commands/harborCheck.ts';
import { openSettings } from '#vscode/commands/openSettings.ts';
import { openSpec } from '#vscode/commands/openSpec.ts';
import { refresh } from '#vscode/commands/refresh.ts';
import { registerCommands } from '#vscode/commands/registerCommands.ts';
import { removeCorpus } from '#vscode/commands/removeCorpus.ts';
import { createErrorReporter } from '#vscode/commands/reportError.ts';
import { showLog as showLogCommand } from '#vscode/commands/showLog.ts';
import { storedGradeCommands } from '#vscode/commands/storedGradeCommands.ts';
import { listCorpusFolders } from '#vscode/corpora/corpusFolders.ts';
import { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import { gradeScheme, readGradeDocument } from '#vscode/documents/gradeLog.ts';
import { registerReadonlyFiles } from '#vscode/documents/readonlyFiles.ts';
import { EngineStatus } from '#vscode/engine/engineStatus.ts';
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
  const tree = own(new TasksTree({ index, grades, queue, attempts, kept }));
  const view = own(createTasksView({ tree, index, engine, queue, kept, log: channel }));
  const tests: HiddenTests = own(new HiddenTests((...request) => rerun(...request)));
  own(index.onDidChange(() => tests.sync(index.tasks)));
  own(watchTasks(index, grades));

  const grading = {
    ...{ index, queue, grades, tests, notifier, reportError, showLog, log: channel },
    ...{ attempts, kept },
    grader: createGrader({ engine, storeDir, log: channel }),
    memory: context.workspaceState,
    personMemory: context.globalState,
    revealTask: view.revealTask,
  };
  const rerun = gradeAgain(grading);
  const choosing = (): unknown => vscode.commands.executeCommand('e2eSwe.chooseEngine');
  const checking = checkEngine({ engine, notifier, showLog, chooseEngine: choosing });
  const workspace = own(registerWorkspace({ ...grading, reader: taskReader }));
  stop = () => Promise.all([queue.stop(), workspace.stop()]);

  own(registerTaskToml(channel));
  own(registerReadonlyFiles(gradeScheme, readGradeDocument(storeDir)));
  own(
    registerCommands(
      {
        ...workspace.commands,
        ...storedGradeCommands(grading),
        'e2eSwe.refresh': refresh(grading),
        'e2eSwe.addCorpus': addCorpus({ index, notifier }),
        'e2eSwe.removeCorpus': removeCorpus({ index }),
        'e2eSwe.openSpec': openSpec(grading),
        'e2eSwe.grade': grade(grading),
        'e2eSwe.gradeSolution': gradeSolution(grading),
        'e2eSwe.gradeEmpty': gradeEmpty(grading),
        'e2eSwe.cancelGrade': cancelGrade({ queue, notifier }),
        'e2eSwe.harborCheck': harborCheck({ ...grading, engine }),
        'e2eSwe.checkEngine': checking,
        'e2eSwe.chooseEngine': chooseEngine({ listEngines, checkEngine: checking }),
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
