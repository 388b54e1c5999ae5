import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, link, lstat, mkdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { walkFolder } from '#core/container/folderTar.ts';
import { pack, type ReadEntry, tempFolder, unpack } from './tarTools.ts';

const hasTar = spawnSync('tar', ['--version']).stdout?.includes('GNU tar') ?? false;

/** Repeatable random numbers (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const pieces: readonly Buffer[] = [
  'a',
  'b c',
  'é',
  '🚀',
  'line\nbreak',
  '-dash',
  '.hidden',
  'tab\t',
  'quote"\'',
  'back\\slash',
  'n'.repeat(140),
]
  .map((text) => Buffer.from(text))
  .concat(Buffer.from([0x63, 0xe9, 0xff]));

/** A random tree: files of sizes around block ends, folders, links of both kinds, modes, times. */
async function makeTree(root: string, seed: number): Promise<void> {
  const next = random(seed);
  const folders: Buffer[] = [Buffer.from(root)];
  const files: Buffer[] = [];
  for (let i = 0; i < 60; i++) {
    const parent = folders[next(folders.length)] as Buffer;
    const name = Buffer.concat([pieces[next(pieces.length)] as Buffer, Buffer.from(String(i))]);
    const full = Buffer.concat([parent, Buffer.from('/'), name]);
    const kind = next(10);
    if (kind < 5) {
      await writeFile(full, Buffer.alloc([0, 1, 511, 512, 513, 1024, 70_000][next(7)] as number, i));
      await chmod(full, [0o644, 0o755, 0o600, 0o4755, 0o444, 0o7777][next(6)] as number);
      files.push(full);
    } else if (kind < 7) {
      await mkdir(full);
      folders.push(full);
    } else if (kind < 8 && files.length > 0) {
      await link(files[next(files.length)] as Buffer, full);
    } else {
      await symlink(['/etc/passwd', '../..', 'loop', 'x'.repeat(180)][next(4)] as string, full);
    }
  }
  for (const file of files) await utimes(file, next(2_000_000_000), next(2_000_000_000));
}

/** What the two tars must agree on, by name; a hard link stands for its first name's file in both. */
function facts(entries: readonly ReadEntry[]): Map<string, string> {
  const first = new Map<string, string>();
  const rows = entries.map(({ header: h, data }) => {
    const name = h.name.replace(/^\.(?:\/|$)/, '');
    first.set(name, h.type === 'hardlink' ? (first.get(h.linkName.replace(/^\.\//, '')) ?? '?') : name);
    const link = h.type === 'symlink' ? h.linkName : '';
    return { name, type: h.type === 'hardlink' ? 'file' : h.type, h, link, data };
  });
  // Which of a group of names comes first is each tar's own affair.
  const groups = new Map<string, string[]>();
  for (const { name } of rows) {
    const key = first.get(name) ?? name;
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return new Map(
    rows.map(({ name, type, h, link }) => [
      name,
      [
        type,
        type === 'symlink' ? '' : h.mode.toString(8),
        h.uid,
        h.gid,
        h.mtime,
        link,
        JSON.stringify(groups.get(first.get(name) ?? name)?.sort()),
      ].join(' '),
    ]),
  );
}

describe.skipIf(!hasTar)('against the system tar', () => {
  let temp: Awaited<ReturnType<typeof tempFolder>>;
  beforeAll(async () => {
    temp = await tempFolder();
  });
  afterAll(() => temp.remove());

  test.each([1, 2, 3, 4, 5, 6])(
    'random tree %i: what we write it unpacks, what it writes we read',
    async (seed) => {
      const tree = path.join(temp.dir, `tree${seed}`);
      const copy = path.join(temp.dir, `copy${seed}`);
      await mkdir(tree);
      await mkdir(copy);
      await makeTree(tree, seed);

      const ours = await pack(walkFolder(tree, { prefix: '' }));
      execFileSync('tar', ['-xpf', '-', '--numeric-owner', '-C', copy], { input: ours });
      execFileSync('diff', ['-r', '--no-dereference', tree, copy]);

      for (const format of ['gnu', 'posix']) {
        const theirs = execFileSync('tar', ['-c', `--format=${format}`, '--sort=name', '-C', copy, '.'], {
          maxBuffer: 1 << 28,
        });
        const read = await unpack(theirs, [4096, 1, 513]);
        const found = facts(read.filter(({ header }) => header.name !== '.'));
        expect(found).toEqual(facts(await unpack(ours)));
        expect(contents(read)).toEqual(contents(await unpack(ours)));
      }
    },
  );

  test('hard links, setuid, times and names with newlines arrive as they were', async () => {
    const tree = path.join(temp.dir, 'exact');
    const copy = path.join(temp.dir, 'exact-copy');
    await mkdir(tree);
    await mkdir(copy);
    await writeFile(path.join(tree, 'a\nb'), 'one');
    await chmod(path.join(tree, 'a\nb'), 0o4751);
    await link(path.join(tree, 'a\nb'), path.join(tree, 'z'));
    await symlink('a\nb', path.join(tree, 'to'));
    await utimes(path.join(tree, 'a\nb'), 1_000_000_000, 1_234_567_890);
    execFileSync('tar', ['-xpf', '-', '-C', copy], { input: await pack(walkFolder(tree, { prefix: '' })) });
    const stats = await lstat(path.join(copy, 'a\nb'));
    expect(stats.mode & 0o7777).toBe(0o4751);
    expect(stats.mtimeMs).toBe(1_234_567_890_000);
    expect((await lstat(path.join(copy, 'z'))).ino).toBe(stats.ino);
    expect(await readlink(path.join(copy, 'to'))).toBe('a\nb');
    expect(await readFile(path.join(copy, 'z'), 'utf8')).toBe('one');
  });

  test('a sparse archive of GNU tar is refused, not read as something else', async () => {
    const file = path.join(temp.dir, 'sparse');
    execFileSync('truncate', ['-s', '10M', file]);
    const archive = execFileSync('tar', ['-cS', '-C', temp.dir, 'sparse'], { maxBuffer: 1 << 28 });
    await expect(unpack(archive)).rejects.toThrow(/sparse/);
  });
});

/** Contents by name; a hard link has its file's. */
function contents(entries: readonly ReadEntry[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { header: h, data } of entries) {
    const name = h.name.replace(/^\.(?:\/|$)/, '');
    if (h.type === 'file') found.set(name, data.toString('base64'));
    if (h.type === 'hardlink') found.set(name, found.get(h.linkName.replace(/^\.\//, '')) ?? 'missing');
  }
  return new Map([...found].sort());
}
