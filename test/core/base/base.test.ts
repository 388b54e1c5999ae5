import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Channel } from '#core/base/channel.ts';
import { DisposableStore } from '#core/base/disposable.ts';
import {
  CancelledError,
  errorCode,
  errorMessage,
  isCancellation,
  throwIfCancelled,
  UserError,
} from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import { tempFolder } from '../container/tarTools.ts';

describe('Channel', () => {
  test('gives what was pushed before and while it is read, in order, to its end', async () => {
    const channel = new Channel<number>();
    channel.push(1);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const value of channel) seen.push(value);
    })();
    await new Promise((resolve) => setImmediate(resolve));
    channel.push(2);
    channel.push(3);
    await new Promise((resolve) => setImmediate(resolve));
    channel.push(4);
    channel.end();
    await reading;
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test('gives its error after the last event', async () => {
    const channel = new Channel<number>();
    channel.push(1);
    channel.end(new Error('over'));
    const seen: number[] = [];
    const reading = (async () => {
      for await (const value of channel) seen.push(value);
    })();
    await expect(reading).rejects.toThrow('over');
    expect(seen).toEqual([1]);
  });
});

describe('writeFileAtomic', () => {
  test('makes folders, replaces, and leaves no temporary file', async () => {
    const { dir, remove } = await tempFolder();
    try {
      const file = path.join(dir, 'a/b/c.json');
      await writeFileAtomic(file, 'one');
      await writeFileAtomic(file, Buffer.from('two'));
      expect(await readFile(file, 'utf8')).toBe('two');
      expect(await readdir(path.dirname(file))).toEqual(['c.json']);
    } finally {
      await remove();
    }
  });

  test('that fails keeps the old content and leaves no temporary file', async () => {
    const { dir, remove } = await tempFolder();
    try {
      await mkdir(path.join(dir, 'taken'));
      await writeFile(path.join(dir, 'taken/in'), 'old');
      await expect(writeFileAtomic(path.join(dir, 'taken'), 'x')).rejects.toThrow();
      expect(await readdir(dir)).toEqual(['taken']);
      expect(await readFile(path.join(dir, 'taken/in'), 'utf8')).toBe('old');
    } finally {
      await remove();
    }
  });

  test('readers see the old or the new content, never half of one', async () => {
    const { dir, remove } = await tempFolder();
    try {
      const file = path.join(dir, 'f');
      const contents = ['a', 'b'].map((letter) => letter.repeat(300_000));
      await writeFileAtomic(file, contents[0] as string);
      let over = false;
      const reading = (async () => {
        let reads = 0;
        for (; !over; reads++) expect(contents).toContain(await readFile(file, 'utf8'));
        return reads;
      })();
      for (let i = 0; i < 20; i++) await writeFileAtomic(file, contents[i % 2] as string);
      over = true;
      expect(await reading).toBeGreaterThan(0);
    } finally {
      await remove();
    }
  });
});

test('an emitter tells its listeners until they leave, also while it fires', () => {
  const emitter = new Emitter<number>();
  const seen: string[] = [];
  const first = emitter.event((value) => {
    seen.push(`a${value}`);
    first.dispose();
  });
  emitter.event((value) => void seen.push(`b${value}`));
  emitter.fire(1);
  emitter.fire(2);
  emitter.dispose();
  emitter.fire(3);
  expect(seen).toEqual(['a1', 'b1', 'b2']);
});

test('disposables are released once, the last first, and at once when it is too late', () => {
  const store = new DisposableStore();
  const released: string[] = [];
  const item = (name: string) => ({ dispose: () => void released.push(name) });
  store.add(item('a'));
  store.add(item('b'));
  store.dispose();
  store.dispose();
  store.add(item('late'));
  expect(released).toEqual(['b', 'a', 'late']);
});

test('errors for people', () => {
  const error = new UserError('It failed.', { nextStep: 'Mend it.', cause: 5 });
  expect([error.message, error.nextStep, error.cause]).toEqual(['It failed.', 'Mend it.', 5]);
  expect([
    isCancellation(new CancelledError()),
    isCancellation(new DOMException('x', 'AbortError')),
    isCancellation(error),
  ]).toEqual([true, true, false]);
  expect(() => throwIfCancelled(AbortSignal.abort())).toThrow(CancelledError);
  expect(() => throwIfCancelled(undefined)).not.toThrow();
  expect(errorMessage(new AggregateError([new Error('a'), 'b']))).toBe('a; b');
  expect([errorCode({ code: 'ENOENT' }), errorCode({ code: 5 }), errorCode('x')]).toEqual([
    'ENOENT',
    undefined,
    undefined,
  ]);
});
