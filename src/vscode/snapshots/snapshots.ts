import type * as vscode from 'vscode';
import { awaitsStart, isOver } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { UserError } from '#core/base/errors.ts';
import { saveAll } from '#vscode/attempts/gradeAttempt.ts';
import { pickAttempt } from '#vscode/attempts/pickAttempt.ts';
import { withCancel } from '#vscode/cancellation.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import {
  type Chosen,
  pickOne,
  requireOpenForChange,
  type SnapshotDeps,
  type SnapshotItem,
  snapshotItems,
} from './chosen.ts';
import { compareWithSnapshot, compareWithWorkspace } from './compareSnapshots.ts';
import { forkSnapshot } from './forkSnapshot.ts';
import { gradeSnapshot } from './gradeSnapshot.ts';
import { openSnapshotFile } from './openSnapshotFile.ts';
import { resetToSnapshot } from './resetToSnapshot.ts';
import { momentOf, originOf, sizeOf } from './words.ts';

/** The snapshots of an attempt, and what can be done with one: a look, a comparison, a grade, a fork, a reset. */
export function snapshots(deps: SnapshotDeps): CommandHandler {
  return async (argument) => {
    const { id } = await pickAttempt(deps.room, argument, { title: 'Snapshots', ofWindow: true });
    const record = await deps.room.read(id);
    if (awaitsStart(record))
      throw new UserError(
        'The clock of this measured attempt has not been started: there are no snapshots.',
        {
          nextStep: 'Start the clock first.',
        },
      );
    const head = await chooseSnapshot(deps, record);
    if (!head) return takeOne(deps, id);
    const title = `Snapshot of ${momentOf(head)}, ${originOf(head, record)}`;
    const { run } = await pickOne(actionsOf(record), title, sizeOf(head));
    await run(deps, { record, head });
  };
}

/** Undefined: a new one is wanted. */
async function chooseSnapshot(deps: SnapshotDeps, record: AttemptRecord) {
  const { heads, damaged } = await (await deps.room.snapshots(record.id)).list();
  for (const { error } of damaged) deps.grading.log.warn(`A snapshot of ${record.id}: ${error.message}`);
  const { notifier, showLog } = deps.grading;
  if (damaged.length > 0)
    notifier.warn(`Damaged, and not listed: ${damaged.length} of the attempt’s snapshots.`, {
      title: 'Show log',
      run: showLog,
    });
  const mayTake = await requireOpenForChange(deps, record.id, 'kept').then(
    () => true,
    () => false,
  );
  if (heads.length === 0 && !mayTake)
    throw new UserError('The attempt has no snapshots.', {
      nextStep: 'They are taken while somebody works in it, and before each grade.',
    });
  const take: SnapshotItem[] = mayTake ? [{ label: '$(device-camera) Take a snapshot now' }] : [];
  const placeHolder =
    heads.length === 0 ? 'There are no snapshots yet: take the first one' : 'Choose a snapshot';
  const items = [...take, ...snapshotItems(heads, record)];
  return (await pickOne(items, `Snapshots of ${record.task.name}`, placeHolder)).head;
}

async function takeOne(deps: SnapshotDeps, id: string): Promise<void> {
  await requireOpenForChange(deps, id, 'kept');
  // What is only in an editor is in no snapshot.
  if (windowAttemptId() === id) await saveAll();
  const head = await withCancel('Taking a snapshot', (signal) => deps.room.snapshot(id, signal));
  deps.grading.notifier.info(`The snapshot of ${momentOf(head)} is taken: ${sizeOf(head)}.`);
}

interface Action extends vscode.QuickPickItem {
  readonly run: (deps: SnapshotDeps, chosen: Chosen) => Promise<void>;
}

function actionsOf({ state, protocol }: AttemptRecord): Action[] {
  const mayGrade = protocol?.interimGrading !== false || isOver(state);
  return [
    { label: '$(go-to-file) Open read-only…', run: openSnapshotFile },
    { label: '$(diff-multiple) Compare with the workspace', run: compareWithWorkspace },
    { label: '$(diff) Compare with another snapshot…', run: compareWithSnapshot },
    ...(mayGrade ? [{ label: '$(play) Grade it', run: gradeSnapshot }] : []),
    { label: '$(repo-forked) Fork into a new attempt', run: forkSnapshot },
    { label: '$(discard) Reset the workspace to it…', run: resetToSnapshot },
  ];
}
