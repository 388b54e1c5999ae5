import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isCancellation, UserError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { gradeTask } from '#core/grading/grade.ts';
import type { AttemptSource, GradeEvent, GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import type { AttemptContext } from './context.ts';
import { attemptsAt, revealOutside } from './outsideReveals.ts';
import { type Tier, tierOf } from './protocol.ts';
import type { RecordEvent } from './recordEvents.ts';
import { reduceGrade } from './reduceGrade.ts';
import { keepReduced, nextGradeDir, sealedDirOf, unsealGrades } from './sealedGrades.ts';
import { isOver } from './states.ts';
import type { AttemptGrade, AttemptGradeOptions } from './types.ts';

export interface SourceGrade {
  readonly official: boolean;
  readonly snapshot: string | undefined;
  readonly options: AttemptGradeOptions;
}

/**
 * Grades what was taken of an attempt. The result is on disk, in the record too, before anybody sees it; and while the
 * attempt is open, nobody sees more of it than its tier shows: not what the tests print, not what the engine logs.
 */
export async function gradeSource(
  context: AttemptContext,
  task: Task,
  source: AttemptSource,
  how: SourceGrade,
  emit: (event: GradeEvent) => void,
  signal: AbortSignal,
  keep: (change: { readonly grades: readonly AttemptGrade[] }) => Promise<void>,
): Promise<void> {
  const { store } = context;
  const before = await store.read(source.id);
  const tier = isOver(before.state) ? 'full' : tierOf(before);
  const dir = await nextGradeDir(store.dirOf(source.id));
  const finish = async (result: GradeResult): Promise<GradeResult> => {
    const shown = reduceGrade({ ...result, dir }, tier);
    if (tier !== 'full' && !how.official) await keepReduced(shown);
    const { grades } = await store.read(source.id);
    await keep({ grades: [...grades, gradeOf(shown, how)] });
    const isEnded = isOver((await store.read(source.id)).state);
    if (tier !== 'full' && isEnded) await unsealGrades(store.dirOf(source.id));
    const shownTier = isEnded ? 'full' : tier;
    const all = { ...result, dir };
    context.recorders.append(source.id, gradedEvent(all, how, shownTier));
    await tellOthers(context, task, source.id, shownTier);
    return isEnded ? all : shown;
  };
  if (tier === 'full')
    await follow(context, task, source, { ...how.options, outDir: dir }, emit, signal, finish);
  else {
    const outDir = await sealedDirOf(dir);
    const options = { ...how.options, live: false, outDir };
    const { log, lines } = keptLog();
    await follow({ ...context, log }, task, source, options, quiet(emit), signal, async (result) => {
      if (lines.length > 0) await writeFile(path.join(outDir, 'log.txt'), lines.join(''));
      return finish(result);
    }).catch((error: unknown) => {
      throw withoutWords(error);
    });
  }
}

/** Whoever builds at the same task may be the same person: another attempt is no way to see more unnoticed. */
async function tellOthers(context: AttemptContext, task: Task, id: string, tier: Tier): Promise<void> {
  const others = await attemptsAt(context.store, task.dir, { except: id });
  await revealOutside(context, others, { what: 'attempt-grade', of: id, tier });
}

async function follow(
  context: Pick<AttemptContext, 'store' | 'connect' | 'log' | 'hostEnv' | 'prepared'>,
  task: Task,
  source: AttemptSource,
  options: AttemptGradeOptions & { readonly outDir: string },
  emit: (event: GradeEvent) => void,
  signal: AbortSignal,
  finish: (result: GradeResult) => Promise<GradeResult>,
): Promise<void> {
  const { store, connect, log, hostEnv } = context;
  const asked = { ...options, storeDir: store.storeDir };
  const deps = { connect, log, hostEnv, prepared: context.prepared.of(source.id) };
  for await (const event of gradeTask(task, source, asked, deps, signal))
    emit(event.kind === 'finished' ? { ...event, result: await finish(event.result) } : event);
}

/** Without what is printed: a build of the verifier's image names the files that it copies. */
function quiet(emit: (event: GradeEvent) => void): (event: GradeEvent) => void {
  return (event) => {
    if (event.kind === 'phase' || event.kind === 'finished') emit(event);
  };
}

/** A log that is kept with the grade instead. */
function keptLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const say = (level: string) => (message: string) => void lines.push(`${level}: ${message}\n`);
  const log = {
    ...{ trace: say('trace'), debug: say('debug'), info: say('info') },
    ...{ warn: say('warning'), error: say('error') },
  };
  return { log, lines };
}

/** What nobody expected may hold anything: its kind and its place in our code are all that is told of it. */
function withoutWords(error: unknown): unknown {
  if (error instanceof UserError || isCancellation(error)) return error;
  const [name, stack] = error instanceof Error ? [error.name, error.stack ?? ''] : ['unknown', ''];
  const told = new Error(`The grade broke (${name}).`);
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
  told.stack = [`Error: ${told.message}`, ...frames].join('\n');
  return told;
}

function gradedEvent(
  { dir, verdict, counts, evidence }: GradeResult,
  { official, snapshot }: SourceGrade,
  tier: Tier,
): RecordEvent {
  const submission = evidence.submission?.sha256;
  return {
    kind: 'graded',
    official,
    dir: path.basename(dir),
    verdict,
    ...(submission === undefined ? {} : { submission }),
    ...(snapshot === undefined ? {} : { snapshot }),
    revealed: { tier, passed: counts.passed, total: counts.reported },
  };
}

function gradeOf({ dir, verdict, finishedAt }: GradeResult, how: SourceGrade): AttemptGrade {
  const { official, snapshot } = how;
  return { dir, verdict, at: finishedAt, official, ...(snapshot === undefined ? {} : { snapshot }) };
}
