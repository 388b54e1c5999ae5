import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type LogFile, type OpenLogFile, openForWriting } from './logFile.ts';

export interface CastSize {
  readonly cols: number;
  readonly rows: number;
}

interface CastDeps {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Of the beginning. */
  readonly utcMs: number;
  readonly openFile?: OpenLogFile | undefined;
  /** Told what of the file is on the disk: so many bytes from its beginning, with their SHA-256. */
  readonly onKept?: (kept: { readonly bytes: number; readonly sha256: string }) => void;
}

/** Written and synced (fdatasync) this long after it was shown at the latest, as the record is. */
const flushMs = 400;
/** A burst that is kept whole, and what is kept of a lasting flood each second; characters. */
const burst = 1 << 20;
const perSecond = 1 << 17;
/** Of one terminal in all; beyond it only marks are kept. */
const maxChars = 64 << 20;

/**
 * What a terminal showed and what was typed, as asciicast v2 (a header, then one event a line). A flood is capped, and
 * what is left out is marked (an event `m`). Nothing of it is read by a program of ours to decide anything.
 */
export class CastFile {
  readonly #file: string;
  readonly #deps: CastDeps;
  readonly #since: number;
  #waiting: string;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #handle: LogFile | undefined;
  #position = 0;
  readonly #hash = createHash('sha256');
  #room = burst;
  #roomAt: number;
  #written = 0;
  #omitted = 0;
  #unmarked = 0;

  constructor(file: string, { cols, rows }: CastSize, deps: CastDeps) {
    this.#file = file;
    this.#deps = deps;
    this.#since = deps.nowMs();
    this.#roomAt = this.#since;
    const header = {
      version: 2,
      width: cols,
      height: rows,
      timestamp: Math.floor(deps.utcMs / 1000),
      env: { TERM: 'xterm-256color' },
    };
    this.#waiting = `${JSON.stringify(header)}\n`;
    this.#schedule();
  }

  /** Characters of output that were left out. */
  get omitted(): number {
    return this.#omitted;
  }

  output(text: string): void {
    this.#refill();
    if (text.length > this.#room || this.#written > maxChars) {
      this.#omitted += text.length;
      this.#unmarked += text.length;
      return;
    }
    this.#room -= text.length;
    this.#written += text.length;
    this.#mark();
    this.#event('o', text);
  }

  input(text: string): void {
    this.#event('i', text);
  }

  resize({ cols, rows }: CastSize): void {
    this.#event('r', `${cols}x${rows}`);
  }

  /** All of it is in the file. Never throws: the record itself says that a terminal was open. */
  async close(): Promise<void> {
    this.#mark();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#flush();
    await this.#handle?.close().catch(() => undefined);
  }

  #mark(): void {
    if (this.#unmarked === 0) return;
    const left = this.#unmarked;
    this.#unmarked = 0;
    this.#event('m', `${left} characters of output left out`);
  }

  #event(code: 'o' | 'i' | 'r' | 'm', data: string): void {
    const seconds = Math.max(0, this.#deps.nowMs() - this.#since) / 1000;
    this.#waiting += `${JSON.stringify([Number(seconds.toFixed(6)), code, data])}\n`;
    this.#schedule();
  }

  #refill(): void {
    const now = this.#deps.nowMs();
    this.#room = Math.min(burst, this.#room + (perSecond * Math.max(0, now - this.#roomAt)) / 1000);
    this.#roomAt = now;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, flushMs).unref();
  }

  #flush(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const text = this.#waiting;
      if (text === '') return;
      this.#waiting = '';
      try {
        await this.#keep(Buffer.from(text));
      } catch {
        // A full disk: the record has its reserve, a terminal's output has none.
        this.#omitted += text.length;
        this.#unmarked += text.length;
      }
    });
    return this.#writing;
  }

  async #keep(bytes: Buffer): Promise<void> {
    const { openFile = openForWriting, onKept } = this.#deps;
    if (!this.#handle) {
      await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      this.#handle = await openFile(this.#file);
    }
    for (let done = 0; done < bytes.length; ) {
      const rest = bytes.length - done;
      done += (await this.#handle.write(bytes, done, rest, this.#position + done)).bytesWritten;
    }
    await this.#handle.datasync();
    // Before that a write that failed is written over by the next one.
    this.#position += bytes.length;
    this.#hash.update(bytes);
    onKept?.({ bytes: this.#position, sha256: this.#hash.copy().digest('hex') });
  }
}
