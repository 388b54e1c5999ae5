import path from 'node:path';
import { expect, test } from 'vitest';
import { SnapshotStore } from '#core/snapshot/store.ts';
import { entriesOf, planted, takeTar } from '../snapshot/trees.ts';
import { attemptCli } from './cli.ts';
import { record, useStore } from './support.ts';

/** `e2e-swe attempt view` over a store on disk: it needs no engine. */

const used = useStore();

const view = (...args: string[]) => attemptCli(used.store, 'view', ...args);

const binary = Buffer.from([0, 255, 254, 10, 13, 0x80]);
const large = Buffer.alloc(3_000_000, 'all of it\n');

async function aSnapshot(): Promise<{ readonly id: string; readonly snapshot: string }> {
  const made = await used.store.create(record({ state: 'ready' })).then(() => used.store.list());
  const id = made[0]?.id ?? '';
  const store = new SnapshotStore(path.join(used.store.dirOf(id), 'snapshots'));
  const tree = [
    planted('app', 'directory'),
    planted('app/odd\xff\n', 'file', { mode: 0o600, content: binary }),
    planted('app/large', 'file', { content: large }),
    planted('app/second', 'hardlink', { linkName: 'app/large' }),
    planted('app/link', 'symlink', { linkName: '/etc/passwd' }),
  ];
  return { id, snapshot: (await takeTar(store, entriesOf(tree))).id };
}

test('lists what a snapshot holds, for people and as JSON', async () => {
  const { id, snapshot } = await aSnapshot();
  const { code, stdout } = await view(id, snapshot);
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      'directory  0755           0  /app',
      'file       0600           6  /app/odd\\xff\\x0a',
      'file       0644     3000000  /app/large',
      'file       0644     3000000  /app/second',
      'symlink    0777           0  /app/link -> /etc/passwd',
      '',
    ],
  ]);
  const json = JSON.parse((await view(id, snapshot, '--json')).stdout);
  expect(json[1]).toMatchObject({ path: '/app/odd\\xff\\x0a', type: 'file', mode: '0600', size: 6 });
  expect(json[4]).toMatchObject({ type: 'symlink', target: '/etc/passwd' });
});

test('writes the bytes of a file out, by its path as listed, from the workdir too', async () => {
  const { id, snapshot } = await aSnapshot();
  expect((await view(id, snapshot, '/app/odd\\xff\\x0a')).bytes).toEqual(binary);
  const second = await view(id, snapshot, 'second');
  expect([second.code, second.bytes.equals(large), second.stdout]).toEqual([0, true, '']);
});

test('says what is wrong, and writes nothing', async () => {
  const { id, snapshot } = await aSnapshot();
  for (const [args, said] of [
    [[id], 'Name one attempt, one of its snapshots'],
    [[id, snapshot, 'large', '--json'], 'leave --json out'],
    [[id, 'nowhere'], 'There is no snapshot "nowhere".'],
    [['nobody', snapshot], 'There is no'],
    [[id, snapshot, 'missing'], `/app/missing is not there in the snapshot ${snapshot}.`],
    [[id, snapshot, '/app'], '/app is no file in the snapshot'],
    [[id, snapshot, 'link'], '/app/link is no file in the snapshot'],
  ] as const) {
    const { code, stderr, stdout, bytes } = await view(...args);
    expect([code, stderr, stdout, bytes.length]).toEqual([2, expect.stringContaining(said), '', 0]);
  }
});
