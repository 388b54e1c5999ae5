import { spawnSync } from 'node:child_process';
import {
  appendFile,
  chmod,
  link,
  lstat,
  mkdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CancelledError, UserError } from '#core/base/errors.ts';
import { FolderChangedError, type WalkOptions, walkFolder } from '#core/container/folderTar.ts';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { makeDeepPath, makeHostileTree } from '../../fixtures/container/hostileTree.ts';
import { bytesOf, tempFolder } from './tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
let root: string;
beforeEach(async () => {
  temp = await tempFolder();
  root = path.join(temp.dir, 'ws');
  await mkdir(root);
});
afterEach(() => temp.remove());

async function headers(options: Partial<WalkOptions> = {}): Promise<TarHeader[]> {
  const found: TarHeader[] = [];
  for await (const { header, body } of walkFolder(root, { prefix: '', ...options })) {
    await bytesOf(body);
    found.push(header);
  }
  return found;
}

describe.skipIf(process.platform === 'win32')('a workspace with hostile files', () => {
  test('every entry is kept as it is or skipped with its kind, and no link is followed', async () => {
    const made = await makeHostileTree(root);
    const skipped: string[] = [];
    const found = await headers({ onSkipped: (name, what) => skipped.push(`${name} ${what}`) });
    expect(skipped.sort()).toEqual(['pipe FIFO', ...(made.socket ? ['sock socket'] : [])]);
    const byName = new Map(found.map((header) => [header.name, header]));
    expect(byName.get('caf\xe9.txt')).toMatchObject({ type: 'file', size: 0 });
    expect(byName.get('line\nbreak')).toMatchObject({ type: 'file' });
    expect(byName.get('dangling')).toMatchObject({ type: 'symlink', linkName: '/nonexistent' });
    expect(byName.get('abs')).toMatchObject({ type: 'symlink', linkName: '/etc/passwd', size: 0 });
    expect(byName.get('loop')).toMatchObject({ type: 'symlink', linkName: 'loop' });
    expect(byName.get('up')).toMatchObject({ type: 'symlink', linkName: '..' });
    expect(byName.get('a')).toMatchObject({ type: 'file', size: 2 });
    expect(byName.get('hard')).toMatchObject({ type: 'hardlink', linkName: 'a' });
    expect(byName.get('secret')).toMatchObject({ type: 'file', mode: 0, size: 2 });
    expect(byName.get('ro')).toMatchObject({ type: 'directory', mode: 0o555 });
    expect(byName.has(`${'d/'.repeat(199)}d`)).toBe(true);
    expect(found.some(({ name }) => name.startsWith('up/') || name.startsWith('loop/'))).toBe(false);
  });
});

describe('what an entry says', () => {
  test('modes, owners, times, sizes and order by bytes', async () => {
    await writeFile(path.join(root, 'z'), 'zz');
    await writeFile(path.join(root, 'Z'), '');
    await mkdir(path.join(root, 'é'));
    await chmod(path.join(root, 'z'), 0o4750);
    await utimes(path.join(root, 'z'), 1_600_000_000.9, 1_600_000_000.9);
    const found = await headers();
    expect(found.map(({ name }) => name)).toEqual(['Z', 'z', '\xc3\xa9']);
    const { uid, gid } = await stat(root);
    expect(found[1]).toMatchObject({ mode: 0o4750, size: 2, mtime: 1_600_000_000, uid, gid });
  });

  test('a prefix goes in front, of hard links too; the folder itself is there on request', async () => {
    await writeFile(path.join(root, 'a'), 'x');
    await link(path.join(root, 'a'), path.join(root, 'b'));
    const found = await headers({ prefix: 'srv/app', includeRoot: true });
    expect(found.map(({ name, linkName }) => [name, linkName])).toEqual([
      ['srv/app', ''],
      ['srv/app/a', ''],
      ['srv/app/b', 'srv/app/a'],
    ]);
  });

  test('a folder given by a link is walked with its own mode, not that of the link', async () => {
    await chmod(root, 0o750);
    await writeFile(path.join(root, 'a'), 'x');
    const via = path.join(temp.dir, 'via');
    await symlink('ws', via);
    const found: TarHeader[] = [];
    for await (const { header } of walkFolder(via, { prefix: 'app', includeRoot: true })) found.push(header);
    expect(found.map(({ name, type, mode }) => [name, type, mode])).toEqual([
      ['app', 'directory', 0o750],
      ['app/a', 'file', (await stat(path.join(root, 'a'))).mode & 0o7777],
    ]);
  });

  test('what is excluded is not looked at, nor what is below it', async () => {
    await mkdir(path.join(root, 'skip/deep'), { recursive: true });
    await writeFile(path.join(root, 'skip/deep/f'), '');
    await writeFile(path.join(root, 'kept'), '');
    const asked: string[] = [];
    const found = await headers({
      exclude: (name, isFolder) => {
        asked.push(`${name}${isFolder ? '/' : ''}`);
        return name === 'skip';
      },
    });
    expect(found.map(({ name }) => name)).toEqual(['kept']);
    expect(asked).toEqual(['kept', 'skip/']);
  });
});

describe('a folder that is written to while it is read', () => {
  /** Walks, and does something when the entry of that name is on its way, before its body is read. */
  async function walkWhile(name: string, action: () => Promise<unknown>): Promise<void> {
    for await (const { header, body } of walkFolder(root, { prefix: '' })) {
      if (header.name === name) await action();
      await bytesOf(body);
    }
  }

  beforeEach(async () => {
    await mkdir(path.join(root, 'd'));
    for (const name of ['a', 'b', 'd/x', 'e']) await writeFile(path.join(root, name), 'x'.repeat(300_000));
    // A file system's clock is coarse: what follows must not fall into the same tick.
    for (const folder of ['d', '']) await utimes(path.join(root, folder), 1e9, 1e9);
  });

  test.each([
    ['grew', () => appendFile(path.join(root, 'b'), 'more')],
    ['shrank', () => truncate(path.join(root, 'b'), 10)],
    ['was rewritten with the same size', () => writeFile(path.join(root, 'b'), 'y'.repeat(300_000))],
    ['was removed before it was opened', () => rm(path.join(root, 'b'))],
    [
      'became a link',
      async () => {
        await rm(path.join(root, 'b'));
        await symlink('a', path.join(root, 'b'));
      },
    ],
    [
      'became a FIFO',
      async () => {
        await rm(path.join(root, 'b'));
        spawnSync('sh', ['-c', 'mkfifo "$0"', path.join(root, 'b')]);
      },
    ],
  ])('a file that %s', async (_, action) => {
    await expect(walkWhile('b', action)).rejects.toThrow(FolderChangedError);
  });

  test.each([
    ['vanished after the folder was listed', 'a', () => rm(path.join(root, 'e')), /"e" changed/],
    [
      'appeared in a folder that is being read',
      'd/x',
      () => writeFile(path.join(root, 'd/new'), ''),
      /"d" changed/,
    ],
    [
      'appeared at the top',
      'a',
      () => writeFile(path.join(root, 'zz'), ''),
      /changed while it was being read/,
    ],
    [
      'is now below a folder that is gone',
      'd',
      () => rm(path.join(root, 'd'), { recursive: true }),
      /"d.*" changed/,
    ],
  ])('a file that %s', async (_, when, action, message) => {
    await expect(walkWhile(when, action)).rejects.toThrow(message);
  });

  test('the one that was replaced by another file of the same size and time', async () => {
    const { atime, mtime } = await lstat(path.join(root, 'b'));
    await expect(
      walkWhile('b', async () => {
        await rm(path.join(root, 'b'));
        await writeFile(path.join(root, 'b2'), '');
        await writeFile(path.join(root, 'b'), 'z'.repeat(300_000));
        await utimes(path.join(root, 'b'), atime, mtime);
      }),
    ).rejects.toThrow(FolderChangedError);
  });

  test('reading changes nothing', async () => {
    const before = await stat(path.join(root, 'a'));
    await headers();
    expect((await stat(path.join(root, 'a'))).mtimeMs).toBe(before.mtimeMs);
    expect((await readFile(path.join(root, 'a'))).length).toBe(300_000);
  });
});

describe('what cannot be read', () => {
  test('a name too long for this system is named', async () => {
    const remove = makeDeepPath(root);
    try {
      const failure = await headers().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(UserError);
      expect((failure as UserError).message).toMatch(/too long/);
    } finally {
      remove();
    }
  });

  test.skipIf(process.getuid?.() !== 0)(
    'a file that is not readable for us is named, with what to do',
    async () => {
      await writeFile(path.join(root, 'locked'), 'x');
      await chmod(path.join(root, 'locked'), 0);
      await chmod(temp.dir, 0o755);
      process.seteuid?.(65_534);
      try {
        const failure = await headers().catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(UserError);
        expect((failure as UserError).message).toBe('"locked" cannot be read.');
        expect((failure as UserError).nextStep).toMatch(/readable/);
      } finally {
        process.seteuid?.(0);
      }
    },
  );

  test('a walk that is cancelled stops', async () => {
    await writeFile(path.join(root, 'a'), '');
    await expect(headers({ signal: AbortSignal.abort() })).rejects.toThrow(CancelledError);
  });
});
