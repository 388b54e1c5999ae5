import { statfs } from 'node:fs/promises';
import { errorMessage, UserError } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { AttemptStore } from './attemptStore.ts';
import { HostGuard } from './hostGuard.ts';
import type { RecordEvent } from './recordEvents.ts';
import { Recorder, type RecorderDeps } from './recorder.ts';
import { SessionWatch } from './sessionWatch.ts';

/** Below this much room for the store the work is frozen, long before the record has none. */
const minFreeBytes = 2 * 1024 ** 3;

export interface RecordersDeps extends RecorderDeps {
  readonly store: AttemptStore;
  /** dist/guard.cjs; without it nothing freezes the container of a process that is killed. */
  readonly guardScript?: string | undefined;
  /** Where the engine is, as DOCKER_HOST has it. */
  readonly engineAddress: () => Promise<string>;
  readonly freeBytes?: (() => Promise<number>) | undefined;
}

/** The time or the disk of an attempt is at an end, or its guard froze the container while we live. */
export interface SessionAlarm {
  readonly id: string;
  readonly what: 'time is up' | 'disk is low' | 'guard ended';
}

interface Watched {
  readonly recorder: Recorder;
  watch?: SessionWatch;
  guard?: Promise<HostGuard | undefined>;
}

/** The recorders of the attempts whose lock this process has, each with what watches over its container. */
export class Recorders {
  readonly #deps: RecordersDeps;
  readonly #opening = new Map<string, Promise<Watched>>();
  readonly #open = new Map<string, Watched>();
  readonly #alarms = new Emitter<SessionAlarm>();

  readonly onAlarm = this.#alarms.event;

  constructor(deps: RecordersDeps) {
    this.#deps = deps;
  }

  /** Undefined where none is open here. */
  peek(id: string): Recorder | undefined {
    return this.#open.get(id)?.recorder;
  }

  /** Into the record, where it is open. */
  append(id: string, event: RecordEvent): void {
    this.peek(id)?.append(event);
  }

  /** The caller has the lock; `close` is called before it is given back. Errors: `UserError`. */
  async open(id: string): Promise<Recorder> {
    const opening = this.#opening.get(id) ?? this.#start(id);
    this.#opening.set(id, opening);
    try {
      return (await opening).recorder;
    } catch (error) {
      this.#opening.delete(id);
      throw new UserError(`The record of the attempt ${id} cannot be written: ${errorMessage(error)}.`, {
        nextStep: 'Make room on the disk, or repair the rights of its folder, and try again.',
        cause: error,
      });
    }
  }

  /** The container is about to run: from here on its time is watched, and a guard stands by. Errors: `UserError`. */
  async watch(id: string): Promise<void> {
    const watched = this.#open.get(id);
    if (!watched) return;
    watched.guard ??= this.#startGuard(id, watched);
    await watched.guard;
    if (watched.watch) return;
    const { budgetSec } = await this.#deps.store.read(id);
    watched.watch ??= new SessionWatch({
      recorder: watched.recorder,
      budgetSec,
      minFreeBytes,
      freeBytes: () => this.freeBytes(),
      onTimeUp: () => this.#alarms.fire({ id, what: 'time is up' }),
      onDiskLow: () => this.#alarms.fire({ id, what: 'disk is low' }),
    });
  }

  /** Room for the store. */
  async freeBytes(): Promise<number> {
    if (this.#deps.freeBytes) return this.#deps.freeBytes();
    const { bavail, bsize } = await statfs(this.#deps.store.storeDir);
    return bavail * bsize;
  }

  /** Errors: `UserError` while there is too little room to work. */
  async requireRoom(): Promise<void> {
    const free = await this.freeBytes().catch(() => Number.POSITIVE_INFINITY);
    if (free >= minFreeBytes) return;
    throw new UserError(
      `The disk of ${this.#deps.store.storeDir} has ${Math.floor(free / 1e6)} MB left, and the workspace stays frozen below ${Math.ceil(minFreeBytes / 1e6)} MB.`,
      { nextStep: 'Make room on it, then resume.' },
    );
  }

  /** The container is frozen or ended. Never throws. */
  async close(id: string): Promise<void> {
    const opening = this.#opening.get(id);
    this.#opening.delete(id);
    this.#open.delete(id);
    const watched = await opening?.catch(() => undefined);
    if (!watched) return;
    watched.watch?.stop();
    const guard = await watched.guard?.catch(() => undefined);
    await guard?.stop();
    await watched.recorder.close();
  }

  async #start(id: string): Promise<Watched> {
    const watched: Watched = { recorder: await Recorder.open(this.#deps.store.dirOf(id), this.#deps) };
    this.#open.set(id, watched);
    return watched;
  }

  async #startGuard(id: string, watched: Watched): Promise<HostGuard | undefined> {
    const { guardScript, store, log } = this.#deps;
    if (guardScript === undefined) return undefined;
    const onEnd = (): void => {
      if (this.#open.get(id) !== watched) return;
      delete watched.guard;
      this.#alarms.fire({ id, what: 'guard ended' });
    };
    return HostGuard.start({
      dir: store.dirOf(id),
      attemptId: id,
      script: guardScript,
      dockerHost: await this.#deps.engineAddress(),
      log,
      onEnd,
    });
  }
}
