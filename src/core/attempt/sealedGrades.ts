import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '#core/base/errors.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import { readGrade } from '#core/grading/store.ts';
import type { GradeResult } from '#core/grading/types.ts';

/** Below an attempt's folder. What lies in `sealed` is shown to nobody before the attempt is over. */
const gradesFolder = 'grades';
const sealedFolder = 'sealed';

/** `grades/1`, `grades/2`, …: one more than the last, also where that was cancelled. */
export async function nextGradeDir(dir: string): Promise<string> {
  const names = await Promise.all([gradesFolder, sealedFolder].map((folder) => namesIn(dir, folder)));
  await mkdir(path.join(dir, gradesFolder), { recursive: true, mode: 0o700 });
  const numbers = names.flat().map(Number).filter(Number.isInteger);
  return path.join(dir, gradesFolder, String(Math.max(0, ...numbers) + 1));
}

/** Where all of the grade of `grades/n` is kept until its attempt is over; for its owner's eyes only. */
export async function sealedDirOf(gradeDir: string): Promise<string> {
  const sealed = path.join(path.dirname(path.dirname(gradeDir)), sealedFolder);
  await mkdir(sealed, { recursive: true, mode: 0o700 });
  await chmod(sealed, 0o700);
  return path.join(sealed, path.basename(gradeDir));
}

/** Whether a folder of the store is, or is in, what an attempt has sealed. */
export function isSealed(storeDir: string, dir: string): boolean {
  const [attempts, , , folder] = path.relative(storeDir, dir).split(path.sep);
  return attempts === 'attempts' && folder === sealedFolder;
}

/** Keeps what is shown of a sealed grade where its grade will be. */
export async function keepReduced(result: GradeResult): Promise<void> {
  await mkdir(result.dir, { recursive: true, mode: 0o700 });
  await keepIn(result.dir, result);
}

/** The attempt is over: each finished grade takes the place of what was shown of it. Goes on where a crash ended it. */
export async function unsealGrades(dir: string): Promise<void> {
  for (const name of await namesIn(dir, sealedFolder)) {
    const [sealed, shown] = [path.join(dir, sealedFolder, name), path.join(dir, gradesFolder, name)];
    // One without a result is under way, and is unsealed at its end.
    const grade = await readGrade(sealed).catch(() => undefined);
    if (!grade) continue;
    await keepIn(sealed, { ...grade, dir: shown });
    await rm(shown, { recursive: true, force: true });
    await rename(sealed, shown);
  }
}

async function keepIn(folder: string, result: GradeResult): Promise<void> {
  await writeFileAtomic(path.join(folder, 'grade.json'), `${JSON.stringify(result, null, 2)}\n`);
}

async function namesIn(dir: string, folder: string): Promise<string[]> {
  try {
    return await readdir(path.join(dir, folder));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
