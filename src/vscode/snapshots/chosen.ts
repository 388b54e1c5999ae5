import * as vscode from 'vscode';
import { requireWorkable } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { CancelledError } from '#core/base/errors.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import { cannot, type GradeAttemptDeps } from '#vscode/attempts/gradeAttempt.ts';
import type { ErrorReporter } from '#vscode/commands/reportError.ts';
import { readOnlyReason, type WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import { momentOf, originOf, sizeOf } from './words.ts';

export interface SnapshotDeps extends GradeAttemptDeps {
  readonly reportError: ErrorReporter;
  /** The files of an open workspace are others than before. */
  readonly onReset: (session: WorkspaceSession) => void;
}

/** A snapshot, and the attempt that it is of. */
export interface Chosen {
  readonly record: AttemptRecord;
  readonly head: SnapshotHead;
}

export interface SnapshotItem extends vscode.QuickPickItem {
  readonly head?: SnapshotHead;
}

/** The newest first. */
export function snapshotItems(heads: readonly SnapshotHead[], record: AttemptRecord): SnapshotItem[] {
  return heads.toReversed().map((head) => ({
    label: momentOf(head),
    description: originOf(head, record),
    detail: sizeOf(head),
    head,
  }));
}

export async function pickOne<T extends vscode.QuickPickItem>(
  items: readonly T[],
  title: string,
  placeHolder: string,
): Promise<T> {
  const options = { title, placeHolder, matchOnDescription: true, matchOnDetail: true };
  const picked = await vscode.window.showQuickPick(items, options);
  if (!picked) throw new CancelledError();
  return picked;
}

/** Errors: `UserError` that says why nothing can be done in the workspace now; `what` as in "reset". */
export async function requireOpenForChange(
  { sessions, room }: Pick<SnapshotDeps, 'sessions' | 'room'>,
  id: string,
  what: string,
): Promise<void> {
  const session = sessions.current(id);
  const record = await room.read(id);
  const block = session ? session.writeBlock : readOnlyReason(record, await room.isTaken(id));
  if (block !== undefined) throw cannot(what, block);
  requireWorkable(record);
}
