import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { errorMessage, throwIfCancelled, UserError } from '#core/base/errors.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import { findTrials } from '#core/trial/findTrials.ts';
import { readTrialResult } from '#core/trial/readTrialResult.ts';
import type { TrialReading } from '#core/trial/types.ts';

/**
 * A trial of somebody else's as a read-only attempt: read where it is, never written, without a container. Nothing that
 * works on attempts of a store knows it.
 */
export interface ImportedAttempt {
  /** Of its folder: the same whenever that is read. */
  readonly id: string;
  readonly state: 'imported';
  readonly dir: string;
  /** The folder that was imported: the trial's own, or one that it is in. */
  readonly from: string;
  /** As its result says; of one that cannot be read, as its folder's name begins. */
  readonly taskName: string;
  readonly trial?: TrialReading;
  /** Why there is no result. */
  readonly damage?: string;
}

/** The expected number of tests of a task that a trial names; undefined where the task is not known. */
export type ExpectedTests = (task: {
  readonly name: string;
  readonly path?: string;
}) => Promise<number | undefined>;

const kept = z.object({ version: z.literal(1), dir: z.string(), at: z.string() });

interface Read {
  readonly stamp: string;
  /** The number of tests that it was decided with. */
  readonly count: number | undefined;
  readonly trial: TrialReading;
}

/** The folders of trials that were imported into a store: `<store>/imports/<hash>.json`, one a folder. */
export class ImportedAttempts {
  readonly #folder: string;
  readonly #read = new Map<string, Read>();

  constructor(storeDir: string) {
    this.#folder = path.join(path.resolve(storeDir), 'imports');
  }

  /** Errors: `UserError` for a folder that is not there, or holds no trials. */
  async add(dir: string, expected: ExpectedTests, signal?: AbortSignal): Promise<readonly ImportedAttempt[]> {
    const folder = await realpath(dir).catch((error: unknown) => {
      throw new UserError(`The folder "${dir}" cannot be read.`, {
        nextStep: 'Choose a trial or job folder of Harbor.',
        cause: error,
      });
    });
    const found = await this.#trialsOf(folder, expected, signal);
    if (found.length === 0)
      throw new UserError(`"${dir}" holds no trials.`, {
        nextStep: 'Choose a trial or job folder of Harbor, or a folder of jobs.',
      });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const entry = { version: 1, dir: folder, at: new Date().toISOString() };
    await writeFileAtomic(this.#fileOf(folder), `${JSON.stringify(entry)}\n`);
    return found;
  }

  /** The trials themselves stay. Errors: `UserError` for a folder that was not imported. */
  async remove(dir: string): Promise<void> {
    const folder = await realpath(dir).catch(() => path.resolve(dir));
    if (!(await this.folders()).includes(folder))
      throw new UserError(`The folder "${dir}" was not imported.`, {
        nextStep: 'Name the folder that was imported: "attempt list --json" has it as "from".',
      });
    await rm(this.#fileOf(folder), { force: true });
  }

  /** The folders that were imported. */
  async folders(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const entries = await Promise.all(
      names.filter((name) => name.endsWith('.json')).map((name) => this.#entry(name)),
    );
    return entries.filter((dir) => dir !== undefined).toSorted();
  }

  /** Every trial of every imported folder as it is now; one that cannot be read is there with its reason. */
  async list(expected: ExpectedTests, signal?: AbortSignal): Promise<readonly ImportedAttempt[]> {
    const found = new Map<string, ImportedAttempt>();
    for (const folder of await this.folders()) {
      const trials = await this.#trialsOf(folder, expected, signal);
      for (const attempt of trials) found.set(attempt.id, attempt);
      if (trials.length === 0)
        found.set(idOf(folder), damaged(folder, folder, 'The folder is gone, or holds no trials any more.'));
    }
    return [...found.values()];
  }

  async #trialsOf(
    folder: string,
    expected: ExpectedTests,
    signal: AbortSignal | undefined,
  ): Promise<readonly ImportedAttempt[]> {
    const dirs = await findTrials(folder, signal);
    const attempts: ImportedAttempt[] = [];
    for (const dir of dirs) {
      if (signal) throwIfCancelled(signal);
      attempts.push(await this.#attempt(dir, folder, expected));
    }
    return attempts;
  }

  /** Read again when its results changed, since others run while it is listed, or its task became known. */
  async #attempt(dir: string, from: string, expected: ExpectedTests): Promise<ImportedAttempt> {
    const stamp = await stampOf(dir);
    const before = this.#read.get(dir);
    try {
      const first = before?.stamp === stamp ? before.trial : await readTrialResult(dir);
      const { taskName: name, taskPath } = first;
      const count = await expected({ name, ...(taskPath === undefined ? {} : { path: taskPath }) });
      const isSame = count === (before?.trial === first ? before.count : undefined);
      const trial = isSame ? first : await readTrialResult(dir, { expected: count });
      this.#read.set(dir, { stamp, count, trial });
      return { id: idOf(dir), state: 'imported', dir, from, taskName: name, trial };
    } catch (error) {
      this.#read.delete(dir);
      return damaged(dir, from, errorMessage(error));
    }
  }

  async #entry(name: string): Promise<string | undefined> {
    try {
      return kept.parse(JSON.parse(await readFile(path.join(this.#folder, name), 'utf8'))).dir;
    } catch {
      return undefined;
    }
  }

  #fileOf(dir: string): string {
    return path.join(this.#folder, `${hashOf(dir)}.json`);
  }
}

/** True for ids of imported attempts, which no attempt of a store has. */
export function isImportedId(id: string): boolean {
  return /^imp[0-9a-f]{12}$/.test(id);
}

function idOf(dir: string): string {
  return `imp${hashOf(dir).slice(0, 12)}`;
}

function hashOf(dir: string): string {
  return createHash('sha256').update(dir).digest('hex');
}

/** Harbor names a trial's folder by its task (harbor.md §6.1). */
function damaged(dir: string, from: string, damage: string): ImportedAttempt {
  const taskName = path.basename(dir).split('__')[0] ?? '';
  return { id: idOf(dir), state: 'imported', dir, from, taskName, damage };
}

async function stampOf(dir: string): Promise<string> {
  const files = ['result.json', 'results.json', 'verifier', 'verifier/ctrf.json', 'verifier/reward.txt'];
  const infos = await Promise.all(files.map((name) => stat(path.join(dir, name)).catch(() => undefined)));
  return infos.map((info) => (info ? `${info.mtimeMs}:${info.size}` : '-')).join(' ');
}
