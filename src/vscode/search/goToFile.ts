import * as vscode from 'vscode';
import { DisposableStore } from '#core/base/disposable.ts';
import { CancelledError } from '#core/base/errors.ts';
import { requireWindowAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { attemptUri } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { type ListedFile, listFiles } from './listFiles.ts';
import { placeOf } from './searchWorkspace.ts';

/** A quick pick draws more, but nobody scrolls so far; typing narrows the list down. */
const maxItems = 20_000;

interface FileItem extends vscode.QuickPickItem {
  readonly file?: ListedFile;
}

/** Opens a file of the workspace by its name. */
export function goToFile({ sessions }: { readonly sessions: WorkspaceSessions }): CommandHandler {
  return async () => {
    const session = await sessions.get(requireWindowAttempt());
    await session.requireThawed();
    const file = await pickFile((signal) => listFiles(placeOf(session), { useIgnoreFiles: true }, signal));
    await vscode.commands.executeCommand('vscode.open', attemptUri(session.id, file.path));
  };
}

/** The list opens at once and fills when the container has answered. */
async function pickFile(list: (signal: AbortSignal) => Promise<readonly ListedFile[]>): Promise<ListedFile> {
  const store = new DisposableStore();
  const controller = new AbortController();
  const pick = store.add(vscode.window.createQuickPick<FileItem>());
  try {
    pick.title = 'Go to file in workspace';
    pick.placeholder = 'Name or path of a file';
    pick.matchOnDescription = true;
    pick.busy = true;
    const answer = new Promise<ListedFile>((resolve, reject) => {
      store.add(
        pick.onDidAccept(() => {
          const file = pick.selectedItems[0]?.file;
          if (file) resolve(file);
        }),
      );
      store.add(pick.onDidHide(() => reject(new CancelledError())));
      list(controller.signal).then((files) => {
        pick.items = fileItems(files);
        pick.busy = false;
      }, reject);
    });
    pick.show();
    return await answer;
  } finally {
    controller.abort();
    store.dispose();
  }
}

/** File names first, as VS Code's own list has them. */
export function fileItems(files: readonly ListedFile[]): FileItem[] {
  const items: FileItem[] = files.slice(0, maxItems).map((file) => {
    const slash = file.text.lastIndexOf('/');
    return {
      label: `$(file) ${file.text.slice(slash + 1)}`,
      description: slash < 0 ? '' : file.text.slice(0, slash),
      file,
    };
  });
  if (files.length > maxItems) {
    items.push({ label: `$(info) ${files.length - maxItems} more files are not listed`, alwaysShow: true });
  }
  return items;
}
