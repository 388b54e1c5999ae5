import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { taskChecksum } from '#core/trial/taskChecksum.ts';
import { tempDir } from './support.ts';

/** The value is that of dirhash 0.5.0, which Harbor 0.22 calls. */
test('is the dirhash that Harbor records', async () => {
  const dir = tempDir();
  for (const folder of ['sub/deep', 'empty']) mkdirSync(path.join(dir, folder), { recursive: true });
  writeFileSync(path.join(dir, 'a.txt'), 'one');
  writeFileSync(path.join(dir, 'sub/b'), 'two');
  writeFileSync(path.join(dir, 'sub/deep/c'), '');
  writeFileSync(path.join(dir, 'sub/ü x'), 'ü');
  symlinkSync('../a.txt', path.join(dir, 'sub/link'));
  expect(await taskChecksum(dir)).toBe('3a3e96b7030eca0daf230a18bf659d9636e8008794e5ba35087724624a114aeb');
});

test('a link that leads back up ends there', async () => {
  const dir = tempDir();
  writeFileSync(path.join(dir, 'a'), '');
  symlinkSync('.', path.join(dir, 'loop'));
  expect(await taskChecksum(dir)).toMatch(/^[0-9a-f]{64}$/);
});
