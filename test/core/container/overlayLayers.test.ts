import { spawnSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  findLayers,
  layerChanges,
  type OverlayLayers,
  readLayerFolder,
} from '#core/container/overlayLayers.ts';
import { tempFolder } from './tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
let layers: OverlayLayers;
beforeEach(async () => {
  temp = await tempFolder();
  layers = {
    upper: path.join(temp.dir, 'upper'),
    lowers: ['l1', 'l2'].map((name) => path.join(temp.dir, name)),
    mounts: ['/app/volume'],
  };
  for (const folder of [layers.upper, ...layers.lowers]) await mkdir(folder);
});
afterEach(() => temp.remove());

async function put(layer: string, ...files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(path.dirname(path.join(layer, file)), { recursive: true });
    await writeFile(path.join(layer, file), file);
  }
}

async function namesOf(folder: string): Promise<string[] | undefined> {
  const entries = await readLayerFolder(layers, folder);
  if (!entries) return undefined;
  const names: string[] = [];
  for await (const { header } of entries) names.push(`${header.type} ${header.name}`);
  return names;
}

describe("a container's own folder", () => {
  test('is read with the names that the engine gives', async () => {
    await put(layers.upper, 'logs/verifier/reward.txt', 'logs/verifier/sub/x');
    expect(await namesOf('/logs/verifier')).toEqual([
      'directory verifier',
      'file verifier/reward.txt',
      'directory verifier/sub',
      'file verifier/sub/x',
    ]);
  });

  test.each<[what: string, make: () => Promise<void>]>([
    ['is a link', async () => symlink(temp.dir, path.join(layers.upper, 'logs'))],
    [
      'has a link on the way, to a folder that is there',
      async () => {
        await mkdir(path.join(temp.dir, 'outside/verifier'), { recursive: true });
        await symlink(path.join(temp.dir, 'outside'), path.join(layers.upper, 'logs'));
      },
    ],
    ['is a file', () => put(layers.upper, 'logs')],
    ['is not there', () => Promise.resolve()],
  ])('that %s is left to the engine', async (_, make) => {
    await make();
    expect(await namesOf('/logs/verifier')).toBeUndefined();
    expect(await namesOf('/logs')).toBeUndefined();
  });

  test('at, in or around a mount is left to the engine', async () => {
    await put(layers.upper, 'app/volume/x');
    for (const folder of ['/app', '/app/volume', '/app/volume/deep'])
      expect(await namesOf(folder)).toBeUndefined();
  });
});

test('changes: what the container added or changed, excluded paths left out', async () => {
  await put(layers.lowers[0] as string, 'etc/motd', 'usr/bin/x');
  await put(layers.upper, 'etc/motd', 'etc/new', 'logs/verifier/x', 'tmp/y');
  // Copied up for a file that is gone again, and for a mode.
  for (const layer of [layers.lowers[0] as string, layers.upper])
    for (const folder of ['srv/same', 'srv/mode']) await mkdir(path.join(layer, folder), { recursive: true });
  await chmod(path.join(layers.upper, 'srv/mode'), 0o777);
  const changes = await layerChanges(layers, ['/logs', '/tmp']);
  expect(changes.map(({ kind, path: changed }) => `${kind} ${changed}`).sort()).toEqual([
    'A /etc/new',
    'C /etc',
    'C /etc/motd',
    'C /srv',
    'C /srv/mode',
  ]);
});

test.skipIf(process.getuid?.() !== 0)('a whiteout is a deletion', async () => {
  await put(layers.lowers[0] as string, 'etc/gone');
  await mkdir(path.join(layers.upper, 'etc'));
  const made = spawnSync('mknod', [path.join(layers.upper, 'etc/gone'), 'c', '0', '0']);
  if (made.status !== 0) return expect(made.stderr.toString()).toMatch(/not permitted/);
  expect(await layerChanges(layers, [])).toContainEqual({ kind: 'D', path: '/etc/gone' });
});

test('layers are at hand only for overlay2, where all of them can be read', async () => {
  const Data = { UpperDir: layers.upper, LowerDir: layers.lowers.join(':') };
  const found = await findLayers({
    GraphDriver: { Name: 'overlay2', Data },
    Mounts: [{ Destination: '/v' }],
  });
  expect(found).toEqual({ upper: layers.upper, lowers: layers.lowers, mounts: ['/v'] });
  expect(await findLayers({ GraphDriver: { Name: 'btrfs', Data } })).toBeUndefined();
  expect(await findLayers({ GraphDriver: { Name: 'overlay2', Data: null } })).toBeUndefined();
  expect(await findLayers({})).toBeUndefined();
  const elsewhere = { ...Data, LowerDir: `${Data.LowerDir}:/nonexistent` };
  expect(await findLayers({ GraphDriver: { Name: 'overlay2', Data: elsewhere } })).toBeUndefined();
});
