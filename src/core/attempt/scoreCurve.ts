import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '#core/base/errors.ts';
import { gradeTask } from '#core/grading/grade.ts';
import { readGrade } from '#core/grading/store.ts';
import type { GradeEvent, GradeResult } from '#core/grading/types.ts';
import { isViewOnly, type SnapshotHead } from '#core/snapshot/types.ts';
import { readContract } from '#core/task/contract.ts';
import { contentDigest } from '#core/task/digest.ts';
import type { Task } from '#core/task/types.ts';
import { applyLine } from './clock.ts';
import { type AttemptContext, taskOf } from './context.ts';
import {
  type CurvePoint,
  chooseSnapshots,
  type ScoreCurve,
  type TimedSnapshot,
  timeSnapshots,
} from './curvePoints.ts';
import { attemptsAt, revealOutside } from './outsideReveals.ts';
import { readRecordLines } from './readRecordLog.ts';
import { recordFileOf } from './recorder.ts';
import { sourceOfSnapshot } from './snapshotSource.ts';
import { requireRestorable } from './snapshots.ts';
import { isOver } from './states.ts';
import type { AttemptRecord } from './types.ts';

export interface CurveOptions {
  /** Minutes of active time between two points; not asked where snapshots are named. */
  readonly everyMinutes?: number | undefined;
  /** Their ids. */
  readonly snapshots?: readonly string[] | undefined;
  /** Whoever asks is the task's author: also of practice that is not over. */
  readonly asAuthor?: boolean | undefined;
  /** As a grade's. */
  readonly hardened?: boolean | 'where declared' | undefined;
  readonly allowHostEnv?: (names: readonly string[]) => Promise<boolean>;
}

/** Progress, in order; the last one is always `curve`. */
export type CurveEvent =
  /** `known`: so many have a grade already. */
  | { readonly kind: 'planned'; readonly points: number; readonly known: number }
  | { readonly kind: 'grading'; readonly snapshot: string; readonly index: number; readonly points: number }
  | { readonly kind: 'grade'; readonly event: GradeEvent }
  | { readonly kind: 'point'; readonly point: CurvePoint }
  | { readonly kind: 'curve'; readonly curve: ScoreCurve };

const defaultEveryMinutes = 10;

/**
 * Grades past snapshots in fresh containers and puts their scores over the attempt's time. What is graded is kept apart
 * from the attempt's own grades, by the digest of the files, and not graded again. In the records of attempts at the task
 * that are not over it is a reveal.
 * Errors: `UserError`, also for an attempt whose builder could learn of it.
 */
export async function scoreCurve(
  context: AttemptContext,
  id: string,
  options: CurveOptions,
  emit: (event: CurveEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { store, locks } = context;
  requireUnseen(await store.read(id), options.asAuthor ?? false);
  const release = await locks.require(id);
  try {
    const record = await store.read(id);
    const task = await taskOf(record);
    const digest = await contentDigest(task.dir);
    const timed = await pointsOf(context, id, options);
    // Whoever still builds at the task could see it, in whatever attempt.
    const underWay = await attemptsAt(store, task.dir, { gradedDigest: digest });
    await revealOutside(context, underWay, { what: 'score-curve', of: id, tier: 'counts' });
    const kind = { digest, isHardened: isHardened(task, options.hardened) };
    const known = new Map<string, Known>();
    for (const { head } of timed) {
      const grade = await knownGrade(context, record, head, kind);
      if (grade) known.set(head.id, grade);
    }
    emit({ kind: 'planned', points: timed.length, known: known.size });
    const points: CurvePoint[] = [];
    for (const [index, one] of timed.entries()) {
      const { id: snapshot } = one.head;
      const had = known.get(snapshot);
      if (!had) emit({ kind: 'grading', snapshot, index, points: timed.length });
      const grade = had ?? (await gradeOne(context, record, task, kind, one, options, emit, signal));
      const point = pointOf(one, grade);
      points.push(point);
      emit({ kind: 'point', point });
    }
    const most = Math.max(0, ...points.map(({ reported }) => reported));
    const total = task.testCaseCount ?? (most > 0 ? most : null);
    const of = { name: record.task.name, digest };
    emit({ kind: 'curve', curve: { schemaVersion: 1, attempt: id, task: of, total, points } });
  } finally {
    await release();
  }
}

/** A curve tells how the hidden tests go: not to a builder who can still use it. */
function requireUnseen(record: AttemptRecord, asAuthor: boolean): void {
  if (isOver(record.state)) return;
  if (record.protocol)
    throw new UserError(
      `The attempt ${record.id} is measured and not over: a score curve would show its builder how the hidden tests go.`,
      { nextStep: 'Make it when the attempt has ended.' },
    );
  if (!asAuthor)
    throw new UserError(
      `The attempt ${record.id} is not over: its score curve shows how the hidden tests go.`,
      { nextStep: 'Make it when the attempt has ended, or say that you are the author of the task.' },
    );
}

async function pointsOf(
  { store, snapshots }: AttemptContext,
  id: string,
  { snapshots: named, everyMinutes = defaultEveryMinutes }: CurveOptions,
): Promise<TimedSnapshot[]> {
  const taken = snapshots.of(id);
  const heads = named ? await Promise.all(named.map((one) => taken.head(one))) : (await taken.list()).heads;
  const lines = readRecordLines(recordFileOf(store.dirOf(id)));
  const timed = await timeSnapshots(heads, lines, applyLine);
  const whole = named
    ? timed.filter(({ head }) => !isViewOnly(head))
    : chooseSnapshots(timed, everyMinutes * 60_000);
  if (whole.length > 0) return whole;
  throw new UserError(`The attempt ${id} has no snapshot that can be graded.`, {
    nextStep: 'Snapshots are taken while an attempt is worked in, and with each grade.',
  });
}

type Known = { readonly result: GradeResult; readonly by: CurvePoint['by'] };

/** What makes grades of the same files the same grade: points of one curve are all of one kind. */
interface GradeKind {
  /** The task's. */
  readonly digest: string;
  readonly isHardened: boolean;
}

function isHardened(task: Task, hardened: CurveOptions['hardened']): boolean {
  return hardened === 'where declared'
    ? readContract(task.config.metadata) !== undefined
    : (hardened ?? false);
}

/** Below the attempt, apart from its grades. */
function curveDir(
  context: AttemptContext,
  id: string,
  tree: string,
  { digest, isHardened }: GradeKind,
): string {
  const task = digest.replace(/^sha256:/, '').slice(0, 16);
  const name = `${tree.slice(0, 32)}-${task}${isHardened ? '-hardened' : ''}`;
  return path.join(context.store.dirOf(id), 'curve', name);
}

/** One that was made for a curve, or of the very snapshot; a grade that could not be made is made again. */
async function knownGrade(
  context: AttemptContext,
  record: AttemptRecord,
  { id, tree }: SnapshotHead,
  kind: GradeKind,
): Promise<Known | undefined> {
  const own = record.grades.filter((grade) => grade.snapshot === id);
  const places: { dir: string; by: CurvePoint['by'] }[] = [
    ...own.map(({ dir, official }) => ({ dir, by: official ? ('official' as const) : ('interim' as const) })),
    { dir: curveDir(context, record.id, tree, kind), by: 'curve' },
  ];
  for (const { dir, by } of places) {
    const result = await readGrade(dir).catch(() => undefined);
    if (!result || result.verdict === 'not graded' || result.task.digest !== kind.digest) continue;
    if ((result.evidence.mode === 'hardened') === kind.isHardened) return { result, by };
  }
  return undefined;
}

async function gradeOne(
  context: AttemptContext,
  record: AttemptRecord,
  task: Task,
  kind: GradeKind,
  { head }: TimedSnapshot,
  { hardened, allowHostEnv }: CurveOptions,
  emit: (event: CurveEvent) => void,
  signal: AbortSignal,
): Promise<Known> {
  const { store, snapshots, connect, log, hostEnv } = context;
  const restorable = await requireRestorable(snapshots.of(record.id), head.id, signal);
  await snapshots.of(record.id).pin(head.id);
  const outDir = curveDir(context, record.id, head.tree, kind);
  // Of a run that was cut short, or could not be made.
  await rm(outDir, { recursive: true, force: true });
  await mkdir(path.dirname(outDir), { recursive: true, mode: 0o700 });
  const temp = await mkdtemp(path.join(path.dirname(outDir), '.taking-'));
  try {
    const { source } = await sourceOfSnapshot(context, record, task, restorable, temp, signal);
    const forCurve = {
      rule: 'score-curve',
      message: `Graded afterwards, for the score curve of the attempt ${record.id}.`,
    };
    const events = gradeTask(
      task,
      { ...source, marks: [...source.marks, forCurve] },
      {
        ...{ storeDir: store.storeDir, outDir },
        ...(hardened === undefined ? {} : { hardened }),
        ...(allowHostEnv ? { allowHostEnv } : {}),
      },
      { connect, log, hostEnv },
      signal,
    );
    let result: GradeResult | undefined;
    for await (const event of events) {
      if (event.kind === 'finished') result = event.result;
      else emit({ kind: 'grade', event });
    }
    if (!result) throw new Error('The grade ended without a result.');
    return { result, by: 'curve' };
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

function pointOf({ head, clock }: TimedSnapshot, { result, by }: Known): CurvePoint {
  const { verdict, reason, counts, reward, dir } = result;
  const { activeMs, unpausedMs, wallMs } = clock;
  return {
    ...{ snapshot: head.id, at: head.at, activeMs, unpausedMs, wallMs, verdict },
    ...(reason === undefined ? {} : { reason }),
    ...{ passed: counts.passed, reported: counts.reported, reward, by, dir },
    byContainer: head.source === 'container',
  };
}
