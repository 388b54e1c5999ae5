import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { errorMessage } from '#core/base/errors.ts';
import type { ContainerHandle } from './engine.ts';
import { readFrames } from './frames.ts';
import { command, serverScript } from './fsScript.ts';
import { Tail } from './streams.ts';

/** One command for the container's end, and what becomes of its reply. */
export interface FsRequest {
  readonly command: string;
  /** Follows the command's line; the command says how many bytes it takes. */
  readonly payload?: Uint8Array;
  /** Gets the reply's bytes in order; awaited, so a slow taker slows the sender. */
  readonly onData: (data: Buffer) => void | Promise<void>;
  /** How long the container may show no progress with it. */
  readonly deadlineMs: number;
  readonly nonce: string;
}

/** The connection ended before a reply was complete. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

interface Pending extends FsRequest {
  readonly marker: Buffer;
  readonly resolve: (code: number) => void;
  readonly reject: (error: Error) => void;
}

const openDeadlineMs = 10_000;
const closeGraceMs = 1_000;
const payloadPiece = 65_536;

/**
 * One process in the container that answers requests in their order. It ends when its input does, so nothing is left
 * when the host dies; one that hangs in a command is killed with its children by `kill`.
 */
export class FsConnection {
  readonly #container: ContainerHandle;
  readonly #user: string | undefined;
  readonly #stream: Duplex;
  readonly #key: string;
  readonly #pending: Pending[] = [];
  readonly #stderr = new Tail(2_000);
  #writes: Promise<void> = Promise.resolve();
  #rest: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  /** The first reply: its process id, or the engine's words when there is no sh. */
  #greeting = '';
  #lost: ConnectionLostError | undefined;
  #reaped: Promise<void> | undefined;
  /** Settles, never rejects, when the connection has ended and nothing of it runs; says why it ended. */
  readonly ended: Promise<ConnectionLostError>;

  static async open(container: ContainerHandle, user: string | undefined): Promise<FsConnection> {
    const key = randomBytes(6).toString('hex');
    const deadline = AbortSignal.timeout(openDeadlineMs);
    const spec = { command: ['sh', '-c', serverScript(key)], tty: false };
    const { stream } = await container
      .interact(user === undefined ? spec : { ...spec, user }, deadline)
      .catch((error: unknown) => {
        if (!deadline.aborted) throw error;
        throw new Error(`The engine gave no answer within ${openDeadlineMs / 1000} s.`);
      });
    const connection = new FsConnection(container, user, stream, key);
    // Not awaited: the first real request follows at once.
    connection.#askPid().catch(() => undefined);
    return connection;
  }

  private constructor(container: ContainerHandle, user: string | undefined, stream: Duplex, key: string) {
    this.#container = container;
    this.#user = user;
    this.#stream = stream;
    this.#key = key;
    stream.on('error', () => undefined);
    this.ended = this.#readReplies();
  }

  get isOpen(): boolean {
    return this.#lost === undefined;
  }

  /** A name that no request had before; those that make temporary files carry it. */
  makeNonce(): string {
    return this.#key + randomBytes(12).toString('hex');
  }

  /** Sends a request behind those before it. Rejects with `ConnectionLostError`; the result is the command's exit code. */
  request(request: FsRequest): Promise<number> {
    if (this.#lost) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      const marker = Buffer.from(`\0${request.nonce} `, 'latin1');
      this.#pending.push({ ...request, marker, resolve, reject });
      if (this.#pending.length === 1) this.#watch();
      this.#writes = this.#writes.then(() => this.#send(request)).catch(() => undefined);
    });
  }

  /** Lets the process end by itself, and sees to it that it does. */
  async close(): Promise<void> {
    this.#fail(new ConnectionLostError('The file channel was closed.'));
    this.#stream.end();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(true), closeGraceMs);
    });
    const isLate = await Promise.race([this.ended.then(() => false), late]);
    clearTimeout(timer);
    if (isLate) await this.kill('The file channel was closed.');
  }

  /** Ends the process, whatever it does, with the children of its group. */
  async kill(reason: string): Promise<void> {
    this.#fail(new ConnectionLostError(reason));
    this.#stream.destroy();
    await this.#reapOnce();
  }

  /** A killed server may leave a child at work: its group goes too, at once, before the number can be another's. */
  #reapOnce(): Promise<void> {
    this.#reaped ??= this.#reapGroup();
    return this.#reaped;
  }

  async #reapGroup(): Promise<void> {
    const pid = /^\d+(?=\n)/.exec(this.#greeting)?.[0];
    if (pid === undefined) return;
    const user = this.#user === undefined ? {} : { user: this.#user };
    try {
      await this.#container.exec(
        { command: ['sh', '-c', 'kill -9 -"$1" 2>/dev/null; :', 'sh', pid], ...user },
        AbortSignal.timeout(openDeadlineMs),
      );
    } catch {
      // Paused, stopped or gone: its input has ended, and so will it when it runs again.
    }
  }

  async #askPid(): Promise<void> {
    const onData = (data: Buffer): void => {
      this.#greeting = (this.#greeting + data.toString('latin1')).slice(0, 500);
    };
    const nonce = this.makeNonce();
    await this.request({ command: command.pid(), onData, deadlineMs: openDeadlineMs, nonce });
  }

  async #send({ nonce, command: text, payload }: FsRequest): Promise<void> {
    if (this.#lost) return;
    const line = Buffer.from(`${nonce} ${text}\n`, 'latin1');
    if (!payload) return this.#write(line);
    await this.#write(Buffer.concat([line, payload.subarray(0, payloadPiece)]));
    for (let at = payloadPiece; at < payload.length && !this.#lost; at += payloadPiece) {
      await this.#write(payload.subarray(at, at + payloadPiece));
      this.#watch();
    }
  }

  async #write(data: Uint8Array): Promise<void> {
    if (this.#stream.write(data) || this.#stream.destroyed) return;
    const stop = new AbortController();
    const { signal } = stop;
    try {
      await Promise.race([once(this.#stream, 'drain', { signal }), once(this.#stream, 'close', { signal })]);
    } finally {
      stop.abort();
    }
  }

  async #readReplies(): Promise<ConnectionLostError> {
    let error: unknown;
    try {
      for await (const { data, stream } of readFrames(this.#stream)) {
        if (stream === 'stderr') this.#stderr.write(data);
        else await this.#take(data);
        if (this.#lost) break;
      }
    } catch (thrown) {
      error = thrown;
    }
    if (!this.#lost) {
      const unread = this.#greeting.replace(/^\d+\n/, '') + this.#rest.toString('utf8');
      const said = [unread, `${this.#stderr.bytes()}`].map((text) => text.trim()).filter(Boolean);
      const why = error === undefined ? 'its process in the container ended' : errorMessage(error);
      this.#fail(
        new ConnectionLostError([`The file channel broke: ${why}`, ...said].join('; ').slice(0, 1_000)),
      );
      await this.#reapOnce();
    }
    await this.#reaped;
    return this.#lost as unknown as ConnectionLostError;
  }

  async #take(data: Buffer): Promise<void> {
    let chunk = this.#rest.length > 0 ? Buffer.concat([this.#rest, data]) : data;
    this.#rest = Buffer.alloc(0);
    while (chunk.length > 0 && !this.#lost) {
      const first = this.#pending[0];
      if (!first) {
        this.#rest = chunk.subarray(0, 500);
        return this.#breakOff('a reply came that nobody asked for');
      }
      const at = chunk.indexOf(first.marker);
      const end = at < 0 ? -1 : chunk.indexOf(10, at + first.marker.length);
      // The marker may begin at the very end of this piece.
      const safe = at < 0 ? Math.max(0, chunk.length - first.marker.length + 1) : at;
      if (safe > 0) await this.#deliver(first, chunk.subarray(0, safe));
      if (end < 0) {
        this.#rest = chunk.subarray(safe);
        return;
      }
      const code = Number(chunk.toString('latin1', at + first.marker.length, end));
      this.#pending.shift();
      this.#watch();
      first.resolve(Number.isInteger(code) ? code : 255);
      chunk = chunk.subarray(end + 1);
    }
  }

  async #deliver(request: Pending, data: Buffer): Promise<void> {
    const taken = request.onData(data);
    if (taken instanceof Promise) {
      clearTimeout(this.#timer);
      await taken;
    }
    this.#watch();
  }

  /** (Re)starts the deadline of the request that is being answered. */
  #watch(): void {
    clearTimeout(this.#timer);
    const first = this.#pending[0];
    if (!first || this.#lost) return;
    this.#timer = setTimeout(() => {
      this.#breakOff(`no answer within ${first.deadlineMs / 1000} s`);
    }, first.deadlineMs);
  }

  #breakOff(why: string): void {
    void this.kill(`The file channel broke: ${why}.`);
  }

  #fail(error: ConnectionLostError): void {
    if (this.#lost) return;
    this.#lost = error;
    clearTimeout(this.#timer);
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }
}
