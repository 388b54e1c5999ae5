import { CancelledError, errorMessage, throwIfCancelled } from '#core/base/errors.ts';
import type { ContainerHandle } from './engine.ts';
import { ConnectionLostError, FsConnection } from './fsChannelConnection.ts';
import { FsError } from './fsChannelErrors.ts';
import { command } from './fsScript.ts';

/** A new process took over from one that ended or hung. */
export interface FsRestart {
  readonly lane: string;
  /** Why the process before it was lost, a sentence. */
  readonly reason: string;
  /** Requests that were on their way then. */
  readonly interrupted: number;
}

export interface LaneRequest {
  readonly command: string;
  readonly payload?: Uint8Array;
  /** For errors; binary string. */
  readonly path: string;
  /** May be asked again when the answer was lost. */
  readonly isIdempotent: boolean;
  /** Path beside which an interrupted request may have left a temporary file. */
  readonly leavesBeside?: string;
  readonly deadlineMs: number;
  /** A longer reply is `too-large`. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface LaneReply {
  readonly code: number;
  readonly output: Buffer;
}

/** So many requests are sent ahead; one that waits behind them can still be cancelled for nothing. */
const window = 32;
const undoDeadlineMs = 10_000;

/** Requests of one kind over one connection, which is opened when first needed and replaced when it is lost. */
export class FsLane {
  readonly #name: string;
  readonly #container: ContainerHandle;
  readonly #user: string | undefined;
  readonly #onRestart: (restart: FsRestart) => void;
  #current: FsConnection | undefined;
  #opening: Promise<FsConnection> | undefined;
  #loss: { reason: string; interrupted: number } | undefined;
  #undo: { nonce: string; path: string }[] = [];
  #sent = 0;
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor(
    name: string,
    container: ContainerHandle,
    user: string | undefined,
    onRestart: (restart: FsRestart) => void,
  ) {
    this.#name = name;
    this.#container = container;
    this.#user = user;
    this.#onRestart = onRestart;
  }

  /** Errors: `FsError` for `unavailable` and `too-large`; `CancelledError`. A command's own failure is its code. */
  run(request: LaneRequest): Promise<LaneReply> {
    return orCancelled(this.#runInTurn(request), request.signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening?.catch(() => undefined);
    await this.#current?.close();
  }

  async #runInTurn(request: LaneRequest): Promise<LaneReply> {
    if (this.#sent >= window) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#sent++;
    try {
      return await this.#runNow(request);
    } finally {
      this.#sent--;
      this.#waiting.shift()?.();
    }
  }

  async #runNow(request: LaneRequest): Promise<LaneReply> {
    for (let attempt = 0; ; attempt++) {
      throwIfCancelled(request.signal);
      const connection = await this.#connection(request.path);
      const wasOpen = connection.isOpen;
      const nonce = connection.makeNonce();
      try {
        return await this.#ask(connection, nonce, request);
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error;
        if (wasOpen) this.#note(error, nonce, request);
        if (attempt === 0 && (request.isIdempotent || !wasOpen) && !this.#closed) continue;
        throw new FsError('unavailable', request.path, error.message, { cause: error });
      }
    }
  }

  async #ask(connection: FsConnection, nonce: string, request: LaneRequest): Promise<LaneReply> {
    const parts: Buffer[] = [];
    let length = 0;
    const code = await connection.request({
      command: request.command,
      ...(request.payload ? { payload: request.payload } : {}),
      nonce,
      deadlineMs: request.deadlineMs,
      onData(data) {
        if (length <= request.maxBytes) parts.push(data);
        length += data.length;
      },
    });
    if (length > request.maxBytes)
      throw new FsError('too-large', request.path, `It is larger than ${request.maxBytes} bytes.`);
    return { code, output: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
  }

  #note(error: ConnectionLostError, nonce: string, { leavesBeside }: LaneRequest): void {
    this.#loss ??= { reason: error.message, interrupted: 0 };
    this.#loss.interrupted++;
    if (leavesBeside !== undefined) this.#undo.push({ nonce, path: leavesBeside });
  }

  async #connection(path: string): Promise<FsConnection> {
    if (this.#closed) throw new FsError('unavailable', path, 'The file channel is closed.');
    if (this.#current?.isOpen) return this.#current;
    this.#opening ??= this.#open(this.#current).finally(() => {
      this.#opening = undefined;
    });
    try {
      return await this.#opening;
    } catch (error) {
      throw new FsError('unavailable', path, errorMessage(error), { cause: error });
    }
  }

  async #open(before: FsConnection | undefined): Promise<FsConnection> {
    if (before) {
      const lost = await before.ended;
      this.#loss ??= { reason: lost.message, interrupted: 0 };
    }
    const connection = await FsConnection.open(this.#container, this.#user);
    this.#current = connection;
    for (const { nonce, path } of this.#undo.splice(0)) {
      const request = { command: command.undo(nonce, path), deadlineMs: undoDeadlineMs };
      void connection
        .request({ ...request, nonce: connection.makeNonce(), onData: () => undefined })
        .catch(() => undefined);
    }
    const loss = this.#loss;
    this.#loss = undefined;
    if (loss) this.#onRestart({ lane: this.#name, ...loss });
    return connection;
  }
}

/** The caller is let go at once; the answer, when it comes, is dropped. */
function orCancelled<T>(reply: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return reply;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new CancelledError());
    signal.addEventListener('abort', onAbort, { once: true });
    reply.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
