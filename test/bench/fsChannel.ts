import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ContainerEngine } from '#core/container/engine.ts';
import { FsChannel } from '#core/container/fsChannel.ts';

const run = promisify(execFile);

/** Milliseconds at the median. */
export interface FsChannelTimes {
  /** One `docker exec CONTAINER true`, process and all. */
  readonly dockerExec: number;
  readonly stat: number;
  readonly list20: number;
  readonly read1k: number;
  readonly write1k: number;
  /** A folder of 2,000, by a channel that was not open yet. */
  readonly list2000Cold: number;
  readonly list2000: number;
  readonly stream100Mb: number;
  readonly write100Mb: number;
  /** One look of `watch` at 10,000 files. */
  readonly watch10k: number;
}

/** Times the file channel and `docker exec` in turns, in one container that is removed at the end. */
export async function timeFsChannel(
  engine: ContainerEngine,
  options: { readonly image: string; readonly rounds: number },
): Promise<FsChannelTimes> {
  const container = await engine.createContainer({
    name: `e2e-swe-bench-fs-${process.pid}`,
    image: options.image,
    command: ['sleep', '600'],
    labels: {},
    network: 'none',
    cpus: null,
    memoryMb: null,
    pidsLimit: 500,
    init: true,
  });
  const files = new FsChannel(container);
  try {
    await container.start();
    await container.exec({ command: ['sh', '-c', setup] });
    await files.stat('/b');
    const dockerExec: number[] = [];
    const stat: number[] = [];
    const list20: number[] = [];
    const read1k: number[] = [];
    const write1k: number[] = [];
    const content = Buffer.alloc(1_000, 'x');
    for (let round = 0; round < options.rounds; round++) {
      if (round % 5 === 0) dockerExec.push(await time(() => run('docker', ['exec', container.name, 'true'])));
      stat.push(await time(() => files.stat('/b/20/1')));
      list20.push(await time(() => files.list('/b/20')));
      read1k.push(await time(() => files.read('/b/1k')));
      write1k.push(await time(() => files.write('/b/written', content)));
    }
    const list2000Cold: number[] = [];
    const list2000: number[] = [];
    for (let round = 0; round < 5; round++) {
      const cold = new FsChannel(container);
      list2000Cold.push(await time(() => cold.list('/b/2000')));
      await cold.close();
      list2000.push(await time(() => files.list('/b/2000')));
    }
    const big = Buffer.alloc(100 << 20, 'x');
    const write100Mb = await time(() => files.write('/b/big', big));
    const stream100Mb = await time(async () => {
      for await (const _ of files.readStream('/b/big'));
    });
    return {
      dockerExec: median(dockerExec),
      stat: median(stat),
      list20: median(list20),
      read1k: median(read1k),
      write1k: median(write1k),
      list2000Cold: median(list2000Cold),
      list2000: median(list2000),
      stream100Mb,
      write100Mb,
      watch10k: await timeWatch(files),
    };
  } finally {
    await files.close();
    await container.remove();
  }
}

const setup = `mkdir -p /b/20 /b/2000 /b/10k; cd /b
i=0; while [ $i -lt 20 ]; do : >20/$i; i=$((i+1)); done
i=0; while [ $i -lt 2000 ]; do : >"2000/file number $i"; i=$((i+1)); done
i=0; while [ $i -lt 100 ]; do mkdir 10k/$i; j=0; while [ $j -lt 99 ]; do : >10k/$i/$j; j=$((j+1)); done; i=$((i+1)); done
head -c 1000 /dev/zero >1k`;

async function timeWatch(files: FsChannel): Promise<number> {
  const watch = files.watch('/b/10k', { intervalMs: 50 });
  const costs = new Set<number>();
  for (let look = 0; look < 300 && costs.size < 4; look++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (watch.costMs > 0) costs.add(watch.costMs);
  }
  watch.dispose();
  return median([...costs]);
}

async function time(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
