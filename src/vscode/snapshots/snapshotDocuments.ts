import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import { SnapshotDamagedError } from '#core/snapshot/types.ts';
import { SnapshotView } from '#core/snapshot/view.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import type { ReadDocument } from '#vscode/documents/readonlyFiles.ts';
import { maxFileBytes } from '#vscode/workspace/largeFiles.ts';
import { parseSnapshotUri } from './snapshotUri.ts';

/** Snapshots whose entries are held: a comparison reads of two, file after file. */
const heldViews = 4;

/** Files as they were; a symbolic link is shown as the path that it leads to. */
export function readSnapshotDocument(room: Pick<AttemptRoom, 'snapshots'>): ReadDocument {
  const views = new Map<string, Promise<SnapshotView>>();
  const viewOf = (attemptId: string, snapshotId: string): Promise<SnapshotView> => {
    const key = `${attemptId}/${snapshotId}`;
    const held = views.get(key);
    if (held) return held;
    const opening = openView(room, attemptId, snapshotId);
    views.set(key, opening);
    opening.catch(() => views.delete(key));
    for (const old of [...views.keys()].slice(0, -heldViews)) views.delete(old);
    return opening;
  };
  return async (uri) => {
    const { attemptId, snapshotId, name } = parseSnapshotUri(uri);
    try {
      const view = await viewOf(attemptId, snapshotId);
      const entry = view.entry(name);
      if (entry?.type === 'symlink') return Buffer.from(entry.linkName, 'latin1');
      if (entry?.type !== 'file') return undefined;
      if (entry.size > maxFileBytes)
        throw vscode.FileSystemError.Unavailable(
          'The file is too large for the editor: “e2e-swe attempt view” writes it out.',
        );
      return await view.readFile(name);
    } catch (error) {
      if (error instanceof SnapshotDamagedError) throw vscode.FileSystemError.Unavailable(error.message);
      // The attempt was deleted, or the snapshot is one that time has thinned out.
      if (error instanceof UserError) return undefined;
      throw error;
    }
  };
}

export async function openView(
  room: Pick<AttemptRoom, 'snapshots'>,
  attemptId: string,
  snapshotId: string,
): Promise<SnapshotView> {
  const store = await room.snapshots(attemptId);
  return SnapshotView.open(store, await store.head(snapshotId));
}
