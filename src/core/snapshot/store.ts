import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, errorMessage, orDiskFull, UserError } from '#core/base/errors.ts';
import { syncFolder, writeFileAtomic } from '#core/base/files.ts';
import { Blobs, namesIn } from './blobs.ts';
import { decodeHead, encodeHead, isSnapshotId, makeSnapshotId } from './head.ts';
import { decodeTree, encodeTree } from './tree.ts';
import {
  isPeriodic,
  type SkippedPath,
  SnapshotDamagedError,
  type SnapshotEntry,
  type SnapshotHead,
  type SnapshotReason,
  type SnapshotSource,
} from './types.ts';
import { BlobWriter, eachOf, stagingPrefix } from './writer.ts';

export interface TakeSpec {
  readonly reason: SnapshotReason;
  readonly source: SnapshotSource;
  readonly roots: readonly string[];
}

/** What a taker found; contents are with the writer by then. */
export interface TakenTree {
  readonly entries: readonly SnapshotEntry[];
  readonly skipped: readonly SkippedPath[];
  readonly unstable: readonly string[];
}

export interface TakenSnapshot {
  readonly head: SnapshotHead;
  /** False where a periodic one found nothing changed: then it is the one before. */
  readonly isNew: boolean;
}

export interface ListedSnapshots {
  /** The oldest first. */
  readonly heads: readonly SnapshotHead[];
  /** Those whose file cannot be used. */
  readonly damaged: readonly { readonly id: string; readonly error: SnapshotDamagedError }[];
}

const generationFile = '.generation';
/** Nobody is a whole hour between a file and its name. */
const oldMs = 3_600_000;

/**
 * The snapshots of one attempt: a head each, and contents that all share. A head is written last and at once, when
 * what it needs is on disk, so that a crash loses no more than the one under way. One process writes at a time: whoever
 * has the attempt's lock.
 */
export class SnapshotStore {
  readonly dir: string;
  readonly blobs: Blobs;
  #takes = 0;
  #idle: (() => void)[] = [];
  /** Set while contents are removed. */
  #exclusive: Promise<unknown> | undefined;
  #generation: string | undefined;
  #isSwept = false;

  constructor(dir: string) {
    this.dir = path.resolve(dir);
    this.blobs = new Blobs(this.dir);
  }

  async list(): Promise<ListedSnapshots> {
    const heads: SnapshotHead[] = [];
    const damaged: { id: string; error: SnapshotDamagedError }[] = [];
    for (const id of await this.#ids()) {
      try {
        heads.push(await this.#read(id));
      } catch (error) {
        if (errorCode(error) === 'ENOENT') continue;
        if (!(error instanceof SnapshotDamagedError)) throw error;
        damaged.push({ id, error });
      }
    }
    return { heads, damaged };
  }

  /** Errors: `UserError` where there is none; `SnapshotDamagedError`. */
  async head(id: string): Promise<SnapshotHead> {
    try {
      if (isSnapshotId(id)) return await this.#read(id);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    throw new UserError(`There is no snapshot "${id}".`, { nextStep: 'List the snapshots of the attempt.' });
  }

  /** The newest that can be used; undefined where there is none. */
  async newest(): Promise<SnapshotHead | undefined> {
    for (const id of (await this.#ids()).toReversed()) {
      const head = await this.#read(id).catch(() => undefined);
      if (head) return head;
    }
    return undefined;
  }

  /** In the order of an archive. Errors: `SnapshotDamagedError`. */
  async entries({ tree }: Pick<SnapshotHead, 'tree'>): Promise<readonly SnapshotEntry[]> {
    const content = await this.blobs.read(tree);
    try {
      return decodeTree(content);
    } catch (error) {
      throw new SnapshotDamagedError(`blobs (${tree.slice(0, 12)}…)`, `is no tree: ${errorMessage(error)}`);
    }
  }

  /** Makes a snapshot of what `fill` gives; nothing of it is left where that throws. Errors: `UserError` for a full disk. */
  async take(spec: TakeSpec, fill: (writer: BlobWriter) => Promise<TakenTree>): Promise<TakenSnapshot> {
    while (this.#exclusive !== undefined) await this.#exclusive;
    this.#takes++;
    try {
      return await this.#take(spec, fill);
    } catch (error) {
      throw orDiskFull(error, this.dir);
    } finally {
      this.#takes--;
      if (this.#takes === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** It stays from now on, whatever its age. The caller has the attempt's lock. */
  async pin(id: string): Promise<void> {
    while (this.#exclusive !== undefined) await this.#exclusive;
    const head = await this.head(id);
    if (!head.isPinned) await writeFileAtomic(this.#fileOf(id), encodeHead({ ...head, isPinned: true }));
  }

  /** Removes heads and runs what else must not meet a snapshot under way. The caller has the attempt's lock. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    while (this.#exclusive !== undefined || this.#takes > 0) {
      if (this.#exclusive !== undefined) await this.#exclusive;
      else await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
    const running = this.#sweep().then(work);
    this.#exclusive = running.catch(() => undefined);
    try {
      return await running;
    } finally {
      this.#exclusive = undefined;
    }
  }

  /** Removes heads; their contents go with the next compaction. Only within `exclusively`. */
  async removeHeads(ids: readonly string[]): Promise<void> {
    await eachOf(ids, (id) => rm(this.#fileOf(id), { force: true }));
    await syncFolder(this.dir);
  }

  /** Removes contents. Only within `exclusively`. */
  async removeBlobs(hashes: readonly string[]): Promise<void> {
    await mkdir(this.blobs.dir, { recursive: true, mode: 0o700 });
    // First, so that another instance never trusts what it knew.
    this.#generation = randomBytes(8).toString('hex');
    await writeFileAtomic(path.join(this.blobs.dir, generationFile), this.#generation);
    await eachOf(hashes, (sha256) => this.blobs.delete(sha256));
  }

  async #take(spec: TakeSpec, fill: (writer: BlobWriter) => Promise<TakenTree>): Promise<TakenSnapshot> {
    const since = performance.now();
    const at = new Date().toISOString();
    await this.#sweep();
    await this.#refresh();
    const writer = await BlobWriter.begin(this.blobs, this.dir);
    try {
      const { entries, skipped, unstable } = await fill(writer);
      const tree = await writer.put(encodeTree(entries));
      const newest = await this.newest();
      if (newest && isPeriodic(spec) && isSame(newest, spec, tree, skipped, unstable))
        return { head: newest, isNew: false };
      await writer.commit();
      const head: SnapshotHead = {
        schemaVersion: 1,
        id: makeSnapshotId(newest?.id),
        at,
        ...spec,
        roots: [...spec.roots],
        tree,
        entries: entries.length,
        bytes: entries.reduce((sum, { size }) => sum + size, 0),
        skipped,
        unstable,
        durationMs: Math.round(performance.now() - since),
      };
      await writeFileAtomic(this.#fileOf(head.id), encodeHead(head));
      return { head, isNew: true };
    } finally {
      await writer.abort();
    }
  }

  /** Contents that another process removed meanwhile are known no more. */
  async #refresh(): Promise<void> {
    const file = path.join(this.blobs.dir, generationFile);
    const generation = await readFile(file, 'latin1').catch(() => '');
    if (generation !== this.#generation) this.blobs.forget();
    this.#generation = generation;
  }

  /** What processes that are dead by now left half done. */
  async #sweep(): Promise<void> {
    if (this.#isSwept) return;
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    this.#isSwept = true;
    for (const name of await namesIn(this.dir)) {
      const file = path.join(this.dir, name);
      const isLeft = name.startsWith(stagingPrefix)
        ? !isAlive(Number.parseInt(name.slice(stagingPrefix.length), 10))
        : name.endsWith('.tmp') && (await ageOf(file)) > oldMs;
      if (isLeft) await rm(file, { recursive: true, force: true });
    }
  }

  async #ids(): Promise<string[]> {
    const names = (await namesIn(this.dir)).filter((name) => name.endsWith('.json'));
    return names
      .map((name) => name.slice(0, -'.json'.length))
      .filter(isSnapshotId)
      .sort();
  }

  async #read(id: string): Promise<SnapshotHead> {
    const text = await readFile(this.#fileOf(id), 'utf8');
    try {
      return decodeHead(text, id);
    } catch (error) {
      throw new SnapshotDamagedError(`${id}.json`, errorMessage(error), { cause: error });
    }
  }

  #fileOf(id: string): string {
    return path.join(this.dir, `${id}.json`);
  }
}

function isSame(
  head: SnapshotHead,
  spec: TakeSpec,
  tree: string,
  skipped: readonly SkippedPath[],
  unstable: readonly string[],
): boolean {
  const notes = ({
    roots,
    skipped,
    unstable,
  }: Pick<SnapshotHead, 'roots' | 'skipped' | 'unstable'>): string =>
    JSON.stringify([roots, skipped, unstable]);
  return (
    head.tree === tree &&
    head.source === spec.source &&
    notes(head) === notes({ roots: spec.roots, skipped, unstable })
  );
}

async function ageOf(file: string): Promise<number> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
