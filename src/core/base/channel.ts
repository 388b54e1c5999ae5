/** Events pushed by a running job, pulled by one reader in order. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #queue: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #error: unknown;

  push(value: T): void {
    this.#queue.push(value);
    this.#wake?.();
  }

  /** No more events; with an error, the reader gets it after the last event. */
  end(error?: unknown): void {
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#queue.length > 0) yield this.#queue.shift() as T;
      if (this.#ended) {
        if (this.#error !== undefined) throw this.#error;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
