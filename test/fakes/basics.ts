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
