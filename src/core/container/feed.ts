import type { Duplex } from 'node:stream';
import { coalesce } from './streams.ts';

/** An input on its way to a command. */
export interface Feeding {
  /** All of it was written. */
  readonly isDone: boolean;
  /** To be called when the command is over. Rejects with the source's own error. */
  stop(): Promise<void>;
}

/**
 * Writes a source to a command's input and leaves that open; a source that fails cuts the connection. What a command
 * that ends first leaves unread is no error.
 */
export function feed(stream: Duplex, source: AsyncIterable<Buffer>): Feeding {
  let isOver = false;
  let isDone = false;
  let failed: { readonly error: unknown } | undefined;
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    end = () => {
      isOver = true;
      resolve();
    };
  });
  for (const event of ['close', 'end', 'error']) stream.once(event, end);
  const run = async (): Promise<void> => {
    try {
      for await (const chunk of coalesce(source)) {
        if (isOver) return;
        if (stream.write(chunk)) continue;
        await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), over]);
      }
      isDone = true;
    } catch (error) {
      failed = { error };
      stream.destroy();
    }
  };
  const running = run();
  return {
    get isDone() {
      return isDone;
    },
    async stop() {
      end();
      // A source that waits for something else is left to end by itself.
      await Promise.race([running, new Promise((resolve) => setImmediate(resolve))]);
      if (failed) throw failed.error;
    },
  };
}
