import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diffSnapshots } from '#core/snapshot/diff.ts';
import { SnapshotStore } from '#core/snapshot/store.ts';
import type { SnapshotEntry } from '#core/snapshot/types.ts';
import { SnapshotView } from '#core/snapshot/view.ts';
import { entriesOf, planted, scratch, takeTar } from './trees.ts';

const entry = (name: string, content: string, more: Partial<SnapshotEntry> = {}): SnapshotEntry => ({
  ...{ name, type: 'file', mode: 0o644, uid: 0, gid: 0, mtime: 1, linkName: '' },
  size: content.length,
  sha256: content,
  ...more,
});
const folder = (name: string): SnapshotEntry => entry(name, '', { type: 'directory', mode: 0o755 });
const link = (name: string, linkName: string): SnapshotEntry =>
  entry(name, '', { type: 'symlink', linkName });
const hard = (name: string, linkName: string): SnapshotEntry =>
  entry(name, '', { type: 'hardlink', linkName });
const nothing = { added: [], removed: [], changed: [], renamed: [] };

describe('what two snapshots differ in', () => {
  test.each<[string, SnapshotEntry[], SnapshotEntry[], object]>([
    ['nothing', [folder('a'), entry('a/f', 'x')], [folder('a'), entry('a/f', 'x')], {}],
    ['its time alone', [entry('f', 'x')], [entry('f', 'x', { mtime: 99 })], {}],
    ['an added file', [], [entry('f', 'x')], { added: ['f'] }],
    ['an added empty folder', [], [folder('d')], { added: ['d'] }],
    ['a removed file', [entry('f', 'x')], [], { removed: ['f'] }],
    ['content', [entry('f', 'x')], [entry('f', 'y')], { changed: [{ name: 'f', what: ['content'] }] }],
    [
      'mode and owner',
      [entry('f', 'x')],
      [entry('f', 'x', { mode: 0o755, gid: 5 })],
      { changed: [{ name: 'f', what: ['mode', 'owner'] }] },
    ],
    ['type', [entry('f', 'x')], [folder('f')], { changed: [{ name: 'f', what: ['type'] }] }],
    ['target', [link('l', 'a')], [link('l', 'b')], { changed: [{ name: 'l', what: ['target'] }] }],
    [
      'a name',
      [entry('old', 'x')],
      [entry('new', 'x', { mode: 0o600 })],
      { renamed: [{ from: 'old', to: 'new', what: ['mode'] }] },
    ],
    [
      'a folder: the same base name wins over the order',
      [entry('a/one', 'x'), entry('a/two', 'x')],
      [entry('b/two', 'x'), entry('c', 'x'), entry('d', 'x')],
      {
        renamed: [
          { from: 'a/two', to: 'b/two', what: [] },
          { from: 'a/one', to: 'c', what: [] },
        ],
        added: ['d'],
      },
    ],
    ['no rename of what is empty', [entry('a', '')], [entry('b', '')], { added: ['b'], removed: ['a'] }],
    [
      'no difference by which name is the link',
      [entry('a', 'x'), hard('b', 'a')],
      [entry('b', 'x'), entry('a', 'x')],
      {},
    ],
    [
      'content through a hard link',
      [entry('a', 'x'), hard('b', 'a')],
      [entry('a', 'y'), hard('b', 'a')],
      {
        changed: [
          { name: 'a', what: ['content'] },
          { name: 'b', what: ['content'] },
        ],
      },
    ],
  ])('%s', (_, older, newer, expected) => {
    expect(diffSnapshots(older, newer)).toEqual({ ...nothing, ...expected });
  });
});

describe('a view of a snapshot', () => {
  let dispose: () => Promise<void>;
  let view: SnapshotView;

  beforeAll(async () => {
    const place = await scratch();
    dispose = place.dispose;
    const store = new SnapshotStore(place.dir);
    const head = await takeTar(
      store,
      entriesOf([
        planted('srv/app', 'directory'),
        planted('srv/app/\xff', 'file', { content: Buffer.from('odd') }),
        planted('srv/app/again', 'hardlink', { linkName: 'srv/app/\xff' }),
        planted('srv/app/empty', 'directory'),
        planted('srv/app/link', 'symlink', { linkName: '/etc/passwd' }),
        planted('srv/app/sub', 'directory'),
        planted('srv/app/sub/big', 'file', { content: Buffer.alloc(3_000_000, 'b') }),
      ]),
    );
    view = await SnapshotView.open(store, head);
  });
  afterAll(() => dispose());

  test('lists folders, those above the roots too', () => {
    expect(view.listFolder('/')).toEqual(['srv']);
    expect(view.listFolder('/srv')).toEqual(['app']);
    expect(view.listFolder('/srv/app')).toEqual(['again', 'empty', 'link', 'sub', '\xff']);
    expect(view.listFolder('/srv/app/empty/')).toEqual([]);
    expect(view.isFolder('/srv')).toBe(true);
    expect(() => view.listFolder('/srv/app/link')).toThrow('/srv/app/link is no folder in the snapshot');
    expect(() => view.listFolder('/etc')).toThrow('/etc is not there in the snapshot');
  });

  test('reads files, by each of their names, and follows no link', async () => {
    expect((await view.readFile('/srv/app/\xff')).toString()).toBe('odd');
    expect((await view.readFile('/srv/app/again')).toString()).toBe('odd');
    expect(view.entry('/srv/app/again')).toMatchObject({ type: 'file', name: 'srv/app/again', size: 3 });
    expect(view.entry('/srv/app/link')).toMatchObject({ type: 'symlink', linkName: '/etc/passwd' });
    expect(view.entry('/srv')).toBeUndefined();
    let size = 0;
    for await (const piece of view.readStream('/srv/app/sub/big')) size += piece.length;
    expect(size).toBe(3_000_000);
    expect(() => view.readFile('/srv/app/link')).toThrow('/srv/app/link is no file');
    expect(() => view.readFile('/srv')).toThrow('/srv is no file');
    expect(() => view.readFile('/srv/app/none')).toThrow('/srv/app/none is not there');
  });
});
