import type { FsChannel } from '#core/container/fsChannel.ts';
import { FsError } from '#core/container/fsChannelErrors.ts';
import type { FsTreeEntry } from '#core/container/fsChannelTree.ts';
import type { SkippedPath } from './types.ts';
import { type BlobWriter, eachOf } from './writer.ts';

/** What became of reading one file. */
export type ReadResult =
  | { readonly kind: 'content'; readonly sha256: string; readonly size: number }
  | { readonly kind: 'gone' }
  | { readonly kind: 'skipped'; readonly what: SkippedPath['what']; readonly detail: string };

/** Files that were read by one command: when one of them changed meanwhile, none of them is certain. */
export type ReadBatch = ReadonlyMap<FsTreeEntry, ReadResult>;

/** Files up to here are read many at a time. */
const togetherBytes = 256 << 10;
const batchBytes = 4 << 20;
const batchFiles = 200;
/** Larger ones come over a process of their own. */
const streamBytes = 8 << 20;
const parallel = 4;

/** Reads regular files of a listing and stores them. Errors: `FsError` where the channel is gone; those of the disk. */
export async function readFiles(
  files: FsChannel,
  writer: BlobWriter,
  wanted: readonly FsTreeEntry[],
  options: { readonly maxBytes: number; readonly alone: boolean; readonly signal: AbortSignal | undefined },
): Promise<ReadBatch[]> {
  const results: ReadBatch[] = [];
  const alone = async (entry: FsTreeEntry): Promise<ReadResult> => {
    try {
      return await readAlone(files, writer, entry, options);
    } catch (error) {
      if (!(error instanceof FsError) || error.failure === 'unavailable') throw error;
      return resultOf(error);
    }
  };
  const batches = options.alone ? wanted.map((entry) => [entry]) : batchesOf(wanted);
  await eachOf(
    batches,
    async (batch) => {
      const together =
        batch.length > 1 ? await readTogether(files, writer, batch, options.signal) : undefined;
      if (together) {
        results.push(together);
        return;
      }
      for (const entry of batch) results.push(new Map([[entry, await alone(entry)]]));
    },
    parallel,
  );
  return results;
}

function batchesOf(wanted: readonly FsTreeEntry[]): FsTreeEntry[][] {
  const batches: FsTreeEntry[][] = [];
  let batch: FsTreeEntry[] = [];
  let bytes = 0;
  for (const entry of wanted) {
    if (entry.size > togetherBytes) {
      batches.push([entry]);
      continue;
    }
    if (batch.length >= batchFiles || bytes + entry.size > batchBytes) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += entry.size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** Undefined where it did not come out even, or one of them cannot be read: then each has to be asked for. */
async function readTogether(
  files: FsChannel,
  writer: BlobWriter,
  batch: readonly FsTreeEntry[],
  signal: AbortSignal | undefined,
): Promise<ReadBatch | undefined> {
  const size = batch.reduce((sum, entry) => sum + entry.size, 0);
  let all: Buffer;
  try {
    const full = batch.filter((entry) => entry.size > 0);
    all = await files.readTogether(
      full.map(({ path }) => path),
      { signal },
    );
  } catch (error) {
    if (!(error instanceof FsError)) throw error;
    return undefined;
  }
  if (all.length !== size) return undefined;
  const results = new Map<FsTreeEntry, ReadResult>();
  let at = 0;
  const parts = batch.map((entry) => {
    at += entry.size;
    return { entry, content: all.subarray(at - entry.size, at) };
  });
  await eachOf(parts, async ({ entry, content }) => {
    results.set(entry, { kind: 'content', sha256: await writer.put(content), size: content.length });
  });
  return results;
}

async function readAlone(
  files: FsChannel,
  writer: BlobWriter,
  { path, size }: FsTreeEntry,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal | undefined },
): Promise<ReadResult> {
  if (size > streamBytes) {
    const stored = await writer.putStream(capped(files.readStream(path, { signal }), path, maxBytes));
    return { kind: 'content', ...stored };
  }
  const content = await files.read(path, { signal, maxBytes });
  return { kind: 'content', sha256: await writer.put(content), size: content.length };
}

async function* capped(
  source: AsyncIterable<Buffer>,
  path: string,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > maxBytes) throw new FsError('too-large', path, `It is larger than ${maxBytes} bytes.`);
    yield piece;
  }
}

function resultOf(error: FsError): ReadResult {
  if (error.failure === 'not-found' || error.failure === 'not-a-directory') return { kind: 'gone' };
  const what = error.failure === 'too-large' ? 'too-large' : 'unreadable';
  return { kind: 'skipped', what, detail: error.detail };
}
