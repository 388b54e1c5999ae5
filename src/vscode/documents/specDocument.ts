import * as vscode from 'vscode';
import type { Task } from '#core/task/types.ts';
import type { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import type { TaskReader } from '#vscode/ports.ts';
import type { ReadDocument } from './readonlyFiles.ts';

export const specScheme = 'e2e-swe-spec';

/** The address of a task's spec; its file name is what the tab shows. */
export function specUri(task: Task): vscode.Uri {
  return vscode.Uri.from({
    scheme: specScheme,
    path: `/${task.name.replaceAll('/', '-')}.md`,
    query: encodeURIComponent(task.dir),
  });
}

/** Reads specs of listed tasks only: an address can come from anywhere, a link in a page included. */
export function readSpecDocument(
  index: Pick<TaskIndex, 'ready' | 'findByDir'>,
  reader: Pick<TaskReader, 'readSpec'>,
): ReadDocument {
  return async (uri) => {
    await index.ready();
    const task = index.findByDir(decodeURIComponent(uri.query))?.task;
    return task && new TextEncoder().encode(await reader.readSpec(task));
  };
}
