import { createReadStream } from 'node:fs';
import { errorCode } from '#core/base/errors.ts';
import { type RecordLine, recordEvent, recordVersion } from './recordEvents.ts';
import { firstHash, hashLine } from './recordLog.ts';

/** What is wrong at a line; the lines around it are still read. */
export interface RecordDamage {
  /** From 1, where the reading began. */
  readonly line: number;
  /** In the file, of the line's first byte. */
  readonly offset: number;
  readonly what: string;
}

export type ReadRecord = { readonly line: RecordLine } | { readonly damage: RecordDamage };

/** Where a reading may begin: behind a line that was read before. */
export interface RecordPlace {
  /** Bytes. */
  readonly offset: number;
  /** Of the line before. */
  readonly hash: string;
}

/**
 * Streams record.jsonl, a line at a time: files are hundreds of megabytes. A broken chain is told at the first line
 * that does not follow from the one before; a torn last line, which a crash leaves, is told too. No file: no lines.
 */
export async function* readRecordLog(
  file: string,
  from: RecordPlace = { offset: 0, hash: firstHash },
): AsyncGenerator<ReadRecord> {
  let { hash } = from;
  for await (const { bytes, line, offset, isWhole } of linesOf(file, from.offset)) {
    const damage = (what: string): ReadRecord => ({ damage: { line, offset, what } });
    if (!isWhole) {
      yield damage(`The last line is torn: ${bytes.length} bytes.`);
      return;
    }
    const parsed = parseLine(bytes);
    if ('what' in parsed) yield damage(parsed.what);
    else {
      if (parsed.prev !== hash)
        yield damage('The line before is not the one that this one was written after.');
      yield { line: parsed.line };
    }
    hash = hashLine(bytes);
  }
}

/** The lines alone, damage or not. */
export async function* readRecordLines(file: string): AsyncGenerator<RecordLine> {
  for await (const read of readRecordLog(file)) if ('line' in read) yield read.line;
}

function parseLine(bytes: Buffer): { line: RecordLine; prev: unknown } | { what: string } {
  let data: { v?: unknown; n?: unknown; utc?: unknown; mono?: unknown; prev?: unknown };
  try {
    data = JSON.parse(bytes.toString('utf8')) as typeof data;
  } catch {
    return { what: 'The line is no JSON.' };
  }
  const { v, n, utc, mono, prev } = data ?? {};
  if (v !== recordVersion)
    return { what: `The line is of version ${JSON.stringify(v)}, not ${recordVersion}.` };
  const event = recordEvent.safeParse(data);
  if (!event.success || typeof n !== 'number' || typeof utc !== 'string' || typeof mono !== 'number')
    return { what: `The line is no event (${event.error?.issues[0]?.path.join('.') || 'its shape'}).` };
  return { line: { n, utc, mono, ...event.data }, prev };
}

interface RawLine {
  readonly bytes: Buffer;
  readonly line: number;
  readonly offset: number;
  readonly isWhole: boolean;
}

async function* linesOf(file: string, from: number): AsyncGenerator<RawLine> {
  let pieces: Buffer[] = [];
  let line = 1;
  let offset = from;
  try {
    for await (const chunk of createReadStream(file, {
      start: from,
      highWaterMark: 1 << 20,
    }) as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        const bytes = Buffer.concat([...pieces, chunk.subarray(start, end)]);
        pieces = [];
        yield { bytes, line, offset, isWhole: true };
        line++;
        offset += bytes.length + 1;
        start = end + 1;
      }
      if (start < chunk.length) pieces.push(chunk.subarray(start));
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const rest = Buffer.concat(pieces);
  if (rest.length > 0) yield { bytes: rest, line, offset, isWhole: false };
}
