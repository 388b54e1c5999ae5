import { randomFillSync } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';

/** Hours of a record; the work is frozen long before the disk is full. */
export const reserveBytes = 8 << 20;

/** Beside the record. */
function placeOf(file: string): string {
  return `${file}.reserve`;
}

/** True when the reserve is there: room on the disk that only the record may use. Random: no file system shrinks it. */
export async function makeReserve(file: string, bytes: number, log: Log): Promise<boolean> {
  const place = placeOf(file);
  try {
    if ((await stat(place).catch(() => undefined))?.size === bytes) return true;
    await writeFile(place, randomFillSync(Buffer.alloc(bytes)), { mode: 0o600 });
    return true;
  } catch (error) {
    log.warn(`There is no room for the reserve of ${file}: ${errorMessage(error)}`);
    await rm(place, { force: true }).catch(() => undefined);
    return false;
  }
}

export async function releaseReserve(file: string): Promise<void> {
  await rm(placeOf(file), { force: true });
}
