import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';
import { FsChannel } from '#core/container/fsChannel.ts';

const run = promisify(execFile);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

test('status, list and small read take a tenth of one docker exec of the same run', async () => {
  const engine = await connectEngine({ env: process.env });
  const container = await engine.createContainer({
    name: `e2e-swe-test-fs-speed-${process.pid}`,
    image: 'debian:bookworm-slim',
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
    const make =
      'mkdir /twenty; cd /twenty; for i in $(seq 20); do echo $i >$i; done; head -c 1000 /dev/zero >/1k';
    await container.exec({ command: ['sh', '-c', make] });
    const took = { exec: [] as number[], stat: [] as number[], list: [] as number[], read: [] as number[] };
    const time = async (into: number[], work: () => Promise<unknown>): Promise<void> => {
      const from = performance.now();
      await work();
      into.push(performance.now() - from);
    };
    await files.stat('/1k');
    for (let round = 0; round < 60; round++) {
      // In turns, so that a busy machine slows both.
      if (round % 5 === 0) await time(took.exec, () => run('docker', ['exec', container.name, 'true']));
      await time(took.stat, () => files.stat('/twenty/7'));
      await time(took.list, () => files.list('/twenty'));
      await time(took.read, () => files.read('/1k'));
    }
    const tenth = median(took.exec) / 10;
    expect(median(took.stat)).toBeLessThan(tenth);
    expect(median(took.list)).toBeLessThan(tenth);
    expect(median(took.read)).toBeLessThan(tenth);
  } finally {
    await files.close();
    await container.remove();
    engine.close();
  }
});
