import path from 'node:path';
import type { ContainerHandle } from '#core/container/engine.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import { writeTar } from '#core/container/tarStream.ts';
import { archiveEntries, archivesOf } from '#core/grading/submission.ts';
import type { Mark } from '#core/report/types.ts';
import { unexplained } from '#core/snapshot/compareTaken.ts';
import { requireWhole, restoreSnapshot } from '#core/snapshot/restore.ts';
import type { SnapshotStore } from '#core/snapshot/store.ts';
import { TarTaker } from '#core/snapshot/takeFromTar.ts';
import type { SnapshotHead, SnapshotReason } from '#core/snapshot/types.ts';
import type { Task } from '#core/task/types.ts';
import type { AttemptContext } from './context.ts';
import { ensureWorkspace } from './openAttempt.ts';
import { requireWorkable } from './states.ts';
import { type TakenSubmission, takeSubmission } from './takeSubmission.ts';
import type { AttemptRecord } from './types.ts';

/** The workspace as it is now, by the engine alone; kept until the attempt is deleted. */
export async function snapshotAttempt(
  context: AttemptContext,
  id: string,
  reason: SnapshotReason,
  signal: AbortSignal,
): Promise<SnapshotHead> {
  const release = await context.locks.require(id);
  try {
    const record = await context.store.read(id);
    requireWorkable(record);
    const { container } = await ensureWorkspace(context, await context.connect(), record, true, signal);
    return await takeExact(context, record, container, reason, signal);
  } finally {
    await release();
  }
}

/** Frozen while it is taken. */
export function takeExact(
  { freezes, snapshots }: AttemptContext,
  record: AttemptRecord,
  container: ContainerHandle,
  reason: SnapshotReason,
  signal: AbortSignal,
): Promise<SnapshotHead> {
  return freezes.during(record.id, container, 'snapshot', async () => {
    const spec = { reason, source: 'engine', roots: record.roots } as const;
    const { head } = await snapshots.of(record.id).take(spec, async (writer) => {
      const taker = new TarTaker(writer);
      const entries = archiveEntries(archivesOf(container, record.roots, signal));
      for await (const _ of taker.through(entries, signal));
      return taker.tree();
    });
    return head;
  });
}

/** A submission and, from the same pass of the engine's tar, the snapshot that it is of. The caller froze it. */
export async function takeSubmissionAndSnapshot(
  { store, snapshots }: AttemptContext,
  record: AttemptRecord,
  task: Task,
  container: ContainerHandle,
  options: {
    readonly reason: 'grade' | 'submit';
    readonly onProgress: (message: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly taken: TakenSubmission; readonly snapshot: SnapshotHead }> {
  const { reason, ...how } = options;
  const folder = path.join(store.dirOf(record.id), 'submissions');
  let taken: TakenSubmission | undefined;
  const spec = { reason, source: 'engine', roots: record.roots } as const;
  const { head } = await snapshots.of(record.id).take(spec, async (writer) => {
    const taker = new TarTaker(writer);
    taken = await takeSubmission(record, folder, task, container, {
      ...how,
      through: (entries) => taker.through(entries, options.signal),
    });
    return taker.tree();
  });
  return { taken: taken as unknown as TakenSubmission, snapshot: head };
}

/** Where the container's tools and the engine do not say the same of what did not change between them. */
export async function mismatchMarks(
  { snapshots }: AttemptContext,
  id: string,
  before: { readonly head: SnapshotHead; readonly startMs: number } | undefined,
  exact: SnapshotHead,
): Promise<Mark[]> {
  if (!before) return [];
  const store = snapshots.of(id);
  const [said, is] = await Promise.all([store.entries(before.head), store.entries(exact)]);
  const paths = unexplained(said, is, Math.floor(before.startMs / 1000));
  if (paths.length === 0) return [];
  const some = paths.slice(0, maxNamed).map((name) => `/${fromBinary(name)}`);
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : '';
  return [
    {
      rule: 'snapshot-mismatch',
      message: `The container's own tools show ${some.join(', ')}${more} otherwise than the engine does.`,
    },
  ];
}

const maxNamed = 5;

/** A snapshot that can be restored: every content is there and whole. Errors: `UserError`, `SnapshotDamagedError`. */
export async function requireRestorable(
  store: SnapshotStore,
  id: string,
  signal: AbortSignal,
): Promise<SnapshotHead> {
  const head = await store.head(id);
  requireWhole(head);
  for await (const { body } of restoreSnapshot(store, head, signal)) for await (const _ of body);
  return head;
}

/** Puts a snapshot's files into a running container; with `clear`, what else is at its roots goes before. */
export async function putSnapshot(
  container: ContainerHandle,
  store: SnapshotStore,
  head: SnapshotHead,
  options: { readonly clear: boolean; readonly signal: AbortSignal },
): Promise<void> {
  if (options.clear) {
    const { exitCode, stderr } = await container.exec(
      { command: ['sh', '-c', clearScript, 'sh', ...head.roots], user: '0', workdir: '/' },
      options.signal,
    );
    if (exitCode !== 0) throw new Error(`It could not be cleared: ${stderr.toString().trim().slice(0, 500)}`);
  }
  await container.putArchive('/', writeTar(restoreSnapshot(store, head, options.signal)), options.signal);
}

/** A root that is a folder may be a mount: it stays, empty. */
const clearScript = `for r do
  if [ -d "$r" ] && [ ! -L "$r" ]; then
    cd "$r" || exit
    if command -v find >/dev/null; then find . ! -name . -prune -exec rm -rf {} +; else rm -rf ./* ./.[!.]* ./..?*; fi || exit
    cd /
  else rm -f "$r" || exit; fi
done`;
