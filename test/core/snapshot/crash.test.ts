import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, rm, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SnapshotStore } from '#core/snapshot/store.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import { verifySnapshots } from '#core/snapshot/verify.ts';
import { entriesOf, random, randomTree, restored, scratch, takeTar } from './trees.ts';

let dir: string;
let dispose: () => Promise<void>;

beforeAll(async () => {
  ({ dir, dispose } = await scratch());
});
afterAll(() => dispose());

const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));

test('a write that is cut at any byte costs the snapshot under way, named, and no older one', async () => {
  const whole = path.join(dir, 'whole');
  const store = new SnapshotStore(whole);
  const older: { head: SnapshotHead; content: unknown }[] = [];
  for (const seed of [1, 2, 3]) {
    const head = await takeTar(store, entriesOf(randomTree(seed)));
    older.push({ head, content: await restored(store, head) });
  }
  const before = new Set(await filesOf(whole));
  const last = await takeTar(store, entriesOf(randomTree(4)));
  const content = await restored(store, last);
  const made = (await filesOf(whole)).filter((file) => !before.has(file)).sort();
  expect(made.length).toBeGreaterThan(3);
  const next = random(99);
  for (let round = 0; round < 60; round++) {
    const copy = path.join(dir, `cut${round}`);
    await cp(whole, copy, { recursive: true });
    // The head is written last; every third cut is one of its own.
    const victim = round % 3 === 0 ? `${last.id}.json` : (made[Math.floor(next() * made.length)] as string);
    const { size } = await stat(path.join(copy, victim));
    if (round % 5 === 4) await rm(path.join(copy, victim));
    else await truncate(path.join(copy, victim), Math.floor(next() * size));
    const cut = new SnapshotStore(copy);
    for (const { head, content } of older) expect(await restored(cut, head), victim).toEqual(content);
    const { heads, damaged } = await cut.list();
    if (victim === `${last.id}.json` && round % 5 === 4)
      expect(heads.map(({ id }) => id)).not.toContain(last.id);
    else {
      const found = await verifySnapshots(cut);
      expect(found, victim).toHaveLength(1);
      expect(found[0]?.problem, victim).toContain(victim.split(path.sep).join('/').replace(/\.gz$/, ''));
      expect(found[0]?.snapshots, victim).toEqual([last.id]);
    }
    // The next one works.
    if (damaged.length > 0) {
      const again = await takeTar(cut, entriesOf(randomTree(4)));
      expect(again.id > last.id || heads.length === 3).toBe(true);
      expect(await restored(cut, again)).toEqual(content);
    }
    await rm(copy, { recursive: true });
  }
}, 60_000);

test('kill -9 at any time loses at most the snapshot under way', async () => {
  const script = path.join(dir, 'writer.mjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'writeInLoop.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['dockerode', 'cpu-features'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  const place = path.join(dir, 'killed');
  await mkdir(place);
  const next = random(7);
  const told: string[] = [];
  for (let round = 0; round < 12; round++) {
    const child = spawn(process.execPath, [script, place, String(round)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
    });
    await once(child.stdout, 'data');
    await delay(next() * 150);
    child.kill('SIGKILL');
    await once(child, 'close');
    told.push(...output.split('\n').slice(0, -1));
    const store = new SnapshotStore(place);
    const { heads, damaged } = await store.list();
    expect(damaged).toEqual([]);
    const ids = heads.map(({ id }) => id);
    expect(ids.filter((id) => told.includes(id))).toEqual([...told].sort());
    // One may be there that there was no time to tell of.
    expect(ids.length - told.length).toBeLessThanOrEqual(round + 1);
  }
  const store = new SnapshotStore(place);
  expect(await verifySnapshots(store)).toEqual([]);
  // What the dead left half done goes with the next snapshot.
  await takeTar(store, entriesOf(randomTree(1)));
  expect((await readdir(place)).filter((name) => name.startsWith('.taking-'))).toEqual([]);
}, 60_000);
