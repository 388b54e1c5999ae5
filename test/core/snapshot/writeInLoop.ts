import { SnapshotStore } from '#core/snapshot/store.ts';
import { entriesOf, planted, random, takeTar } from './trees.ts';

/** Writes snapshots until it is killed: the test's own process bundles it. Says the id of each that is there. */
const [, , dir = '', seed = '0'] = process.argv;
const next = random(Number(seed));
const store = new SnapshotStore(dir);
for (;;) {
  const tree = Array.from({ length: 1 + Math.floor(next() * 12) }, (_, i) => {
    const size = Math.floor(next() * (next() < 0.2 ? 2_500_000 : 20_000));
    return planted(`app/${i}`, 'file', { content: Buffer.alloc(size, `${Math.floor(next() * 40)} `) });
  });
  const { id } = await takeTar(store, entriesOf(tree));
  process.stdout.write(`${id}\n`);
}
