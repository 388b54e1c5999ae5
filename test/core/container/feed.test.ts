import { Duplex } from 'node:stream';
import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { feed } from '#core/container/feed.ts';

/** The command's end of a connection: takes at most `takes` bytes at once, when told to. */
class Command extends Duplex {
  bytes = 0;
  ended = false;
  #next: (() => void) | undefined;
  isReading = true;

  constructor() {
    super({ highWaterMark: 1024 });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.bytes += chunk.length;
    if (this.isReading) done();
    else this.#next = done;
  }

  override _final(done: () => void): void {
    this.ended = true;
    done();
  }

  goOn(): void {
    this.isReading = true;
    this.#next?.();
  }
}

async function* pieces(count: number, onSent: (sent: number) => void = () => undefined) {
  for (let i = 1; i <= count; i++) {
    onSent(i);
    yield Buffer.alloc(100_000);
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await tick();
}

test('writes everything, and leaves the input open', async () => {
  const command = new Command();
  const feeding = feed(command, pieces(5));
  await settled();
  expect([command.bytes, command.ended, feeding.isDone]).toEqual([500_000, false, true]);
  await feeding.stop();
});

test('does not read ahead of a command that does not read', async () => {
  const command = new Command();
  command.isReading = false;
  let sent = 0;
  const feeding = feed(
    command,
    pieces(50, (count) => {
      sent = count;
    }),
  );
  await settled();
  expect(sent).toBe(1);
  command.goOn();
  await settled();
  expect(command.bytes).toBe(5_000_000);
  await feeding.stop();
});

describe('a command that ends first', () => {
  test('leaves the rest, which is no error', async () => {
    const command = new Command();
    command.isReading = false;
    const feeding = feed(command, pieces(50));
    await settled();
    command.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    await settled();
    expect(feeding.isDone).toBe(false);
    await feeding.stop();
  });

  test('does not wait for a source that waits', async () => {
    const command = new Command();
    async function* never(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(100_000);
      await new Promise(() => undefined);
    }
    const feeding = feed(command, never());
    await settled();
    await feeding.stop();
    expect(feeding.isDone).toBe(false);
  });
});

test('a source that fails cuts the connection, and its error is told', async () => {
  const command = new Command();
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(100_000);
    throw new Error('the folder changed');
  }
  const feeding = feed(command, failing());
  await settled();
  expect([command.destroyed, command.ended]).toEqual([true, false]);
  await expect(feeding.stop()).rejects.toThrow('the folder changed');
});
