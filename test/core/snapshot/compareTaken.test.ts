import { expect, test } from 'vitest';
import { unexplained } from '#core/snapshot/compareTaken.ts';
import type { SnapshotEntry } from '#core/snapshot/types.ts';

const since = 1_000;
const entry = (name: string, mtime: number, more: Partial<SnapshotEntry> = {}): SnapshotEntry => ({
  ...{ name, type: 'file', mode: 0o644, uid: 0, gid: 0, size: 1, linkName: '', sha256: 'x' },
  mtime,
  ...more,
});
const folder = (name: string, mtime: number): SnapshotEntry =>
  entry(name, mtime, { type: 'directory', size: 0, sha256: '' });

/** Said by the container, is by the engine. */
test.each<[string, SnapshotEntry[], SnapshotEntry[], string[]]>([
  ['the same', [folder('a', 1), entry('a/f', 1)], [folder('a', 1), entry('a/f', 1)], []],
  ['other content, of old', [entry('f', 1)], [entry('f', 1, { sha256: 'y' })], ['f']],
  ['other content, changed since', [entry('f', 1)], [entry('f', since, { sha256: 'y' })], []],
  ['another mode, of old', [entry('f', 1)], [entry('f', 1, { mode: 0o4755 })], ['f']],
  ['not told of, of old', [folder('a', 1)], [folder('a', 1), entry('a/f', 1)], ['a/f']],
  ['not told of, made since', [folder('a', 1)], [folder('a', since), entry('a/f', since)], []],
  ['told of, and its folder is as it was', [folder('a', 1), entry('a/f', 1)], [folder('a', 1)], ['a/f']],
  ['told of, and removed since', [folder('a', 1), entry('a/f', 1)], [folder('a', since)], []],
  ['our own file on its way', [folder('a', 1)], [folder('a', 1), entry('a/.e2eswe-tmp.1', 1)], []],
])('%s', (_, said, is, expected) => {
  expect(unexplained(said, is, since)).toEqual(expected);
});
