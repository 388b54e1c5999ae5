import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ArchiveEntry } from '#core/trial/archive.ts';
import { unpackEntries } from '#core/trial/unpack.ts';
import { archive, type EntryInput, entry, tempDir } from './support.ts';

const rules = (marks: readonly { readonly rule: string }[]): readonly string[] =>
  marks.map(({ rule }) => rule);

test('keeps content, modes, times, links and empty folders', async () => {
  const dir = tempDir();
  const { unpacked, losses } = await unpackEntries(
    dir,
    archive(
      { name: 'app/', mode: 0o755 },
      { name: 'app/read-only/', mode: 0o555 },
      { name: 'app/read-only/file', text: 'x', mode: 0o600 },
      { name: 'app/link', linkName: '../../etc/passwd' },
      { name: 'app/again', type: 'hardlink', linkName: 'app/read-only/file' },
      { name: 'app/deep/er/file', text: 'y' },
      { name: 'app/empty/' },
    ),
  );
  expect(losses).toEqual(process.getuid?.() === 0 ? [] : [expect.objectContaining({ rule: 'mode-widened' })]);
  expect(readFileSync(path.join(dir, 'app/again'), 'utf8')).toBe('x');
  expect(statSync(path.join(dir, 'app/again')).ino).toBe(statSync(path.join(dir, 'app/read-only/file')).ino);
  expect(readlinkSync(path.join(dir, 'app/link'))).toBe('../../etc/passwd');
  expect(statSync(path.join(dir, 'app/read-only/file')).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(dir, 'app/read-only')).mtimeMs).toBe(1_700_000_000_000);
  expect(lstatSync(path.join(dir, 'app/link')).mtimeMs).toBe(1_700_000_000_000);
  expect(unpacked.get('app/deep/er')).toBe('directory');
  expect(unpacked.get('app/empty')).toBe('directory');
});

test('the last of several entries of one name counts', async () => {
  const dir = tempDir();
  await unpackEntries(
    dir,
    archive(
      { name: 'a', text: '1' },
      { name: 'a', text: '2' },
      { name: 'b', linkName: 'a' },
      { name: 'b', text: '3' },
    ),
  );
  expect(readFileSync(path.join(dir, 'a'), 'utf8')).toBe('2');
  expect(lstatSync(path.join(dir, 'b')).isFile()).toBe(true);
});

test('bytes that are no UTF-8 stay what they are', async () => {
  const dir = tempDir();
  const { losses } = await unpackEntries(dir, archive({ name: 'caf\xe9', text: 'x' }));
  const place = Buffer.concat([Buffer.from(`${dir}/caf`), Buffer.from([0xe9])]);
  if (losses.length === 0) expect(readFileSync(place, 'utf8')).toBe('x');
  else expect(rules(losses)).toEqual(['name-not-held']);
});

test('tells what a host cannot keep', async () => {
  const dir = tempDir();
  const { losses } = await unpackEntries(
    dir,
    archive(
      { name: 'suid', text: 'x', mode: 0o4755 },
      { name: 'pipe', type: 'fifo' },
      { name: 'foreign', text: 'x', uid: 4711 },
      { name: 'lost', type: 'hardlink', linkName: 'nowhere' },
      { name: 'n'.repeat(300), text: 'x' },
    ),
  );
  expect(rules(losses).toSorted()).toEqual([
    'link-target-missing',
    'name-not-held',
    'not-a-file',
    'owner-lost',
    'setuid-dropped',
  ]);
  expect(statSync(path.join(dir, 'suid')).mode & 0o7777).toBe(0o755);
});

const hostile: readonly (readonly [string, readonly EntryInput[]])[] = [
  ['a name that climbs', [{ name: '../evil', text: 'x' }]],
  ['a name with an empty part', [{ name: 'a//b', text: 'x' }]],
  [
    'a file below a link',
    [
      { name: 'l', linkName: '/tmp' },
      { name: 'l/evil', text: 'x' },
    ],
  ],
  ['a folder below a file', [{ name: 'f', text: 'x' }, { name: 'f/sub/' }]],
  ["a file in a folder's place", [{ name: 'd/' }, { name: 'd', text: 'x' }]],
  ["a folder in a link's place", [{ name: 'l', linkName: '/tmp' }, { name: 'l/' }]],
];

test.each(hostile)('refuses %s', async (_, inputs) => {
  await expect(unpackEntries(tempDir(), archive(...inputs))).rejects.toThrow(/is not unpacked/);
});

test('never writes through a link that appears meanwhile', async () => {
  const dir = tempDir();
  const outside = tempDir();
  async function* swapped(): AsyncGenerator<ArchiveEntry> {
    yield entry({ name: 'd/' });
    yield entry({ name: 'other', text: 'x' });
    rmSync(path.join(dir, 'd'), { recursive: true });
    symlinkSync(outside, path.join(dir, 'd'));
    yield entry({ name: 'd/evil', text: 'x' });
  }
  await expect(unpackEntries(dir, swapped())).rejects.toThrow(/is not unpacked/);
  expect(existsSync(path.join(outside, 'evil'))).toBe(false);
});

test('never overwrites what is there', async () => {
  const dir = tempDir();
  const outside = tempDir();
  symlinkSync(path.join(outside, 'target'), path.join(dir, 'planted'));
  mkdirSync(path.join(dir, 'folder'));
  const { losses } = await unpackEntries(
    dir,
    archive({ name: 'planted', text: 'x' }, { name: 'folder/', mode: 0o700 }),
  );
  expect(rules(losses)).toEqual(['name-taken']);
  expect(existsSync(path.join(outside, 'target'))).toBe(false);
});
