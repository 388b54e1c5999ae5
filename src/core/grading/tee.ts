/** Bytes that may wait for the reader. */
const maxWaiting = 4 * 1024 ** 2;

/**
 * What is kept, for one reader who takes it meanwhile. The writer is slowed to the reader's pace, and freed when the
 * reader leaves.
 */
export class Tee implements AsyncIterable<Buffer> {
  #waiting: Buffer[] = [];
  #bytes = 0;
  #isLeft = false;
  #isEnded = false;
  #error: unknown;
  #wake: () => void = () => undefined;

  async write(chunk: Buffer): Promise<void> {
    if (this.#isLeft) return;
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    this.#wake();
    while (this.#bytes > maxWaiting && !this.#isLeft) await this.#change();
  }

  /** No more comes; with an error, the reader gets it at once. */
  end(error?: unknown): void {
    this.#isEnded = true;
    this.#error = error;
    this.#wake();
  }

  /** Nobody reads any more. */
  leave(): void {
    this.#isLeft = true;
    this.#waiting = [];
    this.#bytes = 0;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        if (this.#error !== undefined) throw this.#error;
        const chunk = this.#waiting.shift();
        if (chunk) {
          this.#bytes -= chunk.length;
          this.#wake();
          yield chunk;
        } else if (this.#isEnded || this.#isLeft) return;
        else await this.#change();
      }
    } finally {
      this.leave();
    }
  }

  /** Writer and reader never wait at the same time: one waits for the other's next step. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
