import { execFileSync } from 'node:child_process';
import { readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BareNetwork, bareNetworkEntries, probeBareNetwork } from '#core/container/bareNetwork.ts';
import type { ContainerHandle, ImageInfo } from '#core/container/engine.ts';
import { gradeLabels } from '#core/container/labels.ts';
import { writeTar } from '#core/container/tarStream.ts';
import { gradeNetwork } from '#core/grading/networkCache.ts';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { docker, kept, Lab } from './support.ts';

let lab: Lab;
let image: ImageInfo;
let network: BareNetwork;
const { signal } = new AbortController();
beforeAll(async () => {
  lab = await Lab.open();
  image = (await lab.engine.inspectImage('debian:bookworm-slim')) as ImageInfo;
  const found = await probeBareNetwork(lab.engine, image, signal);
  if (!found) throw new Error('The engine has no bare network like its own.');
  network = found;
});
afterAll(() => lab.dispose());

/** All that a program can read of its network, but what differs between any two containers. */
const everything = `
grep -rs . /proc/sys/net --exclude='*secret*' --exclude='*key*' --exclude='*count*' | sort
for f in dev if_inet6 route ipv6_route fib_trie tcp udp unix; do echo "== $f"; cat /proc/net/$f 2>/dev/null | tr -s ' ' | cut -d: -f1,2 | grep -v '^[0-9a-f]*: '; done
for f in hosts resolv.conf nsswitch.conf host.conf; do echo "== $f"; cat /etc/$f 2>/dev/null; stat -c '%a %u:%g' /etc/$f 2>/dev/null; done
getent hosts localhost; getent ahosts localhost; getent hosts nowhere.test; echo "getent $?"
for f in $(ls /sys/class/net 2>/dev/null); do echo "if $f $(cat /sys/class/net/$f/flags)"; done`;

async function inContainer<T>(
  kind: 'none' | BareNetwork,
  use: (container: ContainerHandle) => Promise<T>,
): Promise<T> {
  const container = await lab.engine.createContainer({
    name: `e2e-swe-test-network-${process.pid}-${Math.random().toString(36).slice(2)}`,
    image: image.id,
    command: ['sh', '-c', 'sleep infinity'],
    labels: gradeLabels({}),
    network: kind,
    cpus: null,
    memoryMb: null,
    pidsLimit: 64,
  });
  try {
    await container.start();
    if (kind !== 'none') await container.putArchive('/', writeTar(toAsync(bareNetworkEntries(kind))));
    return await use(container);
  } finally {
    await container.remove();
  }
}

async function* toAsync<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const run = (container: ContainerHandle, script: string): Promise<string> =>
  container
    .exec({ command: ['bash', '-c', script], user: '0' })
    .then(({ stdout }) => stdout.toString('utf8'));

describe('a bare network', () => {
  test('shows a program what the engine shows it without a network', async () => {
    const [none, bare] = [
      await inContainer('none', (container) => run(container, everything)),
      await inContainer(network, (container) => run(container, everything)),
    ];
    expect(none).toContain('127.0.0.1');
    expect(bare.split('\n')).toEqual(none.split('\n'));
  });

  test('is a namespace of its own, with a loopback that serves and no way out', async () => {
    const script = `readlink /proc/self/ns/net
(exec 3<>/dev/tcp/198.51.100.1/80) 2>&1 | grep -o 'unreachable' | head -n 1
perl -MIO::Socket::INET -e '
  my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "no server: $!";
  my $client = IO::Socket::INET->new(PeerAddr => "localhost", PeerPort => $server->sockport) or die "no client: $!";
  print "served\\n"'`;
    const outputs = await Promise.all(
      [1, 2].map(() => inContainer(network, (container) => run(container, script))),
    );
    const [first, second] = outputs.map((output) => output.trim().split('\n'));
    expect(first?.slice(1)).toEqual(['unreachable', 'served']);
    expect(first?.[0]).not.toBe(second?.[0]);
    expect(first?.[0]).not.toBe(await readlink('/proc/self/ns/net'));
  });

  test("is the network of a grade, whose tests see the engine's files", async () => {
    const task = await lab.task({
      testScript: `#!/bin/bash\ncat /etc/hosts /etc/resolv.conf > /logs/verifier/network.txt\n${writeReport({ first: 'passed', second: 'passed' }, 1)}`,
    });
    const result = await lab.gradeFolder(task);
    expect(result).toMatchObject({
      verdict: 'resolved',
      evidence: { network: { mode: 'none', probe: 'failed as it should' }, changedOutside: [] },
      marks: [],
    });
    expect(kept(result, 'network.txt')).toBe(network.hosts + network.resolvConf);
  });
});

describe('asked of an engine', () => {
  test('once a day, and again when the answer is old, or is of another engine', async () => {
    const info = await lab.engine.info();
    const options = { storeDir: path.join(lab.dir, 'networks'), log: lab.log, signal };
    const file = path.join(options.storeDir, 'networks.json');
    expect(await gradeNetwork(lab.engine, info, image, options)).toEqual(network);
    const key = `${info.id} ${info.version} ${info.address}`;
    const stored = JSON.parse(await readFile(file, 'utf8')) as Record<string, { askedAt: number }>;
    expect(stored[key]).toMatchObject({ network });
    const planted = { ...stored, [key]: { askedAt: Date.now(), network: null } };
    await writeFile(file, JSON.stringify(planted));
    expect(await gradeNetwork(lab.engine, info, image, options)).toBe('none');
    expect(await gradeNetwork(lab.engine, { ...info, version: '1' }, image, options)).toEqual(network);
    await writeFile(file, JSON.stringify({ [key]: { askedAt: Date.now() - 25 * 3_600_000, network: null } }));
    expect(await gradeNetwork(lab.engine, info, image, options)).toEqual(network);
    await writeFile(file, 'not JSON');
    expect(await gradeNetwork(lab.engine, info, image, options)).toEqual(network);
  });

  test('never for an image with an ENTRYPOINT, nor of an engine that does not tell who it is', async () => {
    const info = await lab.engine.info();
    const options = { storeDir: path.join(lab.dir, 'none'), log: lab.log, signal };
    expect(await gradeNetwork(lab.engine, info, { ...image, entrypoint: ['/x'] }, options)).toBe('none');
    expect(await gradeNetwork(lab.engine, { ...info, id: '' }, image, options)).toBe('none');
  });

  test("an image that cannot answer leaves the engine's own network", async () => {
    const bare = { ...image, id: lab.owns(imageWithoutShell()) };
    expect(await probeBareNetwork(lab.engine, bare, signal).catch(() => undefined)).toBeUndefined();
  });
});

function imageWithoutShell(): string {
  const name = `e2e-swe-test-noshell-${process.pid}`;
  const empty = path.join(lab.dir, 'empty.tar');
  execFileSync('tar', ['-cf', empty, '-T', '/dev/null']);
  docker(['import', empty, name]);
  return name;
}
