import type { SnapshotSchedule } from '#core/snapshot/schedule.ts';
import type { RecordEvent } from './recordEvents.ts';

/** What is recorded tells when periodic snapshots are due. */
export function noticeWork(
  schedule: Pick<SnapshotSchedule, 'saved' | 'commandEnded' | 'active'>,
  { kind }: Pick<RecordEvent, 'kind'>,
): void {
  switch (kind) {
    case 'saved':
    case 'file':
      return schedule.saved();
    case 'command-ended':
      return schedule.commandEnded();
    case 'edit':
    case 'activity':
      return schedule.active();
    default:
  }
}
