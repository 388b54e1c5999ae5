import { expect, test } from 'vitest';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { compareArrival } from '#core/grading/copyIn.ts';
import { header } from '../container/tarTools.ts';

type Arrived = Parameters<typeof compareArrival>[1] extends ReadonlyMap<string, infer T> ? T : never;

const file = { type: 'f', mode: 0o644, size: 3, mtime: 1_700_000_000, linkName: '' };

function compare(
  sent: readonly Partial<TarHeader>[],
  arrived: Readonly<Record<string, Partial<Arrived>>>,
): string[] {
  return compareArrival(
    sent.map((part) => header({ size: part.type && part.type !== 'file' ? 0 : 3, ...part })),
    new Map(Object.entries(arrived).map(([name, part]) => [name, { ...file, ...part }])),
  );
}

test('what arrived as it was sent', () => {
  const sent = [
    { name: 'app', type: 'directory' as const, mode: 0o755, mtime: 5 },
    { name: 'app/a' },
    { name: 'app/h', type: 'hardlink' as const, linkName: 'app/a', mtime: 9 },
    { name: 'app/l', type: 'symlink' as const, linkName: '/x', mode: 0 },
    { name: 'app/implied/deep/f' },
    { name: 'app/twice', size: 1 },
    { name: 'app/twice', size: 3 },
  ];
  expect(
    compare(sent, {
      app: { type: 'd', mode: 0o755 },
      'app/a': { mtime: 1_700_000_001 },
      'app/h': {},
      'app/l': { type: 'l', mode: 0o777, linkName: '/x' },
      'app/implied': { type: 'd' },
      'app/implied/deep': { type: 'd' },
      'app/implied/deep/f': {},
      'app/twice': {},
    }),
  ).toEqual([]);
});

test.each<[sent: Partial<TarHeader>, arrived: Partial<Arrived> | undefined, says: string]>([
  [{ name: 'a' }, undefined, '/a: missing'],
  [{ name: 'a' }, { type: 'd' }, '/a: type d instead of f'],
  [{ name: 'a', mode: 0o4755 }, { mode: 0o755 }, '/a: mode 755 instead of 4755'],
  [{ name: 'a' }, { size: 2 }, '/a: 2 bytes instead of 3'],
  [{ name: 'a' }, { mtime: 5 }, '/a: another time'],
  [{ name: 'a', type: 'symlink', linkName: 'x' }, { type: 'l', linkName: 'y' }, '/a: another link target'],
  [{ name: 'caf\xe9' }, undefined, '/caf\\xe9: missing'],
])('%j that arrives as %j', (sent, arrived, says) => {
  expect(compare([sent], arrived ? { [sent.name as string]: arrived } : {})).toEqual([says]);
});

test('what was not sent is told, and the list ends', () => {
  expect(compare([{ name: 'a' }], { a: {}, b: {} })).toEqual(['/b: unexpected']);
  const many = Array.from({ length: 200 }, (_, i) => ({ name: `f${i}` }));
  expect(compare(many, {})).toHaveLength(50);
});
