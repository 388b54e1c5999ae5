import { PassThrough } from 'node:stream';
import { CancelledError, throwIfCancelled } from '#core/base/errors.ts';
import { Emitter, type Event } from '#core/base/event.ts';
import type { ContainerHandle } from './engine.ts';
import { ConnectionLostError, FsConnection } from './fsChannelConnection.ts';
import { FsError, fsErrorOf } from './fsChannelErrors.ts';
import { FsLane, type FsRestart, type LaneReply, type LaneRequest } from './fsChannelLane.ts';
import {
  type FsEntry,
  type FsStat,
  parseList,
  parseScan,
  parseStat,
  parseStatMany,
} from './fsChannelReplies.ts';
import { type FsTree, parseTree } from './fsChannelTree.ts';
import { type FsWatch, watchTree } from './fsChannelWatch.ts';
import { blockBytes, command } from './fsScript.ts';

export interface FsCallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface FsReadOptions extends FsCallOptions {
  /** A larger file is `too-large`. Default 64 MiB. */
  readonly maxBytes?: number;
}

export interface FsWriteOptions extends FsCallOptions {
  /** Default true; else a file that is not there is `not-found`. */
  readonly create?: boolean;
  /** Default true; else a file that is there is `exists`. */
  readonly overwrite?: boolean;
}

export interface FsMoveOptions extends FsCallOptions {
  /** Default false: a target that is there is `exists`; true replaces it, whatever it is. */
  readonly overwrite?: boolean;
}

/** Deleting, copying and moving say nothing until they are done. */
const longMs = 600_000;
/** Read in one go by the channel that everything waits for; larger files take the other one. */
const inlineBlocks = 4;
const maxInlineWrite = 1 << 20;
const maxReply = 64 << 20;
const pathsPerStat = 200;

/**
 * The files of a running container, over processes that need only sh and coreutils there. Paths are absolute *binary
 * strings*, one character a byte (`toBinary`). What comes back is the container's word: a program inside may have
 * replaced its tools. Errors: `FsError`; `CancelledError` when the signal fires (a write may have happened then).
 */
export class FsChannel {
  readonly #container: ContainerHandle;
  readonly #user: string | undefined;
  readonly #quickMs: number;
  readonly #restarts = new Emitter<FsRestart>();
  readonly #quick: FsLane;
  readonly #bulk: FsLane;
  readonly #looks: FsLane;
  readonly #watches = new Set<FsWatch>();
  readonly #streams = new Set<FsConnection>();
  #closed = false;

  /** Something in the container ended one of its processes, or it hung; another has taken over. */
  readonly onDidRestart: Event<FsRestart> = this.#restarts.event;

  /** Opens nothing yet: the first call does. `user` as in `docker exec`; default is the image's. */
  constructor(
    container: ContainerHandle,
    options: {
      readonly user?: string | undefined;
      /** How long the container may show no progress with a quick request. Default 10 s. */
      readonly deadlineMs?: number;
    } = {},
  ) {
    this.#quickMs = options.deadlineMs ?? 10_000;
    this.#container = container;
    this.#user = options.user;
    const onRestart = (restart: FsRestart): void => this.#restarts.fire(restart);
    this.#quick = new FsLane('files', container, this.#user, onRestart);
    this.#bulk = new FsLane('bulk', container, this.#user, onRestart);
    this.#looks = new FsLane('watch', container, this.#user, onRestart);
  }

  /** Of a link: what it leads to (`FsStat`). */
  async stat(path: string, { signal }: FsCallOptions = {}): Promise<FsStat> {
    return parseStat(await this.#ask(this.#quick, this.#read(path, command.stat(path), signal)), path);
  }

  /** One status a path, undefined where there is nothing to be seen. One round trip for 200 paths. */
  async statMany(
    paths: readonly string[],
    { signal }: FsCallOptions = {},
  ): Promise<readonly (FsStat | undefined)[]> {
    const found: (FsStat | undefined)[] = [];
    for (let at = 0; at < paths.length; at += pathsPerStat) {
      const some = paths.slice(at, at + pathsPerStat);
      const request = { ...this.#read('', command.statMany(some), signal), paths: some };
      const output = await this.#ask(this.#quick, request);
      const stats = parseStatMany(output, some.length).map((stat, index) =>
        stat === 'again' ? this.#statOrNothing(some[index] as string, signal) : stat,
      );
      found.push(...(await Promise.all(stats)));
    }
    return found;
  }

  /** Names as they are, whatever their bytes; unsorted order is the container's. */
  async list(path: string, { signal }: FsCallOptions = {}): Promise<readonly FsEntry[]> {
    return parseList(await this.#ask(this.#quick, this.#read(path, command.list(path), signal)));
  }

  /**
   * A folder and everything below it on the same file system, in one go; parents before what is in them. `not-found`
   * where there is none.
   */
  async listTree(root: string, { signal }: FsCallOptions = {}): Promise<FsTree> {
    requireAbsolute(root);
    const request = { ...this.#read(root, command.tree(root), signal), deadlineMs: 3 * this.#quickMs };
    return parseTree((await this.#looks.run(request)).output, root);
  }

  /** Where a symbolic link leads, as it is written; binary string. */
  async readLink(path: string, { signal }: FsCallOptions = {}): Promise<string> {
    const output = await this.#ask(this.#quick, this.#read(path, command.readLink(path), signal));
    return output.toString('latin1').slice(0, -1);
  }

  /**
   * The contents of files known to be regular, one after the other and nothing between: for many small ones, each of
   * which would cost a process. At most 64 MiB in all; an error when any of them cannot be read.
   */
  async readTogether(paths: readonly string[], { signal }: FsCallOptions = {}): Promise<Buffer> {
    const request = { ...this.#read(paths[0] ?? '', command.readTogether(paths), signal), paths };
    return paths.length === 0 ? Buffer.alloc(0) : this.#ask(this.#bulk, request);
  }

  /** True for a link that leads nowhere too; false also where the caller may not look. */
  async exists(path: string, { signal }: FsCallOptions = {}): Promise<boolean> {
    const output = await this.#ask(this.#quick, this.#read(path, command.exists(path), signal));
    return output.toString('latin1') === '1\n';
  }

  /** A regular file's content: never a FIFO or a device, which might not end. */
  async read(path: string, { signal, maxBytes = maxReply }: FsReadOptions = {}): Promise<Buffer> {
    const inline = { ...this.#read(path, command.read(path, inlineBlocks), signal), maxBytes: maxReply };
    const start = await this.#ask(this.#quick, inline);
    if (start.length > maxBytes) throw tooLarge(path, maxBytes);
    if (start.length < inlineBlocks * blockBytes) return start;
    const blocks = Math.floor(maxBytes / blockBytes) + 1;
    return this.#ask(this.#bulk, { ...this.#read(path, command.read(path, blocks), signal), maxBytes });
  }

  /**
   * A regular file's content, piece by piece, as fast as it is taken; over a process of its own. What was yielded
   * before it throws is no content.
   */
  async *readStream(path: string, { signal }: FsCallOptions = {}): AsyncGenerator<Buffer> {
    const { kind } = await this.stat(path, { signal });
    if (kind === 'directory') throw new FsError('is-a-directory', path, 'Is a directory');
    const connection = await this.#openStream(path);
    const pieces = new PassThrough({ highWaterMark: 4 * blockBytes });
    const onAbort = (): void => {
      pieces.destroy(new CancelledError());
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    let isDone = false;
    try {
      throwIfCancelled(signal);
      void pump(connection, path, pieces, this.#quickMs).then(() => {
        isDone = true;
      });
      yield* pieces as AsyncIterable<Buffer>;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#streams.delete(connection);
      await (isDone ? connection.close() : connection.kill('The reader stopped.'));
    }
  }

  /**
   * The whole content at once or not at all: a temporary file beside it, then a rename. Mode and owner stay; hard
   * links part. A link's target is written. The result is the new status.
   */
  async write(path: string, content: Uint8Array, options: FsWriteOptions = {}): Promise<FsStat> {
    const { create = true, overwrite = true, signal } = options;
    const text = command.write(path, content.length, create, overwrite);
    const lane = content.length > maxInlineWrite ? this.#bulk : this.#quick;
    const request = { ...this.#change(path, text, signal), payload: content, leavesBeside: path };
    return parseStat(await this.#ask(lane, { ...request, deadlineMs: 3 * this.#quickMs }), path);
  }

  async rename(from: string, to: string, options: FsMoveOptions = {}): Promise<void> {
    requireApart(from, to);
    if (from === to) return;
    const { overwrite = false, signal } = options;
    const request = this.#change(from, command.rename(from, to, overwrite), signal);
    await this.#ask(this.#bulk, { ...request, leavesBeside: to });
  }

  /** With all that is below; owners, modes, times and links as they are. */
  async copy(from: string, to: string, options: FsMoveOptions = {}): Promise<void> {
    requireApart(from, to);
    if (from === to) throw new FsError('exists', to, 'It cannot be copied onto itself.');
    const { overwrite = false, signal } = options;
    const request = this.#change(from, command.copy(from, to, overwrite), signal);
    await this.#ask(this.#bulk, { ...request, leavesBeside: to });
  }

  /** A folder only when it is empty, unless `recursive`. A link itself, never what it leads to. */
  async delete(path: string, options: FsCallOptions & { readonly recursive?: boolean } = {}): Promise<void> {
    if (path === '/') throw new FsError('no-permission', path, 'The root is not deleted.');
    const { recursive = false, signal } = options;
    await this.#ask(this.#bulk, this.#change(path, command.remove(path, recursive), signal));
  }

  /** With `parents` (default) also what is above it, and no error when it is there. */
  async mkdir(path: string, options: FsCallOptions & { readonly parents?: boolean } = {}): Promise<void> {
    const { parents = true, signal } = options;
    await this.#ask(this.#quick, this.#change(path, command.mkdir(path, parents), signal));
  }

  /**
   * Polls a tree; starts at once. A look costs about 7 ms for 1,000 files, 40 ms for 10,000, 150 to 200 ms for 50,000
   * (test/bench/fsChannel.ts); between two there are at least `intervalMs` and nine times the last one's cost.
   * Folders named in `exclude` are not looked into.
   */
  watch(
    root: string,
    options: { readonly intervalMs?: number; readonly exclude?: readonly string[] } = {},
  ): FsWatch {
    requireAbsolute(root);
    const text = command.scan(root, options.exclude ?? []);
    const watch = watchTree(async (signal) => {
      const request = { ...this.#read(root, text, signal), deadlineMs: 3 * this.#quickMs };
      return parseScan((await this.#looks.run(request)).output, root);
    }, options.intervalMs ?? 1_000);
    this.#watches.add(watch);
    const set = this.#watches;
    return {
      onDidChange: watch.onDidChange,
      onDidFail: watch.onDidFail,
      get costMs() {
        return watch.costMs;
      },
      dispose() {
        set.delete(watch);
        watch.dispose();
      },
    };
  }

  /** Ends its processes in the container; later calls are `unavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const watch of this.#watches) watch.dispose();
    const streams = [...this.#streams].map((stream) => stream.kill('The file channel was closed.'));
    await Promise.all([this.#quick.close(), this.#bulk.close(), this.#looks.close(), ...streams]);
    this.#restarts.dispose();
  }

  #read(path: string, text: string, signal: AbortSignal | undefined): LaneRequest {
    const limits = { deadlineMs: this.#quickMs, maxBytes: maxReply };
    return { command: text, path, isIdempotent: true, ...limits, signal };
  }

  #change(path: string, text: string, signal: AbortSignal | undefined): LaneRequest {
    const limits = { deadlineMs: longMs, maxBytes: maxReply };
    return { command: text, path, isIdempotent: false, ...limits, signal };
  }

  async #ask(lane: FsLane, request: LaneRequest & { readonly paths?: readonly string[] }): Promise<Buffer> {
    for (const path of request.paths ?? [request.path]) requireAbsolute(path);
    const { code, output }: LaneReply = await lane.run(request);
    if (code !== 0) throw fsErrorOf(output, request.path);
    return output;
  }

  async #statOrNothing(path: string, signal: AbortSignal | undefined): Promise<FsStat | undefined> {
    try {
      return await this.stat(path, { signal });
    } catch (error) {
      if (error instanceof FsError && error.failure !== 'unavailable') return undefined;
      throw error;
    }
  }

  async #openStream(path: string): Promise<FsConnection> {
    if (this.#closed) throw new FsError('unavailable', path, 'The file channel is closed.');
    try {
      const connection = await FsConnection.open(this.#container, this.#user);
      this.#streams.add(connection);
      return connection;
    } catch (error) {
      throw new FsError('unavailable', path, 'The container cannot be reached.', { cause: error });
    }
  }
}

/** Puts a file's content into a stream, as fast as that takes it; what goes wrong becomes the stream's error. */
async function pump(
  connection: FsConnection,
  path: string,
  pieces: PassThrough,
  deadlineMs: number,
): Promise<void> {
  let tail: Buffer = Buffer.alloc(0);
  try {
    const code = await connection.request({
      command: command.read(path, 0),
      nonce: connection.makeNonce(),
      deadlineMs,
      onData(data) {
        tail = data.length < 4_096 ? data : data.subarray(-4_096);
        if (pieces.destroyed || pieces.write(data)) return;
        return new Promise<void>((resolve) => {
          pieces.once('drain', resolve).once('close', resolve);
        });
      },
    });
    if (code === 0) pieces.end();
    else pieces.destroy(fsErrorOf(tail, path));
  } catch (error) {
    const isLost = error instanceof ConnectionLostError;
    pieces.destroy(
      isLost ? new FsError('unavailable', path, error.message, { cause: error }) : Object(error),
    );
  }
}

function tooLarge(path: string, maxBytes: number): FsError {
  return new FsError('too-large', path, `It is larger than ${maxBytes} bytes.`);
}

function requireAbsolute(path: string): void {
  if (!path.startsWith('/') || /[\0\u0100-\uffff]/.test(path))
    throw new FsError('other', path, 'It is no absolute path of bytes.');
}

/** Neither may hold the other: replacing a folder with something in it would lose that. */
function requireApart(from: string, to: string): void {
  if (from.startsWith(`${to}/`) || to.startsWith(`${from}/`))
    throw new FsError('other', to, 'One of the two is inside the other.');
}
