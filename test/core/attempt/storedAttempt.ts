import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AttemptStore } from '#core/attempt/attemptStore.ts';
import type { HostClock } from '#core/attempt/hostClock.ts';
import type { AttemptProtocol } from '#core/attempt/protocol.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { recordFileOf } from '#core/attempt/recorder.ts';
import { RecordLog } from '#core/attempt/recordLog.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { nullLog } from '#core/base/log.ts';
import { submissionFromFolder } from '#core/grading/submission.ts';
import type { GradeResult } from '#core/grading/types.ts';
import { contentDigest } from '#core/task/digest.ts';
import { makeTask } from '../../fixtures/tasks/makeTask.ts';
import { record } from './support.ts';

/** An event, or a time that passes before the next one, in milliseconds. */
export type Happening = RecordEvent | number;

export interface StoredParts {
  readonly record?: Partial<AttemptRecord>;
  readonly happenings?: readonly Happening[];
  /** The final submission: files of the workdir. */
  readonly files?: Readonly<Record<string, string>>;
  /** The official grade; `verifier`: files of its verifier folder. */
  readonly grade?: Partial<GradeResult> & { readonly verifier?: Readonly<Record<string, string>> };
  /** Outputs of terminals: events of casts by their ids, `[seconds, 'o', text]`. */
  readonly casts?: Readonly<Record<string, readonly (readonly [number, string, string])[]>>;
}

const begin = Date.parse('2026-01-02T03:04:05.000Z');

/** Puts a finished attempt into a store as the product would have, without an engine. */
export async function storeAttempt(
  store: AttemptStore,
  taskDir: string,
  parts: StoredParts = {},
): Promise<AttemptRecord> {
  const digest = await contentDigest(taskDir);
  const made = record({ task: { name: path.basename(taskDir), path: taskDir, digest }, ...parts.record });
  await store.create(made);
  const dir = store.dirOf(made.id);
  await writeRecord(dir, parts.happenings ?? []);
  for (const [id, events] of Object.entries(parts.casts ?? {})) {
    await mkdir(path.join(dir, 'terminals'), { recursive: true });
    const lines = [{ version: 2, width: 80, height: 24 }, ...events].map((one) => JSON.stringify(one));
    await writeFile(path.join(dir, 'terminals', `${id}.cast`), `${lines.join('\n')}\n[0.5,"o","to`);
  }
  const submission = parts.files && (await submit(dir, parts.files));
  const grade = parts.grade && (await writeGrade(dir, made, parts.grade));
  return store.update(made.id, (old) => ({
    ...old,
    ...(submission ? { submission } : {}),
    ...(grade ? { grades: [...old.grades, grade] } : {}),
  }));
}

/** A task with a spec, outside of the store. */
export function aTask(dir: string, name = 'some-task'): Promise<string> {
  return makeTask(path.join(dir, 'corpus', name));
}

async function writeRecord(dir: string, happenings: readonly Happening[]): Promise<void> {
  if (happenings.length === 0) return;
  let now = 0;
  const clock: HostClock = {
    boot: 'boot-1',
    sleep: 'excluded',
    monoMs: () => 1_000 + now,
    utcMs: () => begin + now,
  };
  const log = await RecordLog.open(recordFileOf(dir), { log: nullLog, clock, reserveBytes: 1 << 12 });
  for (const happening of happenings)
    if (typeof happening === 'number') now += happening;
    else log.append(happening);
  await log.close();
}

async function submit(dir: string, files: Readonly<Record<string, string>>) {
  const [from, to] = [path.join(dir, '.from'), path.join(dir, 'submissions')];
  await mkdir(from, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(from, name)), { recursive: true });
    await writeFile(path.join(from, name), text);
  }
  await mkdir(to, { recursive: true });
  const { signal } = new AbortController();
  const { file, sha256 } = await submissionFromFolder(from, { roots: ['/app'], dir: to, signal });
  return { file, sha256, at: new Date(begin + 3_600_000).toISOString() };
}

async function writeGrade(
  attemptDir: string,
  { task, grades }: AttemptRecord,
  { verifier = {}, ...parts }: NonNullable<StoredParts['grade']>,
) {
  const dir = path.join(attemptDir, 'grades', String(grades.length + 1));
  for (const [name, text] of Object.entries(verifier)) {
    await mkdir(path.dirname(path.join(dir, 'verifier', name)), { recursive: true });
    await writeFile(path.join(dir, 'verifier', name), text);
  }
  const result: GradeResult = {
    schemaVersion: 1,
    task,
    verdict: 'resolved',
    reward: 1,
    rewards: { reward: 1 },
    counts: {
      ...{ expected: 2, reported: 2, passed: 2, failed: 0 },
      ...{ skipped: 0, pending: 0, other: 0, notReported: 0 },
    },
    tests: [],
    phases: [],
    evidence: { source: 'attempt' },
    marks: [],
    problems: [],
    startedAt: '2026-01-02T04:04:06.000Z',
    finishedAt: '2026-01-02T04:05:00.000Z',
    ...parts,
    dir,
  };
  await mkdir(dir, { recursive: true });
  await writeFile(path.join(dir, 'grade.json'), JSON.stringify(result));
  return { dir, verdict: result.verdict, at: result.finishedAt, official: true };
}

/** Conditions with something of everything that tells who a builder is. */
export const aProtocol: AttemptProtocol = {
  pseudonym: 'Zoë Builder-77',
  exposure: 'none',
  exposureNote: 'EXPOSURE-NOTE-77',
  experienceYears: 5,
  expertise: ['python'],
  aiPolicy: 'none',
  otherDevice: 'nothing',
  tier: 'counts',
  interimGrading: true,
  compensation: 'COMPENSATION-77',
  consent: 'CONSENT-77',
  recording: '/home/zoe77/screen.mkv',
};
