import * as vscode from 'vscode';
import { CancelledError, UserError } from '#core/base/errors.ts';
import type { Corpus, TaskIndex } from '#vscode/corpora/taskIndex.ts';
import { corporaSetting } from '#vscode/settings/corpora.ts';
import { isTreeNode } from '#vscode/tree/nodes.ts';
import type { CommandHandler } from './commandIds.ts';

/** Takes a folder out of the setting; nothing on disk is touched. */
export function removeCorpus(deps: { readonly index: TaskIndex }): CommandHandler {
  return async (argument) => {
    const corpus =
      isTreeNode(argument) && argument.kind === 'corpus' ? argument.corpus : await askForCorpus(deps.index);
    if (corpus.kind !== 'configured') {
      throw new UserError(`${corpus.label} is not one of the folders that you added.`, {
        nextStep:
          corpus.kind === 'bundled'
            ? 'Turn off the setting "Show bundled tasks" to hide it.'
            : 'Remove it from the workspace instead.',
      });
    }
    await corporaSetting.update(corporaSetting.get().filter((folder) => folder !== corpus.setting));
    await deps.index.refresh();
  };
}

async function askForCorpus(index: TaskIndex): Promise<Corpus> {
  await index.ready();
  const items = index.corpora
    .filter((corpus) => corpus.kind === 'configured')
    .map((corpus) => ({ label: corpus.label, description: corpus.path, corpus }));
  if (items.length === 0) {
    throw new UserError('No folder of tasks was added.', { nextStep: 'Add one with "Add folder of tasks".' });
  }
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Remove folder of tasks',
    placeHolder: 'Choose the folder to take off the list; its files stay',
  });
  if (!picked) throw new CancelledError();
  return picked.corpus;
}
