import * as vscode from 'vscode';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { UserError } from '#core/base/errors.ts';
import { diffSnapshots, resolved } from '#core/snapshot/diff.ts';
import type { SnapshotEntry, SnapshotHead } from '#core/snapshot/types.ts';
import { saveAll } from '#vscode/attempts/gradeAttempt.ts';
import { withCancel } from '#vscode/cancellation.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import { uriOfContainerPath } from '#vscode/workspace/containerPaths.ts';
import { isEditorFolderUri } from '#vscode/workspace/editorFolder.ts';
import { type Chosen, pickOne, type SnapshotDeps, snapshotItems } from './chosen.ts';
import { snapshotUri } from './snapshotUri.ts';
import { momentOf } from './words.ts';

/** More files than this make an editor that nobody reads. */
const maxFiles = 1_000;

/** What is otherwise in the workspace, whose own files stand on the right; of one that is not open, in the newest snapshot. */
export async function compareWithWorkspace(deps: SnapshotDeps, { record, head }: Chosen): Promise<void> {
  const session = deps.sessions.current(record.id);
  const isHere = session !== undefined && windowAttemptId() === record.id && session.writeBlock === undefined;
  if (isHere) await saveAll();
  const now = isHere
    ? await withCancel('Looking at the workspace', (signal) => session.open.takeSnapshot('activity', signal))
    : undefined;
  if (now) {
    await showChanges(deps, record, { older: head, newer: now.head, isLive: true });
    return;
  }
  const newest = await (await deps.room.snapshots(record.id)).newest();
  if (!newest || newest.id === head.id)
    throw new UserError('The workspace cannot be read now, and there is no newer snapshot to compare with.', {
      nextStep: 'Compare while it is open and not frozen, or with another snapshot.',
    });
  deps.grading.notifier.info(
    `The workspace cannot be read now: this compares with its newest snapshot, of ${momentOf(newest)}.`,
  );
  await showChanges(deps, record, { older: head, newer: newest, isLive: false });
}

export async function compareWithSnapshot(deps: SnapshotDeps, { record, head }: Chosen): Promise<void> {
  const { heads } = await (await deps.room.snapshots(record.id)).list();
  const others = heads.filter(({ id }) => id !== head.id);
  if (others.length === 0)
    throw new UserError('There is no other snapshot to compare with.', { nextStep: 'Take another one.' });
  const title = `Compare the snapshot of ${momentOf(head)}`;
  const { head: other = head } = await pickOne(snapshotItems(others, record), title, 'With which snapshot?');
  const [older, newer] = other.id < head.id ? [other, head] : [head, other];
  await showChanges(deps, record, { older, newer, isLive: false });
}

interface Pair {
  readonly older: SnapshotHead;
  readonly newer: SnapshotHead;
  /** The files of now stand for those of the newer one. */
  readonly isLive: boolean;
}

async function showChanges(deps: SnapshotDeps, record: AttemptRecord, pair: Pair): Promise<void> {
  const { notifier } = deps.grading;
  const store = await deps.room.snapshots(record.id);
  const [older, newer] = [await store.entries(pair.older), await store.entries(pair.newer)];
  const { shown, others } = changedFiles(older, newer);
  const other = othersSentence(others);
  const versus = pair.isLive ? 'the workspace' : momentOf(pair.newer);
  if (shown.length === 0) {
    notifier.info(`No file differs between ${momentOf(pair.older)} and ${versus}.${other}`);
    return;
  }
  if (shown.length > maxFiles)
    notifier.warn(`${shown.length} files differ: the first ${maxFiles} are shown.${other}`);
  else if (other) notifier.info(other.trim());
  const at = (head: SnapshotHead, entry: SnapshotEntry | undefined): vscode.Uri | undefined =>
    entry && snapshotUri({ attemptId: record.id, snapshotId: head.id, name: entry.name });
  const current = (entry: SnapshotEntry | undefined): vscode.Uri | undefined =>
    (pair.isLive && entry?.type === 'file' ? liveUri(record, entry.name) : undefined) ??
    at(pair.newer, entry);
  const rows = shown.slice(0, maxFiles).map(({ before, after }) => {
    const [original, modified] = [at(pair.older, before), current(after)];
    return [modified ?? original, original, modified];
  });
  const title = `${record.task.name}: ${momentOf(pair.older)} ↔ ${versus}`;
  await vscode.commands.executeCommand('vscode.changes', title, rows);
}

function othersSentence(others: number): string {
  if (others === 0) return '';
  const what = others === 1 ? 'One other difference' : `${others} other differences`;
  return ` ${what}, of folders, permissions or owners, cannot be shown.`;
}

/** Undefined for what the workspace's file system does not show. */
function liveUri(record: AttemptRecord, name: string): vscode.Uri | undefined {
  const uri = uriOfContainerPath({ id: record.id, record }, `/${name}`);
  return uri && !isEditorFolderUri(uri) ? uri : undefined;
}

interface ChangedFile {
  readonly before: SnapshotEntry | undefined;
  readonly after: SnapshotEntry | undefined;
}

/** Files and links whose content is another, by path; and how many other differences there are. */
function changedFiles(
  older: readonly SnapshotEntry[],
  newer: readonly SnapshotEntry[],
): { readonly shown: readonly ChangedFile[]; readonly others: number } {
  const [before, after] = [resolved(older), resolved(newer)];
  const { added, removed, changed, renamed } = diffSnapshots(older, newer);
  const readable = (entry: SnapshotEntry | undefined): SnapshotEntry | undefined =>
    entry?.type === 'file' || entry?.type === 'symlink' ? entry : undefined;
  const pairs: ChangedFile[] = [
    ...removed.map((name) => ({ before: readable(before.get(name)), after: undefined })),
    ...added.map((name) => ({ before: undefined, after: readable(after.get(name)) })),
    ...changed
      .filter(({ what }) => what.some((one) => one === 'content' || one === 'target' || one === 'type'))
      .map(({ name }) => ({ before: readable(before.get(name)), after: readable(after.get(name)) })),
    ...renamed.map(({ from, to }) => ({
      before: readable(before.get(from)),
      after: readable(after.get(to)),
    })),
  ];
  const shown = pairs
    .filter((one) => one.before || one.after)
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const all = added.length + removed.length + changed.length + renamed.length;
  return { shown, others: all - shown.length };
}

function nameOf({ before, after }: ChangedFile): string {
  return (after ?? before)?.name ?? '';
}
