import { readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '#core/base/files.ts';
import { applyLine, type ClockState, newClock } from './clock.ts';
import { type RecordPlace, readRecordLog } from './readRecordLog.ts';

/**
 * Of the clock's own making, and used only with the record that it was made of. `lastActivityMs` is null where JSON has
 * no word for it.
 */
const cached = z.object({
  version: z.literal(1),
  place: z.object({ offset: z.number(), hash: z.string() }),
  clock: z.looseObject({ lastActivityMs: z.number().nullable() }),
});

/** clock.json: the clock after all lines of a record, so that a long one need not be read again. */
function cacheOf(dir: string): string {
  return path.join(dir, 'clock.json');
}

export async function keepClock(
  dir: string,
  file: string,
  clock: ClockState,
  place: RecordPlace,
): Promise<void> {
  // Of an attempt that was deleted meanwhile, no folder is made again.
  await stat(file);
  await writeFileAtomic(cacheOf(dir), `${JSON.stringify({ version: 1, place, clock })}\n`);
}

/** The clock by the record in an attempt's folder; by what was kept of it and the lines since, where that fits. */
export async function readClock(dir: string, file: string): Promise<ClockState> {
  const kept = await readKept(dir);
  if (kept) {
    const size = (await stat(file).catch(() => undefined))?.size ?? 0;
    const clock = size < kept.place.offset ? undefined : await follow(file, kept.clock, kept.place);
    if (clock) return clock;
    await rm(cacheOf(dir), { force: true });
  }
  return (await follow(file, newClock)) ?? newClock;
}

/** Undefined where the record does not go on from that place. */
async function follow(file: string, from: ClockState, place?: RecordPlace): Promise<ClockState | undefined> {
  let clock = from;
  let isFirst = place !== undefined;
  for await (const read of readRecordLog(file, place)) {
    if ('line' in read) clock = applyLine(clock, read.line);
    else if (isFirst) return undefined;
    isFirst = false;
  }
  return clock;
}

async function readKept(dir: string): Promise<{ clock: ClockState; place: RecordPlace } | undefined> {
  try {
    const { clock, place } = cached.parse(JSON.parse(await readFile(cacheOf(dir), 'utf8')));
    const lastActivityMs = clock.lastActivityMs ?? Number.NEGATIVE_INFINITY;
    return { clock: { ...(clock as unknown as ClockState), lastActivityMs }, place };
  } catch {
    return undefined;
  }
}
