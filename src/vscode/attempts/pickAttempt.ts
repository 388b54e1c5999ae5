import * as vscode from 'vscode';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { CancelledError, UserError } from '#core/base/errors.ts';
import { isTreeNode } from '#vscode/tree/nodes.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import type { AttemptRoom } from './ports.ts';
import { attemptSummary } from './words.ts';

/** The attempt that a command is about: the row's, an id, this window's where `ofWindow`, or the person's choice. */
export async function pickAttempt(
  room: Pick<AttemptRoom, 'list' | 'read'>,
  argument: unknown,
  options: { readonly title: string; readonly ofWindow: boolean },
): Promise<AttemptRecord> {
  if (isTreeNode(argument) && argument.kind === 'attempt') return argument.record;
  if (typeof argument === 'string') return room.read(argument);
  const own = options.ofWindow ? windowAttemptId() : undefined;
  if (own !== undefined) return room.read(own);
  const records = await room.list();
  if (records.length === 0) {
    throw new UserError('There are no attempts yet.', { nextStep: 'Start one on a task of the Tasks view.' });
  }
  const items = records.map((record) => ({
    label: record.task.name,
    description: attemptSummary(record),
    detail: new Date(record.createdAt).toLocaleString(),
    record,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: options.title,
    placeHolder: 'Choose an attempt',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (!picked) throw new CancelledError();
  return picked.record;
}

/** This window's attempt. Errors: `UserError` where no workspace is open. */
export function requireWindowAttempt(): string {
  const id = windowAttemptId();
  if (id !== undefined) return id;
  throw new UserError('No workspace is open in this window.', {
    nextStep: 'Start or open an attempt from the Tasks view.',
  });
}
