import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keptTime } from '#core/container/tarHeader.ts';
import { readTar, writeTar } from '#core/container/tarStream.ts';
import { readSubmission, submissionFromEntries } from '#core/grading/submission.ts';
import { compactSnapshots, planCompaction } from '#core/snapshot/compact.ts';
import { SnapshotStore } from '#core/snapshot/store.ts';
import { TarTaker } from '#core/snapshot/takeFromTar.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import { verifySnapshots } from '#core/snapshot/verify.ts';
import { contentsOf, entriesOf, planted, randomTree, restored, scratch, takeTar } from './trees.ts';

let dir: string;
let dispose: () => Promise<void>;
let count = 0;

beforeAll(async () => {
  ({ dir, dispose } = await scratch());
});
afterAll(() => dispose());

const make = (): SnapshotStore => new SnapshotStore(path.join(dir, `store${count++}`));
const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();

describe('a snapshot from the engine’s tar', () => {
  test('is restored as the submission of the same archive, entry for entry: 40 random trees', async () => {
    const store = make();
    for (let seed = 1; seed <= 40; seed++) {
      const tree = randomTree(seed, { special: true });
      const submission = await submissionFromEntries(entriesOf(tree), {
        roots: ['/app'],
        dir,
        signal: new AbortController().signal,
      });
      const head = await takeTar(store, entriesOf(tree));
      expect(await restored(store, head), `seed ${seed}`).toEqual(
        await contentsOf(readSubmission(submission)),
      );
      expect(head.entries).toBe(submission.entries.length);
      const special = tree.filter(({ header }) => ['fifo', 'char'].includes(header.type));
      expect(head.skipped.map(({ name, what }) => [name, what])).toEqual(
        special.map(({ header }) => [header.name, 'special']),
      );
    }
    expect(await verifySnapshots(store)).toEqual([]);
  }, 60_000);

  test('is as exact when it is taken on the way to somebody who leaves bodies unread', async () => {
    const store = make();
    const tree = randomTree(3);
    const { head } = await store.take(
      { reason: 'grade', source: 'engine', roots: ['/app'] },
      async (writer) => {
        const taker = new TarTaker(writer);
        let at = 0;
        for await (const { body } of taker.through(readTar(writeTar(entriesOf(tree))))) {
          // All of every third, one piece of every third, nothing of the others.
          at++;
          if (at % 3 === 1) for await (const _ of body);
          if (at % 3 === 2) for await (const _ of body) break;
        }
        return taker.tree();
      },
    );
    const sent = await contentsOf(entriesOf(tree));
    expect(await restored(store, head)).toEqual(
      sent.map((entry) => ({ ...entry, mtime: keptTime(Number(entry.mtime)) })),
    );
  });

  test('is refused where it would fill the disk', async () => {
    const store = make();
    const huge = planted('app/huge', 'file', { size: 33 * 1024 ** 3 });
    await expect(takeTar(store, entriesOf([planted('app', 'directory'), huge]))).rejects.toThrow(
      'The workspace has more than 32 GiB',
    );
    expect((await store.list()).heads).toEqual([]);
  });

  test('keeps a second name of a link, and skips with its reason what nothing leads to', async () => {
    const store = make();
    const head = await takeTar(
      store,
      entriesOf([
        planted('app', 'directory'),
        planted('app/l', 'symlink', { linkName: 'x', mtime: 5 }),
        planted('app/m', 'hardlink', { linkName: 'app/l' }),
        planted('app/p', 'fifo'),
        planted('app/q', 'hardlink', { linkName: 'app/p' }),
        planted('app/r', 'hardlink', { linkName: 'app/none' }),
      ]),
    );
    expect(head.skipped).toEqual([
      { name: 'app/p', what: 'special', detail: 'fifo' },
      { name: 'app/q', what: 'special', detail: 'another name of one that is skipped' },
      { name: 'app/r', what: 'other', detail: 'a hard link to nothing before it' },
    ]);
    await expect(restored(store, head)).rejects.toThrow('is for viewing only: it lacks "app/r"');
    expect((await store.entries(head)).map(({ name, type, linkName }) => [name, type, linkName])).toEqual([
      ['app', 'directory', ''],
      ['app/l', 'symlink', 'x'],
      ['app/m', 'symlink', 'x'],
    ]);
  });
});

describe('the store of snapshots', () => {
  test('holds each content once, compressed where it pays', async () => {
    const store = make();
    const text = Buffer.alloc(200_000, 'the same line\n');
    const noise = Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 7919 * ((i >> 3) + 1)) % 251));
    const first = await takeTar(
      store,
      entriesOf([
        planted('app/a', 'file', { content: text }),
        planted('app/b', 'file', { content: text }),
        planted('app/c', 'file', { content: noise }),
      ]),
    );
    const before = await filesOf(store.blobs.dir);
    const more = [planted('app/d', 'file', { content: text }), planted('app/e', 'file', { content: noise })];
    const second = await takeTar(store, entriesOf(more));
    const made = (await filesOf(store.blobs.dir)).filter((file) => !before.includes(file));
    // The tree alone.
    expect(made).toHaveLength(1);
    expect(before).toHaveLength(3);
    const { sha256 } = (await store.entries(first))[0] ?? { sha256: '' };
    expect(await store.blobs.sizeOnDisk(sha256)).toBeLessThan(2_000);
    expect(second.id > first.id).toBe(true);
    expect((await store.list()).heads.map(({ id }) => id)).toEqual([first.id, second.id]);
    // Another process.
    expect(await restored(new SnapshotStore(store.dir), second)).toEqual(await contentsOf(entriesOf(more)));
  });

  test('a periodic one of an unchanged workspace is the one before', async () => {
    const store = make();
    const tree = randomTree(7);
    const spec = { reason: 'activity', source: 'engine', roots: ['/app'] } as const;
    const take = () =>
      store.take(spec, async (writer) => {
        const taker = new TarTaker(writer);
        for await (const _ of taker.through(entriesOf(tree)));
        return taker.tree();
      });
    const first = await take();
    expect(first.isNew).toBe(true);
    expect(await take()).toEqual({ head: first.head, isNew: false });
    // One that is asked for is always there.
    expect((await takeTar(store, entriesOf(tree), 'manual')).id).not.toBe(first.head.id);
    expect((await store.list()).heads).toHaveLength(2);
  });

  test('leaves nothing of one that fails or is cancelled', async () => {
    const store = make();
    await takeTar(store, entriesOf(randomTree(1)));
    const before = await filesOf(store.dir);
    async function* broken() {
      yield* entriesOf(randomTree(2));
      throw new Error('the engine went away');
    }
    await expect(takeTar(store, broken())).rejects.toThrow('the engine went away');
    expect(await filesOf(store.dir)).toEqual(before);
    expect((await readdir(store.dir)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('names what is torn, altered or missing, and whom it concerns', async () => {
    const store = make();
    const tree = [
      planted('app/one', 'file', { content: Buffer.from('one'.repeat(3_000)) }),
      planted('app/two', 'file', { content: Buffer.from('two') }),
      planted('app/three', 'file', { content: Buffer.from('three') }),
    ];
    const first = await takeTar(store, entriesOf(tree));
    const second = await takeTar(store, entriesOf(tree.slice(1)));
    const [one, two, three] = (await store.entries(first)).map(({ sha256 }) => sha256);
    await truncate(store.blobs.placeOf(one ?? '', true), 20);
    await writeFile(store.blobs.placeOf(two ?? '', false), 'too');
    await rm(store.blobs.placeOf(three ?? '', false));
    const found = await verifySnapshots(store);
    expect(found.map(({ snapshots, paths }) => ({ snapshots, paths }))).toEqual([
      { snapshots: [first.id], paths: ['app/one'] },
      { snapshots: [first.id, second.id], paths: ['app/two'] },
      { snapshots: [first.id, second.id], paths: ['app/three'] },
    ]);
    expect(found[0]?.problem).toMatch(/^snapshots\/blobs\/..\/[0-9a-f]{62}\.gz is damaged: /);
    expect(found[1]?.problem).toContain('is damaged: it holds other content');
    expect(found[2]?.problem).toMatch(/ is missing\.$/);
    await expect(restored(store, second)).rejects.toThrow('it holds other content');
    await writeFile(path.join(store.dir, `${first.id}.json`), '{"schemaVer');
    const { heads, damaged } = await store.list();
    expect(heads.map(({ id }) => id)).toEqual([second.id]);
    expect(damaged.map(({ id, error }) => [id, error.message])).toEqual([
      [first.id, `snapshots/${first.id}.json is torn or no JSON.`],
    ]);
    await expect(store.head(first.id)).rejects.toThrow('is torn or no JSON');
    await expect(store.head('none')).rejects.toThrow('There is no snapshot "none".');
    const text = await readFile(path.join(store.dir, `${second.id}.json`), 'utf8');
    await writeFile(
      path.join(store.dir, `${second.id}.json`),
      text.replace('"schemaVersion":1', '"schemaVersion":2'),
    );
    await expect(store.head(second.id)).rejects.toThrow('is of version 2, not 1');
  });
});

describe('compaction', () => {
  const minute = 60_000;
  const at = (minutesAgo: number, reason: SnapshotHead['reason'] = 'activity'): SnapshotHead => ({
    ...{ schemaVersion: 1, reason, source: 'container', roots: [], tree: '', entries: 0, bytes: 0 },
    ...{ skipped: [], unstable: [], durationMs: 0 },
    id: String(100_000 - minutesAgo).padStart(8, '0'),
    at: new Date(now - minutesAgo * minute).toISOString(),
  });
  const now = Date.parse('2026-01-02T12:00:00Z');

  test('thins out the periodic ones by age, and drops nothing that stands for something', () => {
    const ages = Array.from({ length: 3 * 24 * 60 }, (_, i) => i).reverse();
    const heads = ages.map((age) => at(age, age % 100 === 99 ? 'grade' : 'activity'));
    const dropped = new Set(planCompaction(heads, now));
    const left = heads.filter(({ id }) => !dropped.has(id));
    const periodic = left
      .filter(({ reason }) => reason === 'activity')
      .map((head) => (now - Date.parse(head.at)) / minute);
    expect(periodic.filter((age) => age <= 60)).toHaveLength(61);
    expect(periodic.filter((age) => age > 60 && age <= 24 * 60)).toHaveLength(23 * 6);
    expect(periodic.filter((age) => age > 24 * 60)).toHaveLength(2 * 24);
    expect(heads.filter(({ reason, id }) => reason === 'grade' && dropped.has(id))).toEqual([]);
    const all = [at(600), at(599, 'command'), at(598, 'save')];
    expect(planCompaction(all, now)).toHaveLength(1);
    const pinned = all.map((head) => ({ ...head, ...(head === all[1] ? { isPinned: true as const } : {}) }));
    expect(planCompaction(pinned, now)).toEqual([]);
    // The newest stays however old it is.
    expect(planCompaction([at(9_000), at(8_999)], now)).not.toContain(at(8_999).id);
  });

  test('removes the contents that nobody needs, and none while something cannot be read', async () => {
    const store = make();
    const other = new SnapshotStore(store.dir);
    const heads: SnapshotHead[] = [];
    for (let i = 0; i < 6; i++) {
      const tree = [
        planted('app/f', 'file', { content: Buffer.from(`content ${i >> 1}`) }),
        planted(`app/${i}`, 'directory'),
      ];
      heads.push(
        await takeTar(i === 3 ? other : store, entriesOf(tree), i === 0 || i === 5 ? 'grade' : 'save'),
      );
    }
    const later = Date.now() + 400 * 24 * 60 * minute;
    // The newest of the windows stays of the periodic ones.
    const result = await compactSnapshots(store, later);
    expect(result.removed).toEqual([heads[3], heads[2], heads[1]].map((head) => head?.id));
    // Content 1 and three trees.
    expect(result.blobsRemoved).toBe(4);
    expect(result.bytesFreed).toBeGreaterThan(0);
    expect(await verifySnapshots(store)).toEqual([]);
    expect((await store.list()).heads.map(({ id }) => id)).toEqual(
      [heads[0], heads[4], heads[5]].map((head) => head?.id),
    );
    // Another instance, which knew those contents, writes them again.
    const again = await takeTar(
      other,
      entriesOf([planted('app/f', 'file', { content: Buffer.from('content 1') })]),
    );
    expect(await restored(other, again)).toHaveLength(1);
    await writeFile(path.join(store.dir, `${heads[0]?.id}.json`), '');
    expect(await compactSnapshots(store, later)).toMatchObject({
      blobsRemoved: 0,
      held: `snapshots/${heads[0]?.id}.json is torn or no JSON.`,
    });
  });
});
