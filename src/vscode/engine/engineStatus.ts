import type { Disposable } from '#core/base/disposable.ts';
import { errorMessage, UserError } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import type { EngineInfo } from '#core/container/engine.ts';
import type { Engine } from '#vscode/ports.ts';

/** What is known about the container engine. */
export type EngineState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ready'; readonly info: EngineInfo }
  /** `message` says what was tried. */
  | { readonly kind: 'missing'; readonly message: string; readonly nextStep?: string };

/** Knows whether an engine answers. Asks only when told to: when a view shows, or a command needs it. */
export class EngineStatus<E extends Engine> implements Disposable {
  readonly #connect: () => Promise<E>;
  readonly #log: Log;
  readonly #changed = new Emitter<EngineState>();
  #state: EngineState = { kind: 'unknown' };

  readonly onDidChange = this.#changed.event;

  /** `connect` rejects with a `UserError` that says what was tried. */
  constructor(connect: () => Promise<E>, log: Log) {
    this.#connect = connect;
    this.#log = log;
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Connects and takes note of the answer. The caller closes the engine. */
  async connect(): Promise<E> {
    let engine: E | undefined;
    try {
      engine = await this.#connect();
      const info = await engine.info();
      this.#log.info(`Engine: ${engineLabel(info)}`);
      this.#set({ kind: 'ready', info });
      return engine;
    } catch (error) {
      engine?.close();
      this.#log.warn(`No engine: ${errorMessage(error)}`);
      const nextStep = error instanceof UserError ? error.nextStep : undefined;
      this.#set({
        kind: 'missing',
        message: errorMessage(error),
        ...(nextStep === undefined ? {} : { nextStep }),
      });
      throw error;
    }
  }

  /** Asks now. Never rejects: that no engine answers is an answer. */
  async check(): Promise<EngineState> {
    try {
      (await this.connect()).close();
    } catch {
      // The state has the reason.
    }
    return this.#state;
  }

  #set(state: EngineState): void {
    this.#state = state;
    this.#changed.fire(state);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

const gibibyte = 1024 ** 3;

/** "Docker 20.10.24 on linux/amd64, 2 CPUs, 7.8 GiB memory, at unix:///…". */
export function engineLabel(info: EngineInfo): string {
  return `${info.product} ${info.version} on ${info.os}/${info.arch}, ${info.cpus} CPUs, ${memoryLabel(info)} memory, at ${info.address}`;
}

/** "7.8 GiB". */
export function memoryLabel({ memoryBytes }: Pick<EngineInfo, 'memoryBytes'>): string {
  return `${(memoryBytes / gibibyte).toFixed(1)} GiB`;
}
