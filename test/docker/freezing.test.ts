import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';

let engine: ContainerEngine;
let container: ContainerHandle;

beforeAll(async () => {
  engine = await connectEngine({ env: process.env });
  container = await engine.createContainer({
    name: `e2e-swe-freezing-${randomBytes(4).toString('hex')}`,
    image: 'debian:bookworm-slim',
    command: ['sleep', 'infinity'],
    labels: {},
    network: 'none',
    cpus: null,
    memoryMb: null,
    pidsLimit: 500,
  });
  await container.start();
});

afterAll(() => container?.remove());

/** Frozen while a process is half born, a container answers nothing any more, and neither does a list of containers. */
test('a freeze waits for processes that are being started', async () => {
  for (let round = 0; round < 12; round++) {
    const running = Promise.allSettled([
      ...[1, 2, 3].map(() => container.exec({ command: ['sh', '-c', 'sleep 0.2; echo on'] })),
      container.interact({ command: ['cat'], tty: false }).then(({ stream }) => void stream.destroy()),
    ]);
    const cancelled = container.exec({ command: ['sleep', '5'] }, AbortSignal.timeout(5 * round));
    cancelled.catch(() => undefined);
    await delay(7 * round);
    await container.pause();
    const state = await Promise.race([container.details(), delay(5_000)]);
    expect(state, `round ${round}`).toMatchObject({ paused: true });
    await container.unpause();
    for (const outcome of await running) {
      // Either it was there before the freeze and went on after it, or it was refused.
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toMatch(/paused/);
      else if (outcome.value) expect(outcome.value.stdout.toString()).toBe('on\n');
    }
  }
});

test('a process that is started during a freeze starts after it', async () => {
  const freezing = container.pause();
  const late = container.exec({ command: ['true'] });
  late.catch(() => undefined);
  await freezing;
  await expect(late).rejects.toThrow(/paused/);
  await container.unpause();
});
