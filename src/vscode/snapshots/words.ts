import type { AttemptRecord } from '#core/attempt/types.ts';
import { isViewOnly, type SnapshotHead, type SnapshotReason } from '#core/snapshot/types.ts';
import { verdictLabel } from '#vscode/grading/words.ts';

const reasons: Readonly<Record<SnapshotReason, string>> = {
  save: 'after a save',
  command: 'after a command',
  activity: 'while somebody worked',
  grade: 'before a grade',
  submit: 'at the submission',
  fork: 'before a fork',
  reset: 'before a reset',
  manual: 'by hand',
};

export function momentOf({ at }: Pick<SnapshotHead, 'at'>): string {
  return new Date(at).toLocaleString();
}

/** "before a grade · Unresolved": its grades show their verdict at every tier. */
export function originOf(head: SnapshotHead, { grades }: Pick<AttemptRecord, 'grades'>): string {
  const graded = grades.findLast(({ snapshot }) => snapshot === head.id);
  return [reasons[head.reason], ...(graded ? [verdictLabel(graded.verdict)] : [])].join(' · ');
}

/** "12 entries, 3.4 MB", and what keeps it from being whole. */
export function sizeOf(head: SnapshotHead): string {
  const notes = [
    `${head.entries} ${head.entries === 1 ? 'entry' : 'entries'}, ${bytesLabel(head.bytes)}`,
    ...(isViewOnly(head) ? [`for viewing only: ${head.skipped.length} skipped`] : []),
    ...(head.source === 'container' ? ["by the container's tools"] : []),
  ];
  return notes.join(' · ');
}

export function bytesLabel(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
