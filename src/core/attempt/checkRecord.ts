import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { errorCode } from '#core/base/errors.ts';
import { readRecordLog } from './readRecordLog.ts';
import type { RecordLine } from './recordEvents.ts';
import { recordFileOf } from './recorder.ts';
import { TextReplay } from './replayText.ts';

/** What of a record cannot be relied on; `where` is a file of the attempt's folder, or a path in its container. */
export interface RecordFault {
  readonly where: string;
  readonly what: string;
}

export interface RecordCheck {
  readonly lines: number;
  readonly terminals: number;
  readonly faults: readonly RecordFault[];
  /** What is normal after a crash, or in old records, and proves nothing. */
  readonly notes: readonly RecordFault[];
}

interface Cast {
  readonly file: string;
  readonly kept: { readonly bytes: number; readonly sha256: string }[];
}

/**
 * Reads a record whole: the chain of its lines, its terminals' casts by the hashes in it, and every text that its saves
 * prove. It shows damage; it is no proof against the machine's owner.
 */
export async function checkRecord(dir: string): Promise<RecordCheck> {
  const faults: RecordFault[] = [];
  const notes: RecordFault[] = [];
  const casts = new Map<string, Cast>();
  const replay = new TextReplay();
  const doubted = new Map<string, string>();
  let lines = 0;
  for await (const read of readRecordLog(recordFileOf(dir))) {
    if ('damage' in read) {
      const { line, what } = read.damage;
      const isTorn = what.startsWith('The last line is torn');
      (isTorn ? notes : faults).push({ where: `record.jsonl:${line}`, what });
      continue;
    }
    lines++;
    noteCast(casts, read.line);
    replay.apply(read.line);
    if (!('path' in read.line)) continue;
    const doubt = replay.get(read.line.path)?.doubt;
    if (doubt !== undefined) doubted.set(read.line.path, doubt);
  }
  for (const cast of casts.values()) {
    const { fault, note } = await checkCast(dir, cast);
    if (fault !== undefined) faults.push({ where: cast.file, what: fault });
    if (note !== undefined) notes.push({ where: cast.file, what: note });
  }
  for (const [where, what] of doubted) faults.push({ where, what });
  return { lines, terminals: casts.size, faults, notes };
}

function noteCast(casts: Map<string, Cast>, line: RecordLine): void {
  if (line.kind === 'terminal') casts.set(line.id, { file: line.cast, kept: [] });
  if (line.kind === 'cast') casts.get(line.id)?.kept.push({ bytes: line.bytes, sha256: line.sha256 });
}

async function checkCast(dir: string, { file, kept }: Cast): Promise<{ fault?: string; note?: string }> {
  const hash = createHash('sha256');
  const due = kept.toSorted((a, b) => a.bytes - b.bytes);
  let read = 0;
  let good = 0;
  try {
    for await (const chunk of createReadStream(path.join(dir, file)) as AsyncIterable<Buffer>) {
      let rest = chunk;
      for (let next = due[0]; next && read + rest.length >= next.bytes; next = due[0]) {
        const until = next.bytes - read;
        hash.update(rest.subarray(0, until));
        rest = rest.subarray(until);
        read = next.bytes;
        if (hash.copy().digest('hex') !== next.sha256)
          return { fault: `It was changed between its bytes ${good} and ${read}.` };
        good = read;
        due.shift();
      }
      hash.update(rest);
      read += rest.length;
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return kept.length > 0 ? { fault: 'It is gone.' } : { note: 'Nothing of it was on the disk yet.' };
  }
  if (due.length > 0) return { fault: `It ends at ${read} bytes, and had ${due.at(-1)?.bytes}.` };
  return read > good ? { note: `The record has no hash of its last ${read - good} bytes.` } : {};
}
