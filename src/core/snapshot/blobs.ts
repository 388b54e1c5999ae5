import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { errorCode, errorMessage } from '#core/base/errors.ts';
import { SnapshotDamagedError } from './types.ts';

const unzip = promisify(gunzip);

/** Content of this size and less is held whole. */
export const smallBytes = 1 << 20;

/**
 * Contents by their sha256: `blobs/<2 hex>/<62 hex>`, with `.gz` where compression paid. A file in there is whole: it
 * got its name when it was on disk. What reads one checks it against its name all the same.
 */
export class Blobs {
  readonly dir: string;
  readonly #root: string;
  /** Hash to whether it is compressed; read from disk once. */
  #known: Promise<Map<string, boolean>> | undefined;

  /** `root`: the store's folder. */
  constructor(root: string) {
    this.#root = root;
    this.dir = path.join(root, 'blobs');
  }

  /** Hash to whether it is compressed, of all that there are. */
  known(): Promise<Map<string, boolean>> {
    this.#known ??= this.#scan();
    return this.#known;
  }

  /** Looks at the disk again the next time. */
  forget(): void {
    this.#known = undefined;
  }

  placeOf(sha256: string, isCompressed: boolean): string {
    return path.join(this.dir, sha256.slice(0, 2), `${sha256.slice(2)}${isCompressed ? '.gz' : ''}`);
  }

  /** Errors: `SnapshotDamagedError`. For content that is known to be small. */
  async read(sha256: string): Promise<Buffer> {
    const { file, isCompressed } = await this.#find(sha256);
    try {
      const stored = await readFile(file);
      const content = isCompressed ? await unzip(stored) : stored;
      if (createHash('sha256').update(content).digest('hex') !== sha256)
        throw new Error('it holds other content');
      return content;
    } catch (error) {
      throw this.#damaged(file, error);
    }
  }

  /** In pieces. Errors: `SnapshotDamagedError`; what was yielded before it is no content. */
  async *stream(sha256: string): AsyncGenerator<Buffer> {
    const { file, isCompressed } = await this.#find(sha256);
    const hash = createHash('sha256');
    const raw = createReadStream(file, { highWaterMark: 262_144 });
    const source = isCompressed ? raw.pipe(createGunzip()) : raw;
    if (source !== raw) raw.on('error', (error) => source.destroy(error));
    try {
      for await (const piece of source as AsyncIterable<Buffer>) {
        hash.update(piece);
        yield piece;
      }
      if (hash.digest('hex') !== sha256) throw new Error('it holds other content');
    } catch (error) {
      throw this.#damaged(file, error);
    } finally {
      raw.destroy();
      source.destroy();
    }
  }

  async sizeOnDisk(sha256: string): Promise<number> {
    const { file } = await this.#find(sha256);
    return (await stat(file)).size;
  }

  async delete(sha256: string): Promise<void> {
    const known = await this.known();
    const isCompressed = known.get(sha256);
    if (isCompressed === undefined) return;
    await rm(this.placeOf(sha256, isCompressed), { force: true });
    known.delete(sha256);
  }

  async #find(sha256: string): Promise<{ file: string; isCompressed: boolean }> {
    let isCompressed = (await this.known()).get(sha256);
    if (isCompressed === undefined) {
      // Another instance may have written it since.
      this.forget();
      isCompressed = (await this.known()).get(sha256);
    }
    if (isCompressed === undefined)
      throw new SnapshotDamagedError(this.#relative(this.placeOf(sha256, false)), 'is missing');
    return { file: this.placeOf(sha256, isCompressed), isCompressed };
  }

  #damaged(file: string, error: unknown): SnapshotDamagedError {
    if (error instanceof SnapshotDamagedError) return error;
    const isGone = errorCode(error) === 'ENOENT';
    return new SnapshotDamagedError(
      this.#relative(file),
      isGone ? 'is missing' : `is damaged: ${errorMessage(error)}`,
      { cause: error },
    );
  }

  #relative(file: string): string {
    return path.relative(this.#root, file).split(path.sep).join('/');
  }

  async #scan(): Promise<Map<string, boolean>> {
    const known = new Map<string, boolean>();
    const shards = (await namesIn(this.dir)).filter((name) => /^[0-9a-f]{2}$/.test(name));
    const lists = await Promise.all(shards.map((shard) => namesIn(path.join(this.dir, shard))));
    for (const [index, names] of lists.entries())
      for (const name of names) {
        const rest = /^([0-9a-f]{62})(\.gz)?$/.exec(name);
        if (rest) known.set(`${shards[index]}${rest[1]}`, rest[2] !== undefined);
      }
    return known;
  }
}

/** Names in a folder; none where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
