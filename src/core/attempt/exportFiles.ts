import { throwIfCancelled } from '#core/base/errors.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import { excludeMatcher } from '#core/grading/excludes.ts';
import { readSubmission } from '#core/grading/submission.ts';
import type { Mark } from '#core/report/types.ts';
import { restoreSnapshot } from '#core/snapshot/restore.ts';
import { isViewOnly } from '#core/snapshot/types.ts';
import { normaliseArtifacts } from '#core/task/artifacts.ts';
import type { Task } from '#core/task/types.ts';
import type { ArchiveEntry } from '#core/trial/archive.ts';
import { AttemptSnapshots } from './attemptSnapshots.ts';
import type { AttemptStore } from './attemptStore.ts';
import type { AttemptRecord } from './types.ts';

/** The final submission; without one, the newest snapshot that is whole. */
export async function filesOf(
  store: AttemptStore,
  record: AttemptRecord,
  task: Task,
  signal: AbortSignal,
): Promise<{ readonly entries: AsyncIterable<ArchiveEntry>; readonly marks: Mark[] }> {
  const { submission } = record;
  if (submission)
    return {
      entries: readSubmission({ ...submission, bytes: 0, entries: [], skipped: [] }),
      marks: [],
    };
  const snapshots = new AttemptSnapshots(store).of(record.id);
  const { heads } = await snapshots.list();
  const head = heads.filter((one) => !isViewOnly(one)).toSorted((a, b) => (a.id < b.id ? 1 : -1))[0];
  if (!head)
    return {
      entries: none(),
      marks: [
        { rule: 'no-files', message: 'It has no submission and no whole snapshot: artifacts/ is empty.' },
      ],
    };
  const isExcluded = excludeMatcher(normaliseArtifacts(task));
  async function* kept(from: typeof head): AsyncGenerator<ArchiveEntry> {
    for await (const entry of restoreSnapshot(snapshots, from as NonNullable<typeof head>, signal))
      if (!isExcluded(fromBinary(entry.header.name))) yield entry;
  }
  return {
    entries: kept(head),
    marks: [
      {
        rule: 'files-of-snapshot',
        message: `It has no submission: artifacts/ is its snapshot ${head.id} of ${head.at}.`,
      },
    ],
  };
}

async function* none(): AsyncGenerator<ArchiveEntry> {}

export async function* noticeLinks(
  entries: AsyncIterable<ArchiveEntry>,
  links: string[],
  signal: AbortSignal,
): AsyncGenerator<ArchiveEntry> {
  for await (const entry of entries) {
    throwIfCancelled(signal);
    if (entry.header.type === 'symlink') links.push(fromBinary(entry.header.name));
    yield entry;
  }
}
