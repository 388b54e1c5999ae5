import { createHash } from 'node:crypto';
import { errorMessage, isDiskFull } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { type HostClock, hostClock, readHostClock } from './hostClock.ts';
import { type LogFile, type OpenLogFile, openForWriting } from './logFile.ts';
import { type RecordEvent, type RecordLine, recordVersion } from './recordEvents.ts';
import { makeReserve, releaseReserve, reserveBytes } from './reserve.ts';

export interface RecordLogDeps {
  readonly log: Log;
  readonly clock?: HostClock;
  readonly openFile?: OpenLogFile;
  readonly reserveBytes?: number;
  /** Told what goes into the file, in order. */
  readonly onLine?: (line: RecordLine) => void;
}

/** A line is written and synced (fdatasync) this long after its event at the latest: a crash loses less than a second. */
export const flushMs = 400;
/** What waits for a disk that takes nothing; beyond it events are dropped, and their numbers are missing. */
const maxWaitingBytes = 64 << 20;
const retryMs = 1_000;
/** A reserve that was given up is not tried again before. */
const renewMs = 60_000;
export const firstHash = '0'.repeat(32);

/** Half a SHA-256: it shows damage; it is no proof against the machine's owner. */
export function hashLine(line: string | Buffer): string {
  return createHash('sha256').update(line).digest('hex').slice(0, 32);
}

/**
 * The writer of record.jsonl; one at a time (the caller has the attempt's lock). `append` does no input or output and
 * takes microseconds; a timer writes. Where the disk is full, a reserve beside the file is given up for it.
 */
export class RecordLog {
  readonly #deps: RecordLogDeps;
  readonly #clock: HostClock;
  readonly #file: string;
  readonly #handle: LogFile;
  #position: number;
  #next: number;
  #hash: string;
  #queue: RecordLine[] = [];
  /** Serialised and not yet written. */
  #buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #hasReserve: boolean;
  #renewAfter = 0;
  #failure: string | undefined;
  #isClosed = false;

  private constructor(file: string, handle: LogFile, tail: Tail, hasReserve: boolean, deps: RecordLogDeps) {
    this.#file = file;
    this.#handle = handle;
    this.#deps = deps;
    this.#clock = deps.clock ?? hostClock;
    this.#position = tail.end;
    this.#next = tail.next;
    this.#hash = tail.hash;
    this.#hasReserve = hasReserve;
  }

  /**
   * Opens or makes the file; a torn last line is cut off, and the first line of this process says so. Errors: what the
   * file system says.
   */
  static async open(file: string, deps: RecordLogDeps): Promise<RecordLog> {
    const handle = await (deps.openFile ?? openForWriting)(file);
    try {
      const tail = await readTail(handle);
      if (tail.tornBytes > 0) await handle.truncate(tail.end);
      const hasReserve = await makeReserve(file, deps.reserveBytes ?? reserveBytes, deps.log);
      const opened = new RecordLog(file, handle, tail, hasReserve, deps);
      const { boot, sleep } = opened.#clock;
      const torn = tail.tornBytes > 0 ? { tornBytes: tail.tornBytes } : {};
      opened.append({ kind: 'opened', boot, sleep, pid: process.pid, ...torn });
      return opened;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Why nothing can be written at the moment; undefined while it can. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Never throws; what comes after `close` is dropped. */
  append(event: RecordEvent, { utcMs, monoMs } = readHostClock(this.#clock)): void {
    if (this.#isClosed) return;
    const line: RecordLine = {
      n: this.#next++,
      utc: new Date(utcMs).toISOString(),
      mono: monoMs,
      ...event,
    };
    this.#queue.push(line);
    this.#deps.onLine?.(line);
    this.#schedule(flushMs);
  }

  /** Resolves when all that was appended before is on the disk. Rejects when it cannot be written. */
  async flush(): Promise<void> {
    while (this.#queue.length > 0 || this.#buffer.length > 0 || this.#writing !== undefined) {
      await this.#write();
      if (this.#failure !== undefined) throw new Error(`The record cannot be written: ${this.#failure}`);
    }
  }

  /** Writes what is left, and says where the file ends; undefined where not all could be written. Never throws. */
  async close(): Promise<{ readonly offset: number; readonly hash: string } | undefined> {
    if (this.#isClosed) return undefined;
    this.append({ kind: 'closed' });
    this.#isClosed = true;
    await this.flush().catch((error: unknown) => this.#deps.log.warn(errorMessage(error)));
    clearTimeout(this.#timer);
    await this.#handle.close().catch(() => undefined);
    // Nobody writes until it is opened again, which makes another one.
    await releaseReserve(this.#file).catch(() => undefined);
    return this.#failure === undefined ? { offset: this.#position, hash: this.#hash } : undefined;
  }

  #schedule(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, ms).unref();
  }

  /** One at a time; what comes meanwhile is written next. */
  async #write(): Promise<void> {
    this.#writing ??= this.#writeQueue().finally(() => {
      this.#writing = undefined;
      if (this.#failure !== undefined && !this.#isClosed) this.#schedule(retryMs);
      // Their timer went off while a slow disk still wrote what came before.
      else if (this.#queue.length > 0) this.#schedule(0);
    });
    await this.#writing;
  }

  async #writeQueue(): Promise<void> {
    this.#serialise();
    if (this.#buffer.length === 0) return;
    try {
      await this.#writeBuffer();
      await this.#handle.datasync();
      this.#failure = undefined;
      await this.#renewReserve();
    } catch (error) {
      if (this.#failure === undefined)
        this.#deps.log.error(`${this.#file} cannot be written: ${errorMessage(error)}`);
      this.#failure = errorMessage(error);
    }
  }

  /** Of a write that fails half-way, what was written is not written again. */
  async #writeBuffer(): Promise<void> {
    while (this.#buffer.length > 0) {
      try {
        const { bytesWritten } = await this.#handle.write(
          this.#buffer,
          0,
          this.#buffer.length,
          this.#position,
        );
        this.#position += bytesWritten;
        this.#buffer = this.#buffer.subarray(bytesWritten);
      } catch (error) {
        if (!isDiskFull(error) || !this.#hasReserve) throw error;
        this.#hasReserve = false;
        this.#renewAfter = this.#clock.monoMs() + renewMs;
        await releaseReserve(this.#file);
        this.append({ kind: 'disk', what: 'full' });
      }
    }
  }

  async #renewReserve(): Promise<void> {
    if (this.#hasReserve || this.#clock.monoMs() < this.#renewAfter) return;
    this.#renewAfter = this.#clock.monoMs() + renewMs;
    this.#hasReserve = await makeReserve(this.#file, this.#deps.reserveBytes ?? reserveBytes, this.#deps.log);
  }

  #serialise(): void {
    const parts = [this.#buffer];
    let size = this.#buffer.length;
    for (const line of this.#queue.splice(0)) {
      if (size > maxWaitingBytes) continue;
      const { n, utc, mono, ...event } = line;
      const text = JSON.stringify({ v: recordVersion, n, utc, mono, prev: this.#hash, ...event });
      const bytes = Buffer.from(`${text}\n`);
      this.#hash = hashLine(bytes.subarray(0, -1));
      parts.push(bytes);
      size += bytes.length;
    }
    this.#buffer = Buffer.concat(parts);
  }
}

interface Tail {
  /** Where the next line begins. */
  readonly end: number;
  readonly next: number;
  readonly hash: string;
  readonly tornBytes: number;
}

const tailChunk = 1 << 16;

/** The last whole line, read from the end: the file may be large. */
async function readTail(handle: LogFile): Promise<Tail> {
  const { size } = await handle.stat();
  let text = Buffer.alloc(0);
  for (let start = size; ; ) {
    const end = text.lastIndexOf(10);
    const begin = end > 0 ? text.lastIndexOf(10, end - 1) : -1;
    if (end >= 0 && (begin >= 0 || start === 0)) {
      const line = text.subarray(begin + 1, end);
      const place = start + end + 1;
      return { end: place, next: numberOf(line) + 1, hash: hashLine(line), tornBytes: size - place };
    }
    if (start === 0) return { end: 0, next: 0, hash: firstHash, tornBytes: size };
    const from = Math.max(0, start - Math.max(tailChunk, text.length));
    const chunk = Buffer.alloc(start - from);
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, from);
    text = Buffer.concat([chunk.subarray(0, bytesRead), text]);
    start = from;
  }
}

function numberOf(line: Buffer): number {
  try {
    const { n } = JSON.parse(line.toString('utf8')) as { n?: unknown };
    return typeof n === 'number' ? n : 0;
  } catch {
    return 0;
  }
}
