import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { syncFolder } from '#core/base/files.ts';
import { type Blobs, smallBytes } from './blobs.ts';

const zip = promisify(gzip);

const gzipOptions = { level: 1 } as const;
/** Less is not worth a try: a block of the disk holds it either way. */
const minZipBytes = 1_024;
/** Kept compressed where that saves a tenth. */
const worthwhile = 0.9;
const sampleBytes = 65_536;
/** Files that are made safe on disk at the same time. */
const parallel = 16;

/**
 * New contents of a snapshot under way, in a folder of their own: nothing of it is seen in `blobs` before all of it is
 * on disk (fsync), so a crash at any time leaves a folder that the next one sweeps, and no torn blob.
 */
export class BlobWriter {
  readonly #blobs: Blobs;
  readonly #known: Map<string, boolean>;
  readonly #dir: string;
  /** Hash to whether it is compressed. */
  readonly #staged = new Map<string, boolean>();
  #streams = 0;

  private constructor(blobs: Blobs, known: Map<string, boolean>, dir: string) {
    this.#blobs = blobs;
    this.#known = known;
    this.#dir = dir;
  }

  static async begin(blobs: Blobs, root: string): Promise<BlobWriter> {
    await mkdir(blobs.dir, { recursive: true, mode: 0o700 });
    return new BlobWriter(
      blobs,
      await blobs.known(),
      await mkdtemp(path.join(root, `${stagingPrefix}${process.pid}-`)),
    );
  }

  has(sha256: string): boolean {
    return this.#known.has(sha256) || this.#staged.has(sha256);
  }

  /** The result is its sha256. */
  async put(content: Buffer): Promise<string> {
    const sha256 = createHash('sha256').update(content).digest('hex');
    if (this.has(sha256)) return sha256;
    const zipped = content.length >= minZipBytes ? await zip(content, gzipOptions) : content;
    const isCompressed = zipped.length < worthwhile * content.length;
    if (this.has(sha256)) return sha256;
    this.#staged.set(sha256, isCompressed);
    const file = await open(this.#placeOf(sha256), 'wx', 0o600);
    try {
      await file.writeFile(isCompressed ? zipped : content);
    } finally {
      await file.close();
    }
    return sha256;
  }

  /** Content of any length, at most a megabyte of it in memory. */
  async putStream(
    source: AsyncIterable<Buffer>,
  ): Promise<{ readonly sha256: string; readonly size: number }> {
    const parts: Buffer[] = [];
    let size = 0;
    let large: LargeBlob | undefined;
    try {
      for await (const piece of source) {
        size += piece.length;
        if (!large && size > smallBytes) {
          large = await LargeBlob.open(path.join(this.#dir, `stream${this.#streams++}`), parts);
          parts.length = 0;
        }
        // A piece may be a view of a buffer that its source writes over.
        if (large) await large.write(piece);
        else parts.push(Buffer.from(piece));
      }
      if (!large) return { sha256: await this.put(Buffer.concat(parts)), size };
      const { sha256, isCompressed } = await large.end();
      if (this.has(sha256)) await rm(large.file);
      else {
        this.#staged.set(sha256, isCompressed);
        await rename(large.file, this.#placeOf(sha256));
      }
      return { sha256, size };
    } catch (error) {
      await large?.abandon();
      throw error;
    }
  }

  /** Everything staged is in `blobs` and on disk when it resolves. */
  async commit(): Promise<void> {
    const staged = [...this.#staged];
    await eachOf(staged, async ([sha256]) => {
      const file = await open(this.#placeOf(sha256), 'r+');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    });
    const folders = new Set(staged.map(([sha256]) => path.dirname(this.#blobs.placeOf(sha256, false))));
    await eachOf([...folders], (folder) => mkdir(folder, { recursive: true, mode: 0o700 }));
    await eachOf(staged, async ([sha256, isCompressed]) => {
      await rename(this.#placeOf(sha256), this.#blobs.placeOf(sha256, isCompressed));
      this.#known.set(sha256, isCompressed);
    });
    await eachOf([...folders, this.#blobs.dir], syncFolder);
    this.#staged.clear();
    await this.abort();
  }

  /** Nothing of it is left; also to be called after a commit, harmlessly. */
  async abort(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true, maxRetries: 3 });
  }

  #placeOf(sha256: string): string {
    return path.join(this.#dir, sha256);
  }
}

/** Folders of snapshots under way begin like this; the process that has them follows. */
export const stagingPrefix = '.taking-';

/** One content over `smallBytes`, on its way to a file. */
class LargeBlob {
  readonly file: string;
  readonly #handle: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  readonly #zip: ReturnType<typeof createGzip> | undefined;
  readonly #written: Promise<void>;

  private constructor(file: string, handle: FileHandle, isCompressed: boolean) {
    this.file = file;
    this.#handle = handle;
    this.#zip = isCompressed ? createGzip(gzipOptions) : undefined;
    this.#written = this.#zip ? this.#pump(this.#zip) : Promise.resolve();
    this.#written.catch(() => undefined);
  }

  static async open(file: string, start: readonly Buffer[]): Promise<LargeBlob> {
    const sample = Buffer.concat(start).subarray(0, sampleBytes);
    const isCompressed = (await zip(sample, gzipOptions)).length < worthwhile * sample.length;
    const blob = new LargeBlob(file, await open(file, 'wx', 0o600), isCompressed);
    for (const piece of start) await blob.write(piece);
    return blob;
  }

  async write(piece: Buffer): Promise<void> {
    this.#hash.update(piece);
    if (!this.#zip) {
      await this.#handle.writeFile(piece);
      return;
    }
    const zipping = this.#zip;
    await new Promise<void>((resolve, reject) =>
      zipping.write(piece, (error) => (error ? reject(error) : resolve())),
    );
  }

  async end(): Promise<{ sha256: string; isCompressed: boolean }> {
    this.#zip?.end();
    await this.#written;
    await this.#handle.close();
    return { sha256: this.#hash.digest('hex'), isCompressed: this.#zip !== undefined };
  }

  async abandon(): Promise<void> {
    this.#zip?.destroy();
    await this.#written.catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
  }

  async #pump(source: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of source) await this.#handle.writeFile(piece);
  }
}

/** Runs over all, some at a time. */
export async function eachOf<T>(
  items: readonly T[],
  action: (item: T) => Promise<unknown>,
  atOnce = parallel,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await action(items[next++] as T);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
