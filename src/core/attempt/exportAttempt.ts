import { rm } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, throwIfCancelled, UserError } from '#core/base/errors.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import { readGrade } from '#core/grading/store.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { Mark } from '#core/report/types.ts';
import { readSpec } from '#core/task/spec.ts';
import type { Task } from '#core/task/types.ts';
import { trajectoryProblems } from '#core/trial/atif.ts';
import { type ExportedTrial, exportTrial, makeEmpty } from '#core/trial/exportTrial.ts';
import { Anonymiser, hostIdentity, type Identity, mapStrings } from './anonymise.ts';
import type { AttemptStore } from './attemptStore.ts';
import { readExcerpts } from './castExcerpts.ts';
import { taskOf } from './context.ts';
import { filesOf, noticeLinks } from './exportFiles.ts';
import { exceptionOf, rewardsOf, workTimes } from './exportOutcome.ts';
import { taskMarks } from './gradeAttempt.ts';
import { attemptsAt, leaveReveal } from './outsideReveals.ts';
import { readRecordLines, readRecordLog } from './readRecordLog.ts';
import { recordFileOf } from './recorder.ts';
import { unsealGrades } from './sealedGrades.ts';
import { isOver } from './states.ts';
import { makeTrajectory } from './trajectory.ts';
import type { AttemptRecord } from './types.ts';

export interface ExportOptions {
  /** The trial's folder: new, or empty. */
  readonly dir: string;
  /** Without what tells who built it, or where. */
  readonly anonymised: boolean;
  /** Notes and reasons in people's own words, also where it is anonymised; there they are left out by default. */
  readonly freeText?: boolean | undefined;
  /** What identifies this machine; tests say another. */
  readonly identity?: Identity;
  readonly onProgress?: (message: string) => void;
}

export interface ExportedAttempt extends Pick<ExportedTrial, 'dir' | 'name' | 'manifest' | 'losses'> {
  readonly attempt: string;
  readonly steps: number;
  readonly anonymised: boolean;
  /** What there is to know of it beside its losses. */
  readonly marks: readonly Mark[];
}

/** What an anonymised export lacks, and what it does not look at; for people. */
export const anonymisedMeans =
  "Left out: the builder's pseudonym, notes, reasons and remarks in people's own words, and the names of this machine, its user and its folders. The files of the workspace (artifacts/) are as they are: look through them yourself.";

/**
 * Writes an attempt as a trial folder of Harbor (design.md §2), with its session as an ATIF trajectory. Errors:
 * `UserError` where it is measured and not over, where its task is gone, or where the folder is not empty. Nothing is
 * left of one that fails or is cancelled.
 */
export async function exportAttempt(
  store: AttemptStore,
  id: string,
  options: ExportOptions,
  signal: AbortSignal,
): Promise<ExportedAttempt> {
  const record = await store.read(id);
  requireExportable(record);
  const task = await taskOf(record);
  // A crash may have come between its end and this.
  if (isOver(record.state)) await unsealGrades(store.dirOf(id));
  // Of another attempt at the task that is open it holds what that one's grades may not show.
  const others = await attemptsAt(store, task.dir, { except: id });
  await leaveReveal(store, others, { what: 'attempt-grade', of: id, tier: 'full' });
  const dir = path.resolve(options.dir);
  await makeEmpty(dir);
  try {
    return await writeTrial(store, record, task, { ...options, dir }, signal);
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

/** What a builder may not see yet is not exported either. */
function requireExportable({ id, state, protocol }: AttemptRecord): void {
  if (state === 'preparing')
    throw new UserError(`The attempt ${id} is still being prepared.`, {
      nextStep: 'Wait until it is ready.',
    });
  if (protocol && !isOver(state) && state !== 'lost')
    throw new UserError(`The attempt ${id} is measured and not over: an export would reveal its grades.`, {
      nextStep: 'Submit it or give it up, then export it.',
    });
}

async function writeTrial(
  store: AttemptStore,
  record: AttemptRecord,
  task: Task,
  options: ExportOptions,
  signal: AbortSignal,
): Promise<ExportedAttempt> {
  const { dir, anonymised, onProgress } = options;
  const freeText = options.freeText ?? !anonymised;
  const anonymiser = new Anonymiser(anonymised ? identityOf(store, record, options) : new Map());
  const clean = <T>(value: T): T => wellFormed(anonymiser.value(value));
  onProgress?.('Reading the record');
  const trajectory = clean(await trajectoryOf(store, record, task, { anonymised, freeText }));
  const [problem] = trajectoryProblems(trajectory);
  if (problem !== undefined) throw new Error(`The trajectory of ${record.id} is not valid: ${problem}`);
  throwIfCancelled(signal);
  onProgress?.('Unpacking the submission');
  const links: string[] = [];
  const { entries, marks } = await filesOf(store, record, task, signal);
  const official = await officialGrade(record, marks);
  const rewards = rewardsOf(official, marks);
  const exception = exceptionOf(record, official, freeText);
  const trial = await exportTrial({
    task,
    dir,
    anonymised,
    entries: noticeLinks(entries, links, signal),
    skipped: official?.evidence.submission?.skipped ?? [],
    ...(official
      ? {
          verifier: {
            rewards,
            dir: path.join(official.dir, 'verifier'),
            startedAt: official.startedAt,
            finishedAt: official.finishedAt,
          },
        }
      : {}),
    ...(exception && { exception: clean(exception) }),
    trajectory,
    agent: trajectory.agent,
    agentTimes: workTimes(record),
    startedAt: record.createdAt,
    finishedAt: official?.finishedAt ?? record.history.at(-1)?.at ?? record.createdAt,
  });
  if (anonymised)
    await anonymiser.folder(path.join(dir, 'verifier'), (file) =>
      marks.push({
        rule: 'too-large',
        message: `${path.relative(dir, file)} is too large to be looked through: it is left out.`,
      }),
    );
  throwIfCancelled(signal);
  if (links.length > 0)
    marks.push({
      rule: 'links-kept',
      message: `${links.length} symbolic ${links.length === 1 ? 'link is' : 'links are'} in artifacts/, as ${links.slice(0, 3).join(', ')}: Harbor's regrade copies what they lead to on its machine.`,
    });
  const exported = {
    attempt: record.id,
    steps: trajectory.steps.length,
    anonymised,
    manifest: trial.manifest,
    losses: clean(trial.losses),
    marks: clean([...marks, ...(await taskMarks(record, task))]),
  };
  const about = {
    schemaVersion: 1,
    ...exported,
    ...(anonymised ? { meaning: anonymisedMeans } : {}),
  };
  await writeFileAtomic(path.join(dir, 'export.json'), `${JSON.stringify(about, null, 2)}\n`);
  return { dir: trial.dir, name: trial.name, ...exported };
}

function identityOf(store: AttemptStore, record: AttemptRecord, options: ExportOptions): Identity {
  const identity = new Map(
    options.identity ?? hostIdentity([store.storeDir, record.task.path, path.dirname(record.task.path)]),
  );
  if (record.protocol) identity.set(record.protocol.pseudonym, 'p1');
  return identity;
}

/** Half of a surrogate pair, which a cut leaves, is refused by JSON readers of other languages. */
function wellFormed<T>(value: T): T {
  return mapStrings(value, (text) => text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

async function trajectoryOf(
  store: AttemptStore,
  record: AttemptRecord,
  task: Task,
  { anonymised, freeText }: { readonly anonymised: boolean; readonly freeText: boolean },
) {
  const dir = store.dirOf(record.id);
  const file = recordFileOf(dir);
  let damaged = 0;
  async function* lines() {
    for await (const read of readRecordLog(file))
      if ('line' in read) yield read.line;
      else damaged++;
  }
  const outputs = await readExcerpts(dir, lines());
  const { pseudonym, exposure, experienceYears, expertise, aiPolicy, otherDevice, tier, interimGrading } =
    record.protocol ?? {};
  const conditions = record.protocol && {
    ...{ pseudonym, exposure, experienceYears, expertise, aiPolicy, otherDevice, tier, interimGrading },
    ...(anonymised ? { pseudonym: 'p1' } : record.protocol),
  };
  return makeTrajectory({
    record,
    spec: await readSpec(task),
    lines: readRecordLines(file),
    outputs,
    freeText,
    extra: {
      task: record.task.name,
      task_digest: record.task.digest,
      state: record.state,
      budget_sec: record.budgetSec,
      ...(conditions ? { conditions } : {}),
      ...(record.debrief && freeText ? { debrief: record.debrief } : {}),
    },
    notes:
      damaged > 0 ? `The record is damaged at ${damaged} places; what is around them was read.` : undefined,
  });
}

async function officialGrade({ grades }: AttemptRecord, marks: Mark[]): Promise<GradeResult | undefined> {
  const official = grades.findLast((grade) => grade.official);
  try {
    return official && (await readGrade(official.dir));
  } catch (error) {
    marks.push({
      rule: 'grade-unreadable',
      message: `The official grade is left out: ${errorMessage(error)}`,
    });
    return undefined;
  }
}
