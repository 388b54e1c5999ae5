import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import Docker from 'dockerode';
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
    const state = await Promise.race([container.details(), delay(30_000)]);
    expect(state, `round ${round}`).toMatchObject({ paused: true });
    await container.unpause();
    for (const outcome of await running) {
      // Either it was there before the freeze and went on after it, or it was refused.
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toMatch(/paused/);
      else if (outcome.value) expect(outcome.value.stdout.toString()).toBe('on\n');
    }
  }
});

test('it waits for what another process starts, too', async () => {
  for (let round = 0; round < 4; round++) {
    const before = await execIds();
    const other = spawn('docker', ['exec', container.name, 'sh', '-c', 'sleep 0.3; echo there'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    other.stdout.on('data', (data) => {
      output += data;
    });
    const ended = new Promise((resolve) => other.once('close', resolve));
    // From the moment that the engine knows of it, however far it has come.
    while ((await execIds()).every((id) => before.includes(id))) await delay(1);
    await container.pause();
    expect(await Promise.race([container.details(), delay(30_000)])).toMatchObject({ paused: true });
    await container.unpause();
    expect(await ended).toBe(0);
    expect(output).toBe('there\n');
  }
});

async function execIds(): Promise<readonly string[]> {
  const { ExecIDs } = (await new Docker().getContainer(container.id).inspect()) as {
    ExecIDs?: readonly string[] | null;
  };
  return ExecIDs ?? [];
}

test('a process that is started during a freeze starts after it', async () => {
  const since = performance.now();
  const freezing = container.pause();
  const late = container.exec({ command: ['true'] });
  late.catch(() => undefined);
  await freezing;
  // Neither waits for the other.
  expect(performance.now() - since).toBeLessThan(20_000);
  await expect(late).rejects.toThrow(/paused/);
  await container.unpause();
});
