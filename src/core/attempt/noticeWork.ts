import type { SnapshotSchedule } from '#core/snapshot/schedule.ts';
import type { RecordEvent } from './recordEvents.ts';

/** What is recorded tells when periodic snapshots are due. */
export function noticeWork(
  schedule: Pick<SnapshotSchedule, 'saved' | 'commandEnded' | 'active'>,
  { kind }: Pick<RecordEvent, 'kind'>,
): void {
  if (kind === 'saved' || kind === 'file') schedule.saved();
  else if (kind === 'command-ended') schedule.commandEnded();
  else if (kind === 'edit' || kind === 'activity') schedule.active();
}

/** The builder changed something himself, which he may soon want to have graded. */
export function isWork({ kind }: Pick<RecordEvent, 'kind'>): boolean {
  return kind === 'edit' || kind === 'saved' || kind === 'file' || kind === 'command-ended';
}
