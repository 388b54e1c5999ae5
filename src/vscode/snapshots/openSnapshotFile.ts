import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import { oneLine } from '#vscode/text.ts';
import { type Chosen, pickOne, type SnapshotDeps } from './chosen.ts';
import { openView } from './snapshotDocuments.ts';
import { snapshotUri } from './snapshotUri.ts';
import { bytesLabel, momentOf } from './words.ts';

/** Shows a file of a snapshot, read-only, in whatever editor is for its kind. */
export async function openSnapshotFile({ room }: SnapshotDeps, { record, head }: Chosen): Promise<void> {
  const view = await openView(room, record.id, head.id);
  const items = view
    .list()
    .filter(({ type }) => type === 'file' || type === 'symlink')
    .map(({ name, type, size, linkName }) => ({
      label: plain(`/${fromBinary(name)}`),
      description: type === 'file' ? bytesLabel(size) : plain(`→ ${fromBinary(linkName)}`),
      name,
    }));
  if (items.length === 0) throw new UserError(`There are no files in the snapshot of ${momentOf(head)}.`);
  const { name } = await pickOne(items, `Snapshot of ${momentOf(head)}`, 'Choose a file');
  const uri = snapshotUri({ attemptId: record.id, snapshotId: head.id, name });
  await vscode.commands.executeCommand('vscode.open', uri);
}

/** A name that looks like an icon is none. */
function plain(name: string): string {
  return oneLine(name).replaceAll('$(', '$\u2060(');
}
