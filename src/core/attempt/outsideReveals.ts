import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '#core/base/errors.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import { contentDigest } from '#core/task/digest.ts';
import type { AttemptStore } from './attemptStore.ts';
import type { AttemptContext } from './context.ts';
import { attemptsUnderWay } from './hiddenTests.ts';
import { type RecordEvent, recordEvent } from './recordEvents.ts';
import type { AttemptRecord } from './types.ts';

type Revealed = Extract<RecordEvent, { readonly kind: 'revealed-outside' }>;

/** What was shown of a task's hidden side, elsewhere than in a grade of the attempt itself. */
export type OutsideReveal = Omit<Revealed, 'kind' | 'at'>;

/** Until the record takes them up: two processes never write one record. */
function folderOf(dir: string): string {
  return path.join(dir, 'reveals');
}

/** The attempts, but for one, that have not ended at a task as it is on disk now, or was when it was graded. */
export async function attemptsAt(
  store: Pick<AttemptStore, 'list'>,
  taskDir: string,
  { gradedDigest, except }: { readonly gradedDigest?: string | undefined; readonly except?: string } = {},
): Promise<readonly AttemptRecord[]> {
  const records = attemptsUnderWay(await store.list()).filter(({ id }) => id !== except);
  // A digest reads the whole task.
  if (records.length === 0) return [];
  const digest = await contentDigest(taskDir).catch(() => undefined);
  return attemptsUnderWay(records, { path: taskDir, digests: [digest, gradedDigest] });
}

/** Leaves word with each of the attempts; whoever writes its record next takes it up. */
export async function leaveReveal(
  store: Pick<AttemptStore, 'dirOf'>,
  attempts: readonly Pick<AttemptRecord, 'id'>[],
  reveal: OutsideReveal,
): Promise<void> {
  const event: Revealed = { kind: 'revealed-outside', at: new Date().toISOString(), ...reveal };
  for (const { id } of attempts) {
    const folder = folderOf(store.dirOf(id));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${event.at.replaceAll(':', '')}-${randomBytes(3).toString('hex')}.json`;
    await writeFileAtomic(path.join(folder, name), `${JSON.stringify(event)}\n`);
  }
}

/** As `leaveReveal`; the records that this process writes take it up at once. */
export async function revealOutside(
  { store, recorders }: Pick<AttemptContext, 'store' | 'recorders'>,
  attempts: readonly Pick<AttemptRecord, 'id'>[],
  reveal: OutsideReveal,
): Promise<void> {
  await leaveReveal(store, attempts, reveal);
  for (const { id } of attempts) await recorders.peek(id)?.takeUpReveals();
}

/** Hands over what was left, the oldest first, then forgets it. The caller has the attempt's lock. */
export async function takeUpReveals(
  dir: string,
  take: (events: readonly RecordEvent[]) => Promise<void>,
): Promise<void> {
  const folder = folderOf(dir);
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const events: RecordEvent[] = [];
  for (const name of names) {
    try {
      events.push(recordEvent.parse(JSON.parse(await readFile(path.join(folder, name), 'utf8'))));
    } catch {
      // Written whole or not at all: this is none of ours.
    }
  }
  if (events.length > 0) await take(events);
  for (const name of names) await rm(path.join(folder, name), { force: true });
}
