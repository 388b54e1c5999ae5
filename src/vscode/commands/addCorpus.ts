import * as vscode from 'vscode';
import { chooseFolders } from '#vscode/chooseFolder.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import type { Notifier } from '#vscode/notify.ts';
import { corporaSetting } from '#vscode/settings/corpora.ts';
import type { CommandHandler } from './commandIds.ts';

export interface AddCorpusDeps {
  readonly index: TaskIndex;
  readonly notifier: Notifier;
}

/** Adds folders of tasks to the setting: the folder given, or those that the person chooses. */
export function addCorpus(deps: AddCorpusDeps): CommandHandler {
  return async (argument) => {
    const folders = argument instanceof vscode.Uri ? [argument.fsPath] : await askForFolders();
    const known = corporaSetting.get();
    const added = folders.filter((folder) => !known.includes(folder));
    if (added.length > 0) await corporaSetting.update([...known, ...added]);
    await deps.index.refresh();
    for (const folder of folders) {
      const corpus = deps.index.corpora.find((candidate) => candidate.path === folder);
      if (corpus && corpus.entries.length === 0) {
        deps.notifier.warn(`${folder} was added, but holds no task folders: a task has a task.toml file.`);
      }
    }
  };
}

async function askForFolders(): Promise<string[]> {
  const uris = await chooseFolders({ title: 'Choose a folder of tasks', openLabel: 'Add', many: true });
  return uris.map((uri) => uri.fsPath);
}
