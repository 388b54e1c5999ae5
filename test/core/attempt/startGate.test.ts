import { expect, test } from 'vitest';
import { StartGate } from '#core/attempt/startGate.ts';
import type { ContainerHandle, ExecResult } from '#core/container/engine.ts';

const done: ExecResult = { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

test('nothing is frozen while a process is being started, and nothing starts while it is frozen', async () => {
  const order: string[] = [];
  let end = (): void => undefined;
  const container = {
    name: 'c',
    exec: ({ command }: { command: readonly string[] }) => {
      order.push(`exec ${command[0]}`);
      return new Promise<ExecResult>((resolve) => {
        end = () => resolve(done);
      });
    },
  } as unknown as ContainerHandle;
  const gate = new StartGate();
  const gated = gate.through(container);
  expect(gated.name).toBe('c');
  const first = gated.exec({ command: ['first'] });
  await Promise.resolve();
  const freeze = gate.closedFor(async () => void order.push('freeze'));
  const second = gated.exec({ command: ['second'] });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(order).toEqual(['exec first']);
  end();
  await first;
  await freeze;
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(order).toEqual(['exec first', 'freeze', 'exec second']);
  end();
  await second;
});
