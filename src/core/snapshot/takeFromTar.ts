import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { throwIfCancelled, UserError } from '#core/base/errors.ts';
import { fromBinary, keptTime } from '#core/container/tarHeader.ts';
import type { TarEntry } from '#core/container/tarStream.ts';
import { smallBytes } from './blobs.ts';
import type { TakenTree } from './store.ts';
import { type SkippedPath, type SnapshotEntry, snapshotCaps } from './types.ts';
import type { BlobWriter } from './writer.ts';

/** Small files that are on their way to the disk at the same time. */
const parallel = 16;

/**
 * The entries of an engine's tar (names as a submission has them), kept on their way to somebody else: what comes out
 * of `through` is what went in. Errors: `UserError` where it is more than `snapshotCaps`.
 */
export class TarTaker {
  readonly #writer: BlobWriter;
  readonly #entries: SnapshotEntry[] = [];
  readonly #skipped = new Map<string, SkippedPath>();
  /** By name; what hard links lead to. */
  readonly #kept = new Map<string, SnapshotEntry>();
  readonly #storing = new Set<Promise<void>>();
  #bytes = 0;

  constructor(writer: BlobWriter) {
    this.#writer = writer;
  }

  async *through(source: AsyncIterable<TarEntry>, signal?: AbortSignal): AsyncGenerator<TarEntry> {
    for await (const entry of source) {
      throwIfCancelled(signal);
      this.#bytes += entry.header.size;
      if (this.#bytes > snapshotCaps.bytes || this.#entries.length >= snapshotCaps.entries)
        throw new UserError(
          `The workspace has more than ${snapshotCaps.bytes / 1024 ** 3} GiB or ${snapshotCaps.entries} files: it is not kept.`,
          { nextStep: `Remove what is large, such as "/${fromBinary(entry.header.name)}".` },
        );
      if (entry.header.type !== 'file') {
        this.#note(entry);
        yield entry;
      } else yield* entry.header.size > smallBytes ? this.#large(entry) : this.#small(entry);
    }
  }

  /** What a snapshot keeps of all that passed. Errors: those of the disk. */
  async tree(): Promise<TakenTree> {
    await Promise.all(this.#storing);
    return { entries: this.#entries, skipped: [...this.#skipped.values()], unstable: [] };
  }

  async *#small({ header, body }: TarEntry): AsyncGenerator<TarEntry> {
    const pieces: Buffer[] = [];
    const shared = tee(body, (piece) => {
      // A piece may be a view of a buffer that its source writes over.
      pieces.push(Buffer.from(piece));
    });
    yield { header, body: shared.body };
    await shared.drain();
    const content = Buffer.concat(pieces);
    const at = this.#keepFile(header, content.length);
    const storing: Promise<void> = this.#writer
      .put(content)
      .then((sha256) => this.#fill(at, sha256))
      .then(() => void this.#storing.delete(storing));
    storing.catch(() => undefined);
    this.#storing.add(storing);
    if (this.#storing.size >= parallel) await Promise.race(this.#storing);
  }

  async *#large({ header, body }: TarEntry): AsyncGenerator<TarEntry> {
    const pass = new PassThrough({ highWaterMark: smallBytes });
    const storing = this.#writer.putStream(pass);
    storing.catch(() => pass.destroy());
    const shared = tee(body, async (piece) => {
      // Where the disk fails it takes no more, and says so; the stream that it leaves only says that it was left.
      if (!pass.write(Buffer.from(piece)))
        await Promise.race([once(pass, 'drain').catch(() => storing), storing]);
    });
    try {
      yield { header, body: shared.body };
      await shared.drain();
      pass.end();
      const { sha256, size } = await storing;
      this.#fill(this.#keepFile(header, size), sha256);
    } finally {
      pass.destroy();
    }
  }

  #keepFile(header: TarEntry['header'], size: number): number {
    this.#keep({ ...metaOf(header), type: 'file', size, linkName: '', sha256: '' });
    return this.#entries.length - 1;
  }

  #fill(at: number, sha256: string): void {
    this.#entries[at] = { ...(this.#entries[at] as SnapshotEntry), sha256 };
  }

  #note({ header }: TarEntry): void {
    const { name, type, linkName } = header;
    const plain = { ...metaOf(header), size: 0, sha256: '' };
    const target = type === 'hardlink' ? this.#kept.get(linkName) : undefined;
    if (type === 'directory') this.#keep({ ...plain, type, linkName: '' });
    else if (type === 'symlink') this.#keep({ ...plain, type, linkName });
    // A second name of a symbolic link is kept as a link of its own, as in a submission.
    else if (target?.type === 'symlink') this.#keep({ ...target, name });
    else if (target && target.type !== 'directory') this.#keep({ ...plain, type: 'hardlink', linkName });
    else this.#skip(header);
  }

  #skip({ name, type, linkName, flag }: TarEntry['header']): void {
    if (type === 'fifo' || type === 'char' || type === 'block')
      this.#skipped.set(name, { name, what: 'special', detail: type });
    else if (type === 'hardlink') {
      const other = this.#skipped.get(linkName);
      const detail = other ? 'another name of one that is skipped' : 'a hard link to nothing before it';
      this.#skipped.set(name, { name, what: other?.what ?? 'other', detail });
    } else this.#skipped.set(name, { name, what: 'other', detail: `type ${JSON.stringify(flag)}` });
  }

  #keep(entry: SnapshotEntry): void {
    this.#kept.set(entry.name, entry);
    this.#entries.push(entry);
  }
}

function metaOf(header: TarEntry['header']): Pick<SnapshotEntry, 'name' | 'mode' | 'uid' | 'gid' | 'mtime'> {
  const { name, mode, uid, gid, mtime } = header;
  return { name, mode, uid, gid, mtime: keptTime(mtime) };
}

/** A body that can still be read once, and that is read to its end by `drain` where nobody did. */
function tee(
  body: AsyncIterable<Buffer>,
  onPiece: (piece: Buffer) => void | Promise<void>,
): { readonly body: AsyncIterable<Buffer>; readonly drain: () => Promise<void> } {
  const pieces = body[Symbol.asyncIterator]();
  const shared: AsyncIterable<Buffer> = {
    async *[Symbol.asyncIterator]() {
      for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
        await onPiece(next.value);
        yield next.value;
      }
    },
  };
  return {
    body: shared,
    drain: async () => {
      for await (const _ of shared);
    },
  };
}
