import { throwIfCancelled, UserError } from '#core/base/errors.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import { noBody, type TarEntry } from '#core/container/tarStream.ts';
import type { SnapshotStore } from './store.ts';
import { isViewOnly, type SnapshotEntry, type SnapshotHead } from './types.ts';

/**
 * A snapshot as the archive that the submission of its moment was, entry for entry. Errors: `UserError` where the
 * snapshot lacks content; `SnapshotDamagedError`, and what was yielded before it is to be thrown away.
 */
export async function* restoreSnapshot(
  store: SnapshotStore,
  head: SnapshotHead,
  signal?: AbortSignal,
): AsyncGenerator<TarEntry> {
  requireWhole(head);
  for (const entry of await store.entries(head)) {
    throwIfCancelled(signal);
    yield {
      header: headerOf(entry),
      body: entry.type === 'file' ? store.blobs.stream(entry.sha256) : noBody,
    };
  }
}

/** Errors: `UserError` for a snapshot that is only for looking at. */
export function requireWhole(head: SnapshotHead): void {
  if (!isViewOnly(head)) return;
  const missing = head.skipped.filter(({ what }) => what !== 'special');
  const [first] = missing;
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
  throw new UserError(
    `The snapshot ${head.id} is for viewing only: it lacks "${fromBinary(first?.name ?? '')}"${more} (${first?.detail}).`,
    { nextStep: 'Choose another snapshot.' },
  );
}

function headerOf({ sha256: _, ...entry }: SnapshotEntry): TarEntry['header'] {
  return { ...entry, devMajor: 0, devMinor: 0, flag: flags[entry.type] };
}

const flags = { file: '0', hardlink: '1', symlink: '2', directory: '5' } as const;
