import { openWorkspaceWindow } from '#vscode/attempts/openAttempt.ts';
import { prepareWorkspace } from '#vscode/attempts/prepareWorkspace.ts';
import { requireTrust } from '#vscode/trust.ts';
import type { Chosen, SnapshotDeps } from './chosen.ts';
import { momentOf } from './words.ts';

/** A new attempt with the files of a snapshot; offers to open it, since somebody may be at work here. */
export async function forkSnapshot(deps: SnapshotDeps, { record, head }: Chosen): Promise<void> {
  const { room, attempts, tasks, grading } = deps;
  requireTrust(await tasks.of(record));
  try {
    const made = await prepareWorkspace({ attempts, log: grading.log }, record.task.name, (signal) =>
      room.fork(record.id, head.id, signal),
    );
    grading.notifier.info(
      `A new attempt at ${record.task.name} begins with the files of ${momentOf(head)}: ${made.id}.`,
      { title: 'Open attempt', run: () => openWorkspaceWindow(made.id) },
    );
  } finally {
    await attempts.reload();
  }
}
