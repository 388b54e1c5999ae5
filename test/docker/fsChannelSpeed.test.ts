import { expect, test } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';
import { timeFsChannel } from '../bench/fsChannel.ts';

test('status, list and small read take a tenth of one docker exec of the same run', async () => {
  const engine = await connectEngine({ env: process.env });
  try {
    const times = await timeFsChannel(engine, { image: 'debian:bookworm-slim', rounds: 60 });
    const tenth = times.dockerExec / 10;
    expect(times.stat).toBeLessThan(tenth);
    expect(times.list20).toBeLessThan(tenth);
    expect(times.read1k).toBeLessThan(tenth);
  } finally {
    engine.close();
  }
});
