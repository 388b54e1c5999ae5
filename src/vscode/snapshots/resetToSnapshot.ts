import * as vscode from 'vscode';
import type { ResetKind } from '#core/attempt/resetAttempt.ts';
import { CancelledError } from '#core/base/errors.ts';
import { saveAll } from '#vscode/attempts/gradeAttempt.ts';
import { withCancel } from '#vscode/cancellation.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import { type Chosen, pickOne, requireOpenForChange, type SnapshotDeps } from './chosen.ts';
import { momentOf } from './words.ts';

const kinds = [
  {
    label: 'Soft: put its files back',
    detail: 'What the snapshot holds becomes as it was. Files that came since stay.',
    how: 'soft',
  },
  {
    label: 'Hard: make the workspace what it was',
    detail: 'Files that came since are removed too.',
    how: 'hard',
  },
] as const;

/** Puts the workspace back after the person confirmed it; tells the snapshot that undoes it, and offers to. */
export async function resetToSnapshot(deps: SnapshotDeps, { record, head }: Chosen): Promise<void> {
  await requireOpenForChange(deps, record.id, 'reset');
  const title = `Reset the workspace to ${momentOf(head)}`;
  const { how } = await pickOne(kinds, title, 'What becomes of files that came since?');
  const removed = how === 'hard' ? 'Files that came since are removed.' : 'Files that came since stay.';
  const answer = await vscode.window.showWarningMessage(
    `Reset the workspace of ${record.task.name} to ${momentOf(head)}?`,
    {
      modal: true,
      detail: `Its files become what they were then. ${removed} A snapshot of how it is now is taken first, which undoes it.`,
    },
    'Reset',
  );
  if (answer !== 'Reset') throw new CancelledError();
  await reset(deps, { record, head }, how);
}

async function reset(deps: SnapshotDeps, { record, head }: Chosen, kind: ResetKind): Promise<void> {
  const { room, sessions, grading, reportError } = deps;
  const { id } = record;
  await requireOpenForChange(deps, id, 'reset');
  // What is only in an editor would be in no snapshot, and be written over the files later.
  if (windowAttemptId() === id) await saveAll();
  const before = await withCancel(`Resetting the workspace to ${momentOf(head)}`, (signal) =>
    room.reset(id, head.id, kind, signal),
  );
  const session = sessions.current(id);
  if (session) deps.onReset(session);
  const undo = (): Promise<void> =>
    reset(deps, { record, head: before }, 'hard').catch((error: unknown) => reportError('Undo reset', error));
  grading.notifier.info(
    `The workspace is as it was at ${momentOf(head)}. The snapshot ${before.id} of ${momentOf(before)} undoes it.`,
    { title: 'Undo', run: undo },
  );
}
