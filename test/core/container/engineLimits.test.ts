import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';

/** What the engine of a recording is asked when a container with every limit is made. */
async function askedOf(recording: string): Promise<Record<string, unknown>> {
  const file = new URL(`../../fixtures/container/engines/${recording}.json`, import.meta.url);
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  let asked: { HostConfig?: Record<string, unknown> } = {};
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const path = request.url?.split('?')[0] ?? '';
      if (path === '/_ping') return response.end('OK');
      if (path === '/containers/create') {
        asked = JSON.parse(body) as typeof asked;
        return response.writeHead(201).end('{"Id":"abc"}');
      }
      return response.end(JSON.stringify(recorded[path.slice(1)]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const engine = await connectEngine({ dockerHost: `tcp://127.0.0.1:${port}`, env: {} });
    await engine.createContainer({
      ...{ name: 'n', image: 'i', command: ['true'], labels: {}, network: 'none' },
      ...{ cpus: 1.5, memoryMb: 64, pidsLimit: 100, noSwap: true },
    });
    engine.close();
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return asked.HostConfig ?? {};
}

const all = { NanoCpus: 1.5e9, Memory: 64 * 2 ** 20, MemorySwap: 64 * 2 ** 20, PidsLimit: 100 };

test.each<[string, Partial<typeof all>]>([
  ['docker-20-cgroup1', all],
  ['docker-28-cgroup2', all],
  ['podman-4-cgroup1', all],
  ['docker-rootless-cgroup2-delegated', { Memory: all.Memory, MemorySwap: all.MemorySwap, PidsLimit: 100 }],
  ['docker-rootless-no-systemd', {}],
  ['docker-rootless-cgroup1', {}],
])('%s is asked for the limits that it can keep', async (recording, expected) => {
  const { NanoCpus, Memory, MemorySwap, PidsLimit } = await askedOf(recording);
  const asked = Object.entries({ NanoCpus, Memory, MemorySwap, PidsLimit }).filter(
    ([, value]) => value !== undefined,
  );
  expect(Object.fromEntries(asked)).toEqual(expected);
});

test('Podman keeps its own limits of resources', async () => {
  expect(await askedOf('podman-4-cgroup1')).not.toHaveProperty('Ulimits');
  expect(await askedOf('docker-28-cgroup2')).toHaveProperty('Ulimits');
});
