export type Listener<T> = (value: T) => unknown;

export class EventEmitter<T> {
  readonly #listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class CancellationTokenSource {
  readonly #emitter = new EventEmitter<void>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.#emitter.event };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.#emitter.fire();
  }
}

export class Uri {
  constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query = '',
  ) {}
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  static parse = (text: string) => new Uri(text.split(':')[0] ?? '', text.slice(text.indexOf(':') + 1));
  static from(parts: { scheme: string; path?: string; query?: string }): Uri {
    return new Uri(parts.scheme, parts.path ?? '', parts.query ?? '');
  }
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}:${this.path}${this.query && `?${this.query}`}`;
  }
}

export class FileSystemError extends Error {
  constructor(
    message: string,
    readonly code = 'Unknown',
  ) {
    super(message);
  }
  static readonly #make = (code: string) => (about: Uri | string) =>
    new FileSystemError(typeof about === 'string' ? about : `${code} ${about}`, code);
  static FileNotFound = FileSystemError.#make('FileNotFound');
  static FileExists = FileSystemError.#make('FileExists');
  static FileNotADirectory = FileSystemError.#make('FileNotADirectory');
  static FileIsADirectory = FileSystemError.#make('FileIsADirectory');
  static NoPermissions = FileSystemError.#make('NoPermissions');
  static Unavailable = FileSystemError.#make('Unavailable');
}
