import type * as vscode from 'vscode';
import type { TaskIndex } from './corpora/taskIndex.ts';
import type { EngineStatus } from './engine/engineStatus.ts';
import type { GradeIndex } from './grades/gradeIndex.ts';
import type { GradeQueue } from './grading/gradeQueue.ts';
import type { Notifier } from './notify.ts';
import type { Engine } from './ports.ts';
import type { HiddenTests } from './testing/hiddenTests.ts';
import type { TasksTree } from './tree/tasksTree.ts';
import type { TasksView } from './tree/tasksView.ts';
import type { Workspace } from './workspace/registerWorkspace.ts';

/** What `activate` hands to tests in a real extension host, where results and toasts cannot be read back. */
export interface TestApi {
  readonly tree: TasksTree;
  readonly view: TasksView;
  readonly index: TaskIndex;
  readonly grades: GradeIndex;
  readonly queue: GradeQueue;
  readonly tests: HiddenTests;
  readonly engine: EngineStatus<Engine>;
  readonly notifier: Notifier;
  readonly channel: vscode.LogOutputChannel;
  readonly storeDir: () => string;
  readonly workspace: Workspace;
}
