import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { TaskIndex } from './corpora/taskIndex.ts';
import type { GradeIndex } from './grades/gradeIndex.ts';
import { corporaSetting } from './settings/corpora.ts';
import { showBundledTasksSetting } from './settings/showBundledTasks.ts';
import { storeFolderSetting } from './settings/storeFolder.ts';

/** Saving a file fires several events; one refresh answers them all. */
const settleMs = 300;

/** Refreshes what was read once, when settings, workspace folders or task.toml files change. */
export function watchTasks(index: TaskIndex, grades: GradeIndex): Disposable {
  const store = new DisposableStore();
  let timer: NodeJS.Timeout | undefined;
  const refreshSoon = (): void => {
    clearTimeout(timer);
    // Not awaited: the tree hears of it.
    if (index.wasRead) timer = setTimeout(() => void index.refresh(), settleMs);
  };
  store.add(corporaSetting.onDidChange(refreshSoon));
  store.add(showBundledTasksSetting.onDidChange(refreshSoon));
  store.add(
    storeFolderSetting.onDidChange(() => {
      grades.clear();
      refreshSoon();
    }),
  );
  store.add(vscode.workspace.onDidChangeWorkspaceFolders(refreshSoon));
  store.add(vscode.workspace.onDidGrantWorkspaceTrust(refreshSoon));
  const watcher = store.add(vscode.workspace.createFileSystemWatcher('**/task.toml'));
  store.add(watcher.onDidCreate(refreshSoon));
  store.add(watcher.onDidChange(refreshSoon));
  store.add(watcher.onDidDelete(refreshSoon));
  store.add({ dispose: () => clearTimeout(timer) });
  return store;
}
