import { CancelledError } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import { FsError, type FsFailure } from '#core/container/fsChannelErrors.ts';
import type { FsChange } from '#core/container/fsChannelWatch.ts';

/** The file channel over a map: paths are binary strings, folders are those that hold something or were made. */
export class FakeFiles {
  readonly content = new Map<string, Uint8Array>();
  readonly folders = new Set<string>(['/app']);
  readonly changes = new Emitter<readonly FsChange[]>();
  readonly watchFailures = new Emitter<void>();
  readonly restarts = new Emitter<{ reason: string }>();
  readonly onDidRestart = this.restarts.event;
  /** Answers every call with this failure. */
  failure: FsFailure | undefined;
  watching = 0;

  #check(path: string): void {
    if (this.failure) throw new FsError(this.failure, path, 'said the container');
  }

  async stat(path: string) {
    this.#check(path);
    const content = this.content.get(path);
    if (!content && !this.folders.has(path))
      throw new FsError('not-found', path, 'No such file or directory');
    return {
      kind: content ? ('file' as const) : ('directory' as const),
      symbolicLink: false,
      size: content?.length ?? 0,
      mtimeMs: 1000.5,
      ctimeMs: 1000.5,
      mode: 0o644,
      uid: 0,
      gid: 0,
      inode: 1,
    };
  }

  async statMany(paths: readonly string[]) {
    return Promise.all(paths.map((path) => this.stat(path).catch(() => undefined)));
  }

  async exists(path: string): Promise<boolean> {
    this.#check(path);
    return this.content.has(path) || this.folders.has(path);
  }

  async list(path: string) {
    this.#check(path);
    return [...this.content.keys(), ...this.folders]
      .filter((other) => other.slice(0, other.lastIndexOf('/')) === path && other !== path)
      .map((other) => ({
        name: other.slice(path.length + 1),
        kind: this.content.has(other) ? ('file' as const) : ('directory' as const),
        symbolicLink: false,
      }));
  }

  async read(path: string, { maxBytes = Number.POSITIVE_INFINITY } = {}): Promise<Buffer> {
    this.#check(path);
    const content = this.content.get(path);
    if (!content) throw new FsError('not-found', path, 'No such file or directory');
    if (content.length > maxBytes)
      throw new FsError('too-large', path, `It is larger than ${maxBytes} bytes.`);
    return Buffer.from(content);
  }

  /** Called before each piece. */
  onPiece: () => void = () => undefined;

  async *readStream(path: string, { signal }: { signal?: AbortSignal } = {}) {
    const content = await this.read(path);
    for (let at = 0; at < content.length; at += 1 << 20) {
      this.onPiece();
      if (signal?.aborted) throw new CancelledError();
      yield content.subarray(at, at + (1 << 20));
    }
  }

  async write(path: string, content: Uint8Array, options: { create?: boolean; overwrite?: boolean } = {}) {
    this.#check(path);
    if (!this.content.has(path) && options.create === false) throw new FsError('not-found', path, 'gone');
    if (this.content.has(path) && options.overwrite === false)
      throw new FsError('exists', path, 'File exists');
    this.content.set(path, content);
    return this.stat(path);
  }

  async mkdir(path: string): Promise<void> {
    this.#check(path);
    if (this.folders.has(path)) throw new FsError('exists', path, 'File exists');
    this.folders.add(path);
  }

  async rename(from: string, to: string, options: { overwrite?: boolean } = {}): Promise<void> {
    await this.copy(from, to, options);
    this.content.delete(from);
  }

  async copy(from: string, to: string, { overwrite = false }: { overwrite?: boolean } = {}): Promise<void> {
    if (this.content.has(to) && !overwrite) throw new FsError('exists', to, 'File exists');
    this.content.set(to, await this.read(from));
  }

  async delete(path: string): Promise<void> {
    this.#check(path);
    if (!this.content.delete(path) && !this.folders.delete(path))
      throw new FsError('not-found', path, 'gone');
  }

  watch() {
    this.watching++;
    return {
      onDidChange: this.changes.event,
      onDidFail: this.watchFailures.event,
      costMs: 1,
      dispose: () => void this.watching--,
    };
  }
}
