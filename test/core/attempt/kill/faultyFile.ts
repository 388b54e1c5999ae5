import { setTimeout as delay } from 'node:timers/promises';
import { type LogFile, openForWriting } from '#core/attempt/logFile.ts';
import { randoms } from '../support.ts';

/**
 * What a disk makes of the writes since the last sync when everything stops. `none`: they are there (the process alone
 * was killed). `drop-unsynced`: none is. `torn-last`: of the last one a part is. `both`: none is, and of those that a
 * sync was just writing a part is. `zero-filled`: the file has grown by them, and has zeros there.
 */
export const faults = ['none', 'drop-unsynced', 'torn-last', 'both', 'zero-filled'] as const;
export type Fault = (typeof faults)[number];

/** A sync takes up to this long, so that many kills fall into one. */
const maxSyncMs = 60;

/** Opens files on a disk with that fault: what a killed process leaves there is what the fault leaves. */
export function faultyDisk(
  fault: Fault,
  seed: number,
  onSync: (when: 'begin' | 'end', file: string) => void,
): (file: string) => Promise<LogFile> {
  const random = randoms(seed);
  return async (file) => {
    const real = await openForWriting(file);
    let waiting: { readonly bytes: Buffer; readonly at: number }[] = [];
    const put = async ({ bytes, at }: { bytes: Buffer; at: number }): Promise<void> => {
      for (let done = 0; done < bytes.length; )
        done += (await real.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
    };
    const tear = ({ bytes, at }: { bytes: Buffer; at: number }) =>
      put({ bytes: bytes.subarray(0, Math.floor(random() * bytes.length)), at });
    const write = async (from: Buffer, offset: number, length: number, at: number) => {
      const bytes = Buffer.from(from.subarray(offset, offset + length));
      if (fault === 'none') return real.write(from, offset, length, at);
      waiting.push({ bytes, at });
      if (fault === 'torn-last') await tear({ bytes, at });
      if (fault === 'zero-filled') await put({ bytes: Buffer.alloc(length), at });
      return { bytesWritten: length, buffer: from };
    };
    return {
      read: real.read.bind(real),
      stat: real.stat.bind(real),
      truncate: real.truncate.bind(real),
      close: real.close.bind(real),
      write,
      async datasync() {
        const synced = waiting;
        waiting = [];
        onSync('begin', file);
        if (fault !== 'none') await delay(random() * maxSyncMs);
        const last = synced.at(-1);
        if (fault === 'both' && last) {
          for (const one of synced.slice(0, -1)) await put(one);
          await tear(last);
          await delay(random() * maxSyncMs);
        }
        for (const one of synced) await put(one);
        await real.datasync();
        onSync('end', file);
      },
    } as LogFile;
  };
}
