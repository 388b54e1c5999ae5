import path from 'node:path';
import type { Disposable } from '#core/base/disposable.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import { CastFile, type CastSize } from './castFile.ts';
import { applyLine, type ClockState, clockAt } from './clock.ts';
import { keepClock, readClock } from './clockCache.ts';
import { type HostClock, hostClock, momentOf, readHostClock } from './hostClock.ts';
import { takeUpGuardEvents } from './hostGuard.ts';
import type { OpenLogFile } from './logFile.ts';
import { takeUpReveals } from './outsideReveals.ts';
import type { RecordEvent, RecordLine } from './recordEvents.ts';
import { RecordLog, type RecordLogDeps } from './recordLog.ts';

export interface RecorderDeps extends Pick<RecordLogDeps, 'openFile' | 'reserveBytes'> {
  readonly log: Log;
  readonly hostClock?: HostClock;
}

/** Of an attempt's folder. */
export function recordFileOf(dir: string): string {
  return path.join(dir, 'record.jsonl');
}

/** Writes an attempt's record while its lock is held, and keeps its clock. */
export class Recorder implements Disposable {
  readonly #dir: string;
  readonly #time: HostClock;
  readonly #openFile: OpenLogFile | undefined;
  readonly #appended = new Emitter<RecordLine>();
  #log: RecordLog | undefined;
  #clock: ClockState;
  #takingUp: Promise<void> = Promise.resolve();
  #lastMs = 0;
  readonly #edits: [RecordEvent, ReturnType<typeof readHostClock>][] = [];
  #settling: NodeJS.Immediate | undefined;
  #commands = 0;
  #terminals = 0;

  /** Fires with what goes into the record, before it is on the disk; with an edit a turn later. */
  readonly onDidAppend = this.#appended.event;

  private constructor(dir: string, clock: ClockState, deps: RecorderDeps) {
    this.#dir = dir;
    this.#clock = clock;
    this.#time = deps.hostClock ?? hostClock;
    this.#openFile = deps.openFile;
  }

  /** Reads what there is, and what a guard left. Errors: what the file system says. */
  static async open(dir: string, deps: RecorderDeps): Promise<Recorder> {
    const recorder = new Recorder(dir, await readClock(dir, recordFileOf(dir)), deps);
    const { log, openFile, reserveBytes } = deps;
    recorder.#log = await RecordLog.open(recordFileOf(dir), {
      log,
      clock: recorder.#time,
      onLine: (line) => recorder.#take(line),
      ...(openFile === undefined ? {} : { openFile }),
      ...(reserveBytes === undefined ? {} : { reserveBytes }),
    });
    await recorder.takeUpGuard();
    await recorder.takeUpReveals();
    return recorder;
  }

  /**
   * Never throws. An edit is only kept with its moment, since somebody waits for the next letter: the rest of the work
   * is done a turn later, or before anything else is asked.
   */
  append(event: RecordEvent): void {
    if (event.kind === 'edit') {
      this.#edits.push([event, readHostClock(this.#time)]);
      this.#settling ??= setImmediate(() => this.#settle());
      return;
    }
    this.#settle();
    this.#log?.append(event);
  }

  #settle(): void {
    clearImmediate(this.#settling);
    this.#settling = undefined;
    for (const [event, at] of this.#edits.splice(0)) this.#log?.append(event, at);
  }

  /** On the disk. */
  async flush(): Promise<void> {
    this.#settle();
    await this.#log?.flush();
  }

  /** What a guard did goes into the record, at the time of its own. */
  async takeUpGuard(): Promise<void> {
    await takeUpGuardEvents(this.#dir, async (events) => {
      for (const event of events) this.append(event);
      await this.flush();
    });
  }

  /** What was shown elsewhere meanwhile goes into the record. */
  takeUpReveals(): Promise<void> {
    this.#takingUp = this.#takingUp
      .catch(() => undefined)
      .then(() =>
        takeUpReveals(this.#dir, async (events) => {
          for (const event of events) this.append(event);
          await this.flush();
        }),
      );
    return this.#takingUp;
  }

  /** As it stands now. */
  get clock(): ClockState {
    this.#settle();
    return clockAt(this.#clock, momentOf(this.#time));
  }

  /** Why nothing can be written at the moment. */
  get failure(): string | undefined {
    return this.#log?.failure;
  }

  /** Milliseconds since the last event. */
  get quietMs(): number {
    this.#settle();
    return this.#time.monoMs() - this.#lastMs;
  }

  /** A terminal's own file beside the record; it says in the record that it is there. */
  openCast(size: CastSize): { readonly cast: CastFile; readonly id: string } {
    const id = `t${this.#time.utcMs().toString(36)}-${this.#terminals++}`;
    const cast = new CastFile(path.join(this.#dir, 'terminals', `${id}.cast`), size, {
      nowMs: () => this.#time.monoMs(),
      utcMs: this.#time.utcMs(),
      openFile: this.#openFile,
      onKept: (kept) => this.append({ kind: 'cast', id, ...kept }),
    });
    this.append({ kind: 'terminal', id, cast: `terminals/${id}.cast`, ...size });
    return { cast, id };
  }

  /** A command that somebody waits for; the result says that it ended. */
  command(
    what: Pick<RecordEvent & { kind: 'command' }, 'in' | 'actor' | 'command'> & { readonly cwd?: string },
  ): (exitCode: number | null) => void {
    const id = `c${this.#time.utcMs().toString(36)}-${this.#commands++}`;
    this.append({ kind: 'command', id, ...what });
    let hasEnded = false;
    return (exitCode) => {
      if (!hasEnded) this.append({ kind: 'command-ended', id, exitCode });
      hasEnded = true;
    };
  }

  async close(): Promise<void> {
    // What stays is taken up when it is opened next.
    await this.takeUpReveals().catch(() => undefined);
    this.#settle();
    const place = await this.#log?.close();
    // A cache: without it, the record is read.
    if (place) await keepClock(this.#dir, recordFileOf(this.#dir), this.#clock, place).catch(() => undefined);
    this.dispose();
  }

  #take(line: RecordLine): void {
    this.#clock = applyLine(this.#clock, line);
    this.#lastMs = line.mono;
    this.#appended.fire(line);
  }

  dispose(): void {
    this.#appended.dispose();
  }
}
