import { expect } from 'vitest';
import type { ContainerEngine } from '#core/container/engine.ts';
import { readFrames } from '#core/container/frames.ts';
import { gradeLabels } from '#core/container/labels.ts';

/** A hijacked connection in both directions: what is written comes back, and ending our side ends the command's input. */
export async function interactiveRoundTrip(engine: ContainerEngine): Promise<void> {
  const container = await engine.createContainer({
    name: `e2e-swe-test-interactive-${process.pid}-${Date.now()}`,
    image: 'debian:bookworm-slim',
    command: ['sleep', '60'],
    labels: gradeLabels({}),
    network: 'none',
    cpus: null,
    memoryMb: null,
    pidsLimit: 64,
  });
  try {
    await container.start();
    const { stream, exitCode } = await container.interact({
      command: ['sh', '-c', 'cat; exit 7'],
      tty: false,
    });
    stream.end(Buffer.alloc(300_000, 'x'));
    let bytes = 0;
    for await (const frame of readFrames(stream)) bytes += frame.data.length;
    expect(bytes).toBe(300_000);
    expect(await exitCode()).toBe(7);
  } finally {
    await container.remove();
  }
}
