import { expect, test } from 'vitest';
import { linkOf, namedArchive } from '#core/container/archiveLook.ts';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { bodyOf, readTar, writeTar } from '#core/container/tarStream.ts';

const header = (name: string, more: Partial<TarHeader> = {}): TarHeader => ({
  ...{ name, type: 'file', mode: 0o644, uid: 0, gid: 0, size: 0, mtime: 1 },
  ...{ linkName: '', devMajor: 0, devMinor: 0, flag: '' },
  ...more,
});

async function named(headers: readonly TarHeader[], target: string): Promise<string[]> {
  const archive = writeTar(
    headers.map((one) => ({ header: one, body: bodyOf(Buffer.alloc(one.size, 'x')) })),
  );
  const found: string[] = [];
  for await (const { header: got, body } of readTar(namedArchive(archive, target))) {
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.length;
    found.push([got.name, got.linkName, bytes || ''].filter(Boolean).join(' '));
  }
  return found;
}

test('names that leave the last component out get it', async () => {
  const archive = [
    header('/', { type: 'directory' }),
    header('/d', { type: 'directory' }),
    header('/d/f', { size: 3 }),
    header('/again', { type: 'hardlink', linkName: '/d/f' }),
    header('/away', { type: 'symlink', linkName: '/etc/x' }),
  ];
  expect(await named(archive, '/srv/app')).toEqual([
    'app',
    'app/d',
    'app/d/f 3',
    'app/again app/d/f',
    'app/away /etc/x',
  ]);
});

test('names that have it stay', async () => {
  const archive = [header('app', { type: 'directory' }), header('app/app', { size: 2 })];
  expect(await named(archive, '/srv/app')).toEqual(['app', 'app/app 2']);
});

test('a link is told by the engine’s own stat', () => {
  const stat = (value: object): Parameters<typeof linkOf>[0] => ({
    headers: { 'x-docker-container-path-stat': Buffer.from(JSON.stringify(value)).toString('base64') },
  });
  const link = { name: 'verifier', size: 4, mode: 0o777 | 0x0800_0000, isDir: true, linkTarget: '/etc' };
  expect(linkOf(stat(link))?.header).toMatchObject({ name: 'verifier', type: 'symlink', linkName: '/etc' });
  expect(linkOf(stat({ ...link, mode: 0x8000_01ed }))).toBeUndefined();
  expect(linkOf({ headers: {} })).toBeUndefined();
  expect(linkOf({ headers: { 'x-docker-container-path-stat': '%' } })).toBeUndefined();
});
