import { setImmediate as tick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Tee } from '#core/grading/tee.ts';

const piece = (size: number, fill = 'x'): Buffer => Buffer.alloc(size, fill);

async function read(tee: Tee): Promise<number> {
  let bytes = 0;
  for await (const chunk of tee) bytes += chunk.length;
  return bytes;
}

test('everything arrives, in order, whoever is slower', async () => {
  const tee = new Tee();
  let text = '';
  const reading = (async () => {
    for await (const chunk of tee) {
      text += chunk.toString();
      if (text.length % 3 === 0) await tick();
    }
  })();
  for (const letter of 'abcdefgh') {
    await tee.write(Buffer.from(letter));
    if (letter === 'd') await tick();
  }
  tee.end();
  await reading;
  expect(text).toBe('abcdefgh');
});

test('the writer waits for a reader who is behind, and goes on when he has read or left', async () => {
  for (const go of [read, async (tee: Tee) => tee.leave()]) {
    const tee = new Tee();
    let written = 0;
    const writing = (async () => {
      for (; written < 20; written++) await tee.write(piece(1024 ** 2));
      tee.end();
    })();
    for (let i = 0; i < 20; i++) await tick();
    expect(written).toBeLessThan(6);
    await Promise.all([writing, go(tee)]);
    expect(written).toBe(20);
  }
});

test("the writer's failure is the reader's, also of one who waits", async () => {
  const tee = new Tee();
  await tee.write(piece(10));
  const reading = read(tee);
  await tick();
  tee.end(new Error('the folder changed'));
  await expect(reading).rejects.toThrow('the folder changed');
});

test('a reader who stops early has left', async () => {
  const tee = new Tee();
  await tee.write(piece(10));
  for await (const _ of tee) break;
  for (let i = 0; i < 20; i++) await tee.write(piece(1024 ** 2));
  expect(await read(tee)).toBe(0);
});
