import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ContainerEngine } from '#core/container/engine.ts';
import { FsChannel } from '#core/container/fsChannel.ts';
import { readTar } from '#core/container/tarStream.ts';
import { SnapshotStore } from '#core/snapshot/store.ts';
import { ChannelTaker } from '#core/snapshot/takeFromChannel.ts';
import { TarTaker } from '#core/snapshot/takeFromTar.ts';

export interface SnapshotTimes {
  readonly files: number;
  /** Milliseconds of the first snapshot, which reads everything. */
  readonly first: number;
  /** Milliseconds at the median of a snapshot after five files changed. */
  readonly fiveChanged: number;
  /** Milliseconds at the median of a snapshot after nothing changed. */
  readonly unchanged: number;
  /** Milliseconds at the median of one by the engine's tar, after nothing changed. */
  readonly byEngine: number;
  /** What the issue allows for five changed files, milliseconds. */
  readonly limit: number;
}

const rounds = 7;
const cases: readonly (readonly [number, number])[] = [
  [1_000, 200],
  [10_000, 500],
];

/** Times snapshots over the file channel of random files of 10 KB, in a container that is removed at the end. */
export async function timeSnapshots(engine: ContainerEngine, image: string): Promise<SnapshotTimes[]> {
  const results: SnapshotTimes[] = [];
  for (const [count, limit] of cases) {
    const dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-bench-snapshots-'));
    const container = await engine.createContainer({
      name: `e2e-swe-bench-snapshots-${process.pid}-${count}`,
      image,
      command: ['sleep', '600'],
      labels: {},
      network: 'none',
      cpus: null,
      memoryMb: null,
      pidsLimit: 500,
      init: true,
    });
    const files = new FsChannel(container, { user: '0' });
    try {
      await container.start();
      const run = async (script: string): Promise<void> => {
        const { exitCode, stderr } = await container.exec({ command: ['bash', '-c', script] });
        if (exitCode !== 0) throw new Error(`${script}: ${stderr}`);
      };
      await run(`set -e; mkdir /app; cd /app; for ((i = 0; i < ${count / 100}; i++)); do
        mkdir $i; (cd $i; head -c 1000000 /dev/urandom | split -b 10000 -a 3 -d - file); done; sleep 0.1`);
      const store = new SnapshotStore(dir);
      const taker = new ChannelTaker(store, files, { roots: ['/app'] });
      const take = async (): Promise<number> => {
        const start = performance.now();
        await taker.take('activity');
        return performance.now() - start;
      };
      const first = await take();
      const fiveChanged: number[] = [];
      const unchanged: number[] = [];
      const byEngine: number[] = [];
      const takeExact = async (): Promise<number> => {
        const start = performance.now();
        await store.take({ reason: 'manual', source: 'engine', roots: ['/app'] }, async (writer) => {
          const tar = new TarTaker(writer);
          const archive = await container.getArchive('/app');
          if (archive) for await (const _ of tar.through(readTar(archive)));
          return tar.tree();
        });
        return performance.now() - start;
      };
      for (let round = 0; round < rounds; round++) {
        await run(
          `cd /app/${round}; for f in file01[0-4]; do head -c 10000 /dev/urandom >$f; done; sleep 0.1`,
        );
        fiveChanged.push(await take());
        unchanged.push(await take());
        byEngine.push(await takeExact());
      }
      results.push({
        files: count,
        first,
        limit,
        fiveChanged: median(fiveChanged),
        unchanged: median(unchanged),
        byEngine: median(byEngine),
      });
    } finally {
      await files.close();
      await container.remove();
      await rm(dir, { recursive: true, force: true });
    }
  }
  return results;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
