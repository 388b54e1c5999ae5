import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { setContextKey } from '#vscode/contextKeys.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import type { EngineStatus } from '#vscode/engine/engineStatus.ts';
import type { KeptIndex } from '#vscode/grades/keptIndex.ts';
import type { GradeQueue } from '#vscode/grading/gradeQueue.ts';
import type { Engine } from '#vscode/ports.ts';
import type { TasksTree } from './tasksTree.ts';

export interface TasksViewDeps {
  readonly tree: TasksTree;
  readonly index: TaskIndex;
  readonly engine: EngineStatus<Engine>;
  readonly queue: GradeQueue;
  readonly kept: Pick<KeptIndex, 'refresh'>;
  readonly log: Log;
}

export interface TasksView extends Disposable {
  /** The sentence above the tree; undefined when there is none. */
  readonly message: string | undefined;
  /** Opens the task's row, where the view is visible: a fresh grade should not hide in a closed row. */
  revealTask(dir: string): Promise<void>;
}

/** The views of our container. The first time one shows, the tasks are read and the engine is asked. */
export function createTasksView({ tree, index, engine, queue, kept, log }: TasksViewDeps): TasksView {
  const store = new DisposableStore();
  const view = store.add(
    vscode.window.createTreeView('e2eSwe.tasks', { treeDataProvider: tree, showCollapseAll: true }),
  );
  store.add(vscode.window.registerTreeDataProvider('e2eSwe.engine', emptyTree));

  const update = (): void => {
    const { state } = engine;
    void setContextKey('e2eSwe.tasksState', index.state);
    void setContextKey('e2eSwe.engineState', state.kind);
    void setContextKey('e2eSwe.grading', queue.jobs.length > 0);
    // A message would hide the welcome text of an empty tree.
    const tell = state.kind === 'missing' && index.corpora.length > 0;
    view.message = tell ? [state.message, state.nextStep].filter(Boolean).join(' ') : '';
  };
  store.add(index.onDidChange(update));
  let wasReady = false;
  store.add(
    engine.onDidChange(({ kind }) => {
      update();
      // Asked once an engine answers, not at each of its answers.
      if (kind === 'ready' && !wasReady) void kept.refresh();
      wasReady = kind === 'ready';
    }),
  );
  store.add(queue.onDidChange(update));
  update();

  const begin = (): void => {
    // Not awaited: both tell the views when they are done.
    void index.ready();
    if (engine.state.kind === 'unknown') void engine.check();
  };
  if (view.visible) begin();
  store.add(
    view.onDidChangeVisibility(({ visible }) => {
      if (visible) begin();
    }),
  );

  return {
    get message() {
      return view.message || undefined;
    },
    revealTask: async (dir) => {
      const node = tree.nodeOf({ path: dir });
      if (!node || !view.visible) return;
      try {
        await view.reveal(node, { select: false, focus: false, expand: true });
      } catch (error) {
        // The list was read anew meanwhile: the row is another now, and nothing is lost.
        log.debug(`The task could not be revealed: ${errorMessage(error)}`);
      }
    },
    dispose: () => store.dispose(),
  };
}

/** The engine view has no rows: its welcome text is what it shows. */
const emptyTree: vscode.TreeDataProvider<never> = {
  getChildren: () => [],
  getTreeItem: (node) => node,
};
