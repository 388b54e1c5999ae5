import { spawnSync } from 'node:child_process';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { AttemptLocks } from '#core/attempt/attemptLocks.ts';
import { isLock, lockOwner, takeLock, type WindowLock } from '#core/attempt/windowLock.ts';
import { currentOwner } from '#core/container/labels.ts';
import { record, useStore } from './support.ts';

const used = useStore();
const { id } = record();
let dir: string;
let file: string;

beforeEach(async () => {
  await used.store.create(record({ id }));
  dir = used.store.dirOf(id);
  file = path.join(dir, 'lock.json');
});

describe('the lock of an attempt', () => {
  test('is had by one, and is free again when it is given back', async () => {
    const lock = await taken();
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      ...currentOwner(),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await takeLock(dir)).toMatchObject({ pid: process.pid });
    expect(await lockOwner(dir)).toMatchObject({ pid: process.pid });
    await lock.release();
    await lock.release();
    expect(await lockOwner(dir)).toBeUndefined();
    expect(await readdir(dir)).toEqual(['attempt.json']);
    await (await taken()).release();
  });

  test('is had by exactly one of many at once, also where a dead one left it', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    for (let round = 0; round < 10; round++) {
      await writeOwner({ pid });
      expect(await lockOwner(dir)).toBeUndefined();
      const all = await Promise.all(Array.from({ length: 8 }, () => takeLock(dir)));
      const locks = all.filter(isLock);
      expect(locks).toHaveLength(1);
      await locks[0]?.release();
    }
    expect(await readdir(dir)).toEqual(['attempt.json']);
  });

  test('of another machine, or of a doubtful process, is kept', async () => {
    await writeOwner({ host: 'another/boot/pid' });
    expect(isLock(await takeLock(dir))).toBe(false);
    await writeOwner({ host: 'another/boot/pid', at: new Date(0).toISOString() });
    expect(isLock(await takeLock(dir))).toBe(false);
  });

  test('of an earlier boot, or of a pid that is another process now, is taken over', async () => {
    const machine = currentOwner().host.split('/')[0];
    const before = new Date(Date.now() - uptime() * 1000 - 600_000).toISOString();
    await writeOwner({ host: `${machine}/earlier-boot/pid:[1]`, at: before });
    await (await taken()).release();
    await writeOwner({ startTime: '1' });
    await (await taken()).release();
  });

  test('without content is respected while it may just be being written', async () => {
    await writeFile(file, '');
    expect(isLock(await takeLock(dir))).toBe(false);
    await utimes(file, new Date(0), new Date(0));
    const lock = await taken();
    // Another process that took it over meanwhile keeps it.
    await writeOwner({ token: 'theirs' });
    await lock.release();
    expect(await lockOwner(dir)).toMatchObject({ token: 'theirs' });
  });
});

describe('the locks of a process', () => {
  test('are one file, however many need it; the last one gives it back', async () => {
    const locks = new AttemptLocks(used.store);
    const [first, second] = [await locks.require(id), await locks.require(id)];
    const others = new AttemptLocks(used.store);
    await expect(others.require(id)).rejects.toThrow(
      `is open in another window (process ${process.pid}, since`,
    );
    await first();
    await first();
    await expect(others.require(id)).rejects.toThrow('another window');
    await second();
    await (await others.require(id))();
  });

  test('wait for a window that is just closing', async () => {
    const release = await new AttemptLocks(used.store).require(id);
    const waiting = new AttemptLocks(used.store).take(id, 5_000);
    setTimeout(() => void release(), 50);
    expect(typeof (await waiting)).toBe('function');
  });
});

async function taken(): Promise<WindowLock> {
  const lock = await takeLock(dir);
  if (!isLock(lock)) throw new Error(`had by ${JSON.stringify(lock)}`);
  return lock;
}

function writeOwner(parts: object): Promise<void> {
  const owner = { ...currentOwner(), at: new Date().toISOString(), token: 'old', ...parts };
  return writeFile(file, JSON.stringify(owner));
}
