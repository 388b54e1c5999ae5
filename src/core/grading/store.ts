import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { errorCode, UserError } from '#core/base/errors.ts';
import type { Counts, Verdict } from '#core/report/types.ts';
import type { Task } from '#core/task/types.ts';
import type { GradeResult, SubmissionSource } from './types.ts';

/** A stored grade in one row. */
export interface GradeSummary {
  readonly dir: string;
  readonly id: string;
  readonly verdict: Verdict;
  readonly reason?: string;
  readonly source: SubmissionSource['kind'];
  readonly counts: Counts;
  /** ISO 8601 UTC. */
  readonly startedAt: string;
}

/** What every later version must be able to read; the rest is trusted, since only we write the store. */
const stored = z.looseObject({
  schemaVersion: z.literal(1),
  task: z.object({ name: z.string(), path: z.string(), digest: z.string() }),
  verdict: z.enum(['resolved', 'unresolved', 'not graded']),
  reason: z.string().optional(),
  counts: z.looseObject({ reported: z.number(), passed: z.number() }),
  tests: z.array(z.looseObject({ id: z.string(), name: z.string(), status: z.string() })),
  evidence: z.looseObject({ source: z.enum(['folder', 'tar', 'attempt', 'solution', 'empty']) }),
  startedAt: z.string(),
});

/** Makes the folder of a new grade: `outDir`, or a new one below it where it holds something already, or one in the store. */
export async function makeGradeDir(
  options: { readonly storeDir: string; readonly outDir?: string | undefined },
  task: Pick<Task, 'dir'>,
): Promise<string> {
  const id = `${new Date()
    .toISOString()
    .replace(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z')}-${randomBytes(3).toString('hex')}`;
  const dir =
    options.outDir === undefined
      ? path.join(gradesFolder(options.storeDir, task), id)
      : await outFolder(path.resolve(options.outDir), id);
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UserError(
      `The folder "${dir}" for the grade cannot be made (${errorCode(error) ?? 'error'}).`,
      { nextStep: 'Choose another folder.', cause: error },
    );
  }
  return dir;
}

/** Grades of a task in the store, newest first; a folder without a readable grade.json is passed over. */
export async function listGrades(storeDir: string, task: Task): Promise<GradeSummary[]> {
  const folder = gradesFolder(storeDir, task);
  const ids = await readdir(folder).catch(() => []);
  const read = await Promise.all(ids.map((id) => readGrade(path.join(folder, id)).catch(() => undefined)));
  return read
    .flatMap((grade) =>
      grade && path.resolve(grade.task.path) === path.resolve(task.dir) ? [summarise(grade)] : [],
    )
    .sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Errors: `UserError` for a folder that holds no grade of a version we know. */
export async function readGrade(dir: string): Promise<GradeResult> {
  const file = path.join(dir, 'grade.json');
  let data: unknown;
  try {
    data = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UserError(`"${file}" cannot be read as a grade.`, {
      nextStep: 'Choose a folder that a grade was written to.',
      cause: error,
    });
  }
  const parsed = stored.safeParse(data);
  if (!parsed.success)
    throw new UserError(`"${file}" is no grade that this version reads.`, {
      nextStep: 'Use the version that wrote it.',
      cause: parsed.error,
    });
  return { ...(data as GradeResult), dir };
}

/** Grades outside an attempt (design.md §2). */
function gradesFolder(storeDir: string, task: Pick<Task, 'dir'>): string {
  return path.join(storeDir, 'grades', path.basename(task.dir));
}

async function outFolder(outDir: string, id: string): Promise<string> {
  const entries = await readdir(outDir).catch(() => []);
  return entries.length === 0 ? outDir : path.join(outDir, id);
}

function summarise(grade: GradeResult): GradeSummary {
  return {
    dir: grade.dir,
    id: path.basename(grade.dir),
    verdict: grade.verdict,
    ...(grade.reason === undefined ? {} : { reason: grade.reason }),
    source: grade.evidence.source,
    counts: grade.counts,
    startedAt: grade.startedAt,
  };
}
