import { randomInt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, errorMessage, UserError } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import { damagedRecord, decodeRecord, encodeRecord } from './recordFile.ts';
import { moveTo } from './states.ts';
import type { AttemptRecord, AttemptState, AttemptStep } from './types.ts';

const idPattern = /^(?=.{6,80}$)(?:[a-z0-9]+-)*[a-z0-9]{6,40}$/;
const shownTaskName = 24;

/**
 * "tidequery-mb1x2c3d4e5": the task, since the id is the title of the attempt's window, and a lower-case part of its own.
 * Of two attempts the later one's own part sorts after the earlier one's.
 */
export function makeAttemptId(taskName: string): string {
  const last = taskName.slice(taskName.lastIndexOf('/') + 1).toLowerCase();
  const task = last
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, shownTaskName)
    .replace(/^-|-$/g, '');
  const random = randomInt(36 ** 3)
    .toString(36)
    .padStart(3, '0');
  return [task, `${Date.now().toString(36)}${random}`].filter(Boolean).join('-');
}

const ownPart = (id: string): string => id.slice(id.lastIndexOf('-') + 1);

/** The attempts on disk: `<storeDir>/attempts/<task folder>/<id>/attempt.json`, a folder a task (design.md §2). */
export class AttemptStore {
  readonly storeDir: string;
  readonly #moved = new Emitter<{ readonly id: string; readonly step: AttemptStep }>();
  /** Fires once the new state is on disk. */
  readonly onDidMove = this.#moved.event;
  /** One change at a time to each record. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(storeDir: string) {
    this.storeDir = path.resolve(storeDir);
  }

  /** The newest first. One whose file cannot be used is there too, `lost` and with its `damage`. */
  async list(): Promise<AttemptRecord[]> {
    const folders = await foldersIn(this.#root);
    const dirs = await Promise.all(
      folders.map(async (folder) =>
        (await foldersIn(path.join(this.#root, folder)))
          .filter((id) => idPattern.test(id))
          .map((id) => path.join(this.#root, folder, id)),
      ),
    );
    const records = await Promise.all(
      dirs
        .flat()
        .map((dir) => readRecord(dir).catch((error: unknown) => damagedRecord(dir, errorMessage(error)))),
    );
    return records.sort((a, b) => (ownPart(a.id) < ownPart(b.id) ? 1 : -1));
  }

  /** Errors: `UserError` when there is none, or its file cannot be used. */
  async read(id: string): Promise<AttemptRecord> {
    const dir = this.dirOf(id);
    try {
      return await readRecord(dir);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw new UserError(`The attempt ${id}: ${error.message}`, {
        ...(error.nextStep ? { nextStep: error.nextStep } : {}),
        cause: error,
      });
    }
  }

  /** Makes the folder of a new one, for its owner's eyes only. */
  async create(record: AttemptRecord): Promise<void> {
    const dir = path.join(this.#root, path.basename(record.task.path), record.id);
    // Listed only once it has its record.
    const unseen = path.join(path.dirname(dir), `.${record.id}.tmp`);
    await mkdir(unseen, { recursive: true, mode: 0o700 });
    await writeRecord(record, unseen);
    await rename(unseen, dir);
  }

  /** Changes a record; on disk before it is returned. Its state changes by `move` alone. */
  update(id: string, change: (record: AttemptRecord) => AttemptRecord): Promise<AttemptRecord> {
    return this.#change(id, (record) => {
      const changed = change(record);
      if (changed.state !== record.state) throw new Error('The state of an attempt changes by move().');
      return changed;
    });
  }

  /** The one way from state to state, with what changes besides. Errors: `UserError` for one that is not legal. */
  async move(
    id: string,
    to: AttemptState,
    options: { readonly reason?: string; readonly also?: Partial<AttemptRecord> } = {},
  ): Promise<AttemptRecord> {
    const moved = await this.#change(id, (record) =>
      moveTo({ ...record, ...options.also }, to, options.reason),
    );
    const step = moved.history.at(-1);
    if (step) this.#moved.fire({ id, step });
    return moved;
  }

  /** Errors: `UserError` when there is no such attempt. */
  dirOf(id: string): string {
    const dir = this.find(id);
    if (dir === undefined)
      throw new UserError(`There is no attempt "${id}".`, {
        nextStep: 'List the attempts to see which there are.',
      });
    return dir;
  }

  /** Undefined when there is no such attempt. */
  find(id: string): string | undefined {
    return findAttempt(this.storeDir, id);
  }

  /** Record, submissions and grades; the container and the volume are the engine's. No error when it is gone. */
  async delete(id: string): Promise<void> {
    const dir = this.find(id);
    if (dir === undefined) return;
    await rm(dir, { recursive: true, force: true });
    await rmdir(path.dirname(dir)).catch(() => undefined);
  }

  get #root(): string {
    return path.join(this.storeDir, 'attempts');
  }

  #change(id: string, change: (record: AttemptRecord) => AttemptRecord): Promise<AttemptRecord> {
    const turn = (this.#changes.get(id) ?? Promise.resolve()).then(async () => {
      const changed = change(await this.read(id));
      await writeRecord(changed, this.dirOf(id));
      return changed;
    });
    const settled = turn.catch(() => undefined);
    this.#changes.set(id, settled);
    void settled.then(() => {
      if (this.#changes.get(id) === settled) this.#changes.delete(id);
    });
    return turn;
  }
}

/** The folder of an attempt in a store; undefined when it has none of that id. */
export function findAttempt(storeDir: string, id: string): string | undefined {
  if (!idPattern.test(id)) return undefined;
  const root = path.join(storeDir, 'attempts');
  let folders: string[];
  try {
    folders = readdirSync(root);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
  return folders.map((folder) => path.join(root, folder, id)).find((dir) => existsSync(dir));
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

async function readRecord(dir: string): Promise<AttemptRecord> {
  let text: string;
  try {
    text = await readFile(path.join(dir, 'attempt.json'), 'utf8');
  } catch (error) {
    throw new UserError(`attempt.json cannot be read (${errorCode(error) ?? 'error'}).`, {
      nextStep: 'Delete the attempt.',
      cause: error,
    });
  }
  return decodeRecord(text, dir);
}

async function writeRecord(record: AttemptRecord, dir: string): Promise<void> {
  await writeFileAtomic(path.join(dir, 'attempt.json'), encodeRecord(record, dir));
}

function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
}
