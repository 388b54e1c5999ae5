import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FsChannel } from '#core/container/fsChannel.ts';
import { FsError } from '#core/container/fsChannelErrors.ts';
import { type FsTree, parseTree } from '#core/container/fsChannelTree.ts';
import { SnapshotStore } from '#core/snapshot/store.ts';
import { ChannelTaker } from '#core/snapshot/takeFromChannel.ts';
import { restored, scratch } from './trees.ts';

let dir: string;
let dispose: () => Promise<void>;
let count = 0;

beforeAll(async () => {
  ({ dir, dispose } = await scratch());
});
afterAll(() => dispose());

interface FakeFile {
  content: string;
  ctimeMs: number;
  inode: string;
  links?: number;
}

/** A container's files for faults that no real one makes to order: each read can change any of them. */
class FakeFiles {
  readonly files = new Map<string, FakeFile>();
  readonly reads: string[][] = [];
  /** No whole second, which a coarse clock shows. */
  now = 1_000_000.5;
  onRead: (paths: readonly string[], round: number) => void = () => undefined;
  #inode = 1;

  write(path: string, content: string, keepStamp = false): void {
    const old = this.files.get(path);
    this.files.set(path, {
      content,
      ctimeMs: keepStamp && old ? old.ctimeMs : this.now,
      inode: old?.inode ?? String(this.#inode++),
    });
  }

  async listTree(root: string): Promise<FsTree> {
    if (root !== '/app') throw new FsError('not-found', root, 'No such file or directory');
    const plain = { mode: 0o755, size: 0, links: 1, uid: 0, gid: 0, mtime: 5, ctimeMs: 5 };
    return {
      startMs: this.now,
      errors: [],
      entries: [
        { ...plain, path: '/app', kind: 'directory', inode: 'root', stamp: 'root' },
        ...[...this.files].map(([path, { content, ctimeMs, inode, links = 1 }]) => ({
          ...{ ...plain, path, kind: 'file' as const, inode, ctimeMs, links, size: content.length },
          stamp: `${content.length} ${inode} ${ctimeMs}`,
        })),
      ],
    };
  }

  async statMany(paths: readonly string[]): Promise<(object | undefined)[]> {
    return paths.map((path) => {
      const file = this.files.get(path);
      return (
        file && {
          kind: 'file',
          symbolicLink: false,
          size: file.content.length,
          inode: Number(file.inode),
          ctimeMs: file.ctimeMs,
        }
      );
    });
  }

  async readTogether(paths: readonly string[]): Promise<Buffer> {
    this.reads.push([...paths]);
    this.onRead(paths, this.reads.length);
    return Buffer.concat(paths.map((path) => this.#content(path)));
  }

  async read(path: string): Promise<Buffer> {
    this.reads.push([path]);
    this.onRead([path], this.reads.length);
    return this.#content(path);
  }

  #content(path: string): Buffer {
    const file = this.files.get(path);
    if (!file) throw new FsError('not-found', path, 'No such file or directory');
    if (file.content === 'secret') throw new FsError('no-permission', path, 'Permission denied');
    return Buffer.from(file.content);
  }
}

function make(): { files: FakeFiles; store: SnapshotStore; taker: ChannelTaker } {
  const files = new FakeFiles();
  const store = new SnapshotStore(`${dir}/${count++}`);
  return { files, store, taker: new ChannelTaker(store, files as unknown as FsChannel, { roots: ['/app'] }) };
}

const contents = async (store: SnapshotStore, taker: ChannelTaker): Promise<Record<string, unknown>> => {
  const { head } = await taker.take('activity');
  const all = await restored(store, head);
  return Object.fromEntries(
    all.filter(({ type }) => type === 'file').map(({ name, content }) => [name, content]),
  );
};

describe('a workspace that changes while it is read', () => {
  test('trusts nothing of a batch in which one shrank and another grew by as much', async () => {
    const { files, store, taker } = make();
    for (const name of ['a', 'b', 'c']) files.write(`/app/${name}`, name.repeat(4));
    files.now += 1_000;
    files.onRead = (_, round) => {
      if (round > 1) return;
      files.write('/app/a', 'aa');
      files.write('/app/c', 'cccccc');
    };
    expect(await contents(store, taker)).toEqual({ 'app/a': 'aa', 'app/b': 'bbbb', 'app/c': 'cccccc' });
    // Then each for itself.
    expect(files.reads.slice(1).sort()).toEqual([['/app/a'], ['/app/b'], ['/app/c']]);
  });

  test('leaves out what went away, and lists what may not be read', async () => {
    const { files, store, taker } = make();
    for (const name of ['gone', 'stays', 'x']) files.write(`/app/${name}`, name);
    files.write('/app/closed', 'secret');
    files.now += 1_000;
    files.onRead = () => files.files.delete('/app/gone');
    const { head } = await taker.take('activity');
    expect((await store.entries(head)).map(({ name }) => name)).toEqual(['app', 'app/stays', 'app/x']);
    expect(head.skipped).toEqual([{ name: 'app/closed', what: 'unreadable', detail: 'Permission denied' }]);
    expect(head.unstable).toEqual([]);
  });

  test('marks what never stood still, and reads it again the next time', async () => {
    const { files, store, taker } = make();
    files.write('/app/log', 'l');
    files.write('/app/quiet', 'q');
    files.now += 1_000;
    files.onRead = (paths) => {
      files.now += 100;
      if (paths.includes('/app/log')) files.write('/app/log', `${files.files.get('/app/log')?.content}+`);
    };
    expect((await taker.take('activity')).head.unstable).toEqual(['app/log']);
    files.onRead = () => undefined;
    files.now += 1_000;
    files.reads.length = 0;
    const { head } = await taker.take('activity');
    expect(head.unstable).toEqual([]);
    expect(files.reads.flat()).toEqual(['/app/log']);
    expect((await restored(store, head)).at(1)).toMatchObject({ name: 'app/log', content: 'l++++' });
  });

  test('reads again what was changed in the tick of the last listing', async () => {
    const { files, store, taker } = make();
    files.write('/app/old', 'old');
    files.now += 1_000;
    files.write('/app/fresh', 'one');
    files.now += 5;
    expect(await contents(store, taker)).toEqual({ 'app/old': 'old', 'app/fresh': 'one' });
    // The same size, inode and times.
    files.write('/app/fresh', 'two', true);
    files.reads.length = 0;
    files.now += 1_000;
    expect(await contents(store, taker)).toEqual({ 'app/old': 'old', 'app/fresh': 'two' });
    expect(files.reads.flat()).toEqual(['/app/fresh']);
    files.reads.length = 0;
    expect((await taker.take('activity')).isNew).toBe(false);
    expect(files.reads).toEqual([]);
  });

  test('reads a file with several names once', async () => {
    const { files, store, taker } = make();
    files.write('/app/b', 'same');
    const one = files.files.get('/app/b');
    if (one) files.files.set('/app/a', Object.assign(one, { links: 2 }));
    files.now += 1_000;
    const { head } = await taker.take('activity');
    expect(files.reads.flat()).toHaveLength(1);
    expect((await store.entries(head)).map(({ name, type, linkName }) => [name, type, linkName])).toEqual([
      ['app', 'directory', ''],
      ['app/a', 'file', ''],
      ['app/b', 'hardlink', 'app/a'],
    ]);
  });

  test('keeps nothing where the container is lost in the middle', async () => {
    const { files, store, taker } = make();
    files.write('/app/a', 'a');
    files.onRead = () => {
      throw new FsError('unavailable', '/app/a', 'The container cannot be reached.');
    };
    await expect(taker.take('activity')).rejects.toThrow('cannot be reached');
    expect((await store.list()).heads).toEqual([]);
  });
});

describe('a listing of a tree', () => {
  const p = (...records: string[]): Buffer => Buffer.from(`p 100.25\n${records.join('')}`, 'latin1');
  const root = 'd 755 4096 1 2 0 0 1.5 2.0 /app\0\0';

  test('takes names, targets and times as they are', () => {
    const odd = 'l 777 3 7 1 12 34 -1.5000000000 1700000000.9999999990 /app/x //= 0 \nf 1\0t\n//\0';
    expect(
      parseTree(
        p(root, odd, "//= 1 find: '/app/y': No such file or directory\nfind: '/app/z': Permission denied"),
        '/app',
      ),
    ).toEqual({
      startMs: 100_250,
      errors: ["find: '/app/z': Permission denied"],
      entries: [
        expect.objectContaining({ path: '/app', kind: 'directory', mode: 0o755, mtime: 1 }),
        expect.objectContaining({
          path: '/app/x //= 0 \nf 1',
          target: 't\n//',
          kind: 'symlink',
          mtime: -2,
          uid: 12,
          gid: 34,
        }),
      ],
    });
    const late = parseTree(p('f 4755 3 7 1 0 0 1700000000.9999999990 1.0 /app\0\0', '//= 0 '), '/app');
    expect(late.entries[0]).toMatchObject({ mtime: 1_700_000_000, mode: 0o4755 });
  });

  test.each([
    ['cut in a record', p(root, 'f 644 1 2').toString()],
    ['without an end', p(root).toString()],
    ['of a find that was killed', p(root, '//= 137 ').toString()],
    ['of another tool', 'what?\n'],
    ['empty', ''],
  ])('is broken off: %s', (_, text) => {
    expect(() => parseTree(Buffer.from(text), '/app')).toThrow('The listing was broken off.');
  });

  test('knows that there is nothing', () => {
    expect(() => parseTree(p('//= 1 No such file or directory'), '/app')).toThrow(
      'No such file or directory',
    );
    expect(() => parseTree(Buffer.from('e 1.%N\n//= 1 '), '/app')).toThrow('No such file or directory');
  });

  test('is read from stat too, whatever newlines a name holds', () => {
    const stat = (path: string): string =>
      `//81a4 3 7 1 0 0 -7 2024-01-02 03:04:05.123456789 +0000 ${path}\n`;
    const tree = parseTree(Buffer.from(`e 1704164645\n${stat('/app/a\nb')}${stat('/app/c')}//= 0 `), '/app');
    expect(tree.entries.map(({ path }) => path)).toEqual(['/app/a\nb', '/app/c']);
    expect(tree.entries[0]).toMatchObject({ kind: 'file', mtime: -7, ctimeMs: 1_704_164_645_123 });
  });
});
