import { randomBytes } from 'node:crypto';
import type { ContainerEngine, ImageInfo } from './engine.ts';
import { gradeLabels } from './labels.ts';
import { abandonContainer } from './reaper.ts';
import { plainFile, type TarEntry } from './tarStream.ts';

/**
 * A network namespace of the container's own with a loopback only, made by the runtime and not by the engine, which
 * runs itself again for that: a container starts in half the time (docker.md §B). The engine then leaves out its
 * /etc/hosts and /etc/resolv.conf; with these put in (`bareNetworkEntries`) a program finds the same as with `none`.
 */
export interface BareNetwork {
  readonly hosts: string;
  readonly resolvConf: string;
  /** `net.ipv6.conf.*.disable_ipv6`; undefined where the kernel has no IPv6. */
  readonly ipv6?: boolean | undefined;
}

/** The files that an engine mounts, and that are plain files with a bare network. */
export const networkFiles = ['/etc/hosts', '/etc/resolv.conf'];

/** Prints the two files, which of them are mounts, and what a program can see of its network, each ended by NUL. */
const factsScript = `
for f in /etc/hosts /etc/resolv.conf; do cat "$f" 2>/dev/null; printf '\\0'; done
while read -r a b c d point rest; do case $point in /etc/hosts|/etc/resolv.conf) echo "$point";; esac; done </proc/self/mountinfo; printf '\\0'
for s in all default lo; do cat /proc/sys/net/ipv6/conf/$s/disable_ipv6 2>/dev/null; done; printf '\\0'
cat /proc/net/if_inet6 2>/dev/null
while IFS=: read -r name rest; do case $rest in *[0-9]*) echo $name;; esac; done </proc/net/dev
cat /proc/sys/net/ipv4/ip_unprivileged_port_start /proc/sys/net/ipv4/ping_group_range 2>/dev/null
while read -r address; do echo "$address"; done </proc/net/fib_trie`;

interface Facts {
  readonly hosts: string;
  readonly resolvConf: string;
  /** Which of the two the engine mounted. */
  readonly mounted: string;
  readonly disableIpv6: string;
  readonly rest: string;
}

/**
 * Asks an engine by two containers that are removed: what it gives to one without a network, and whether a program finds the
 * same in a bare one. Undefined where it does not, or where that cannot be told; then `none` is to be used.
 */
export async function probeBareNetwork(
  engine: ContainerEngine,
  image: ImageInfo,
  signal: AbortSignal,
): Promise<BareNetwork | undefined> {
  const plain = await factsIn(engine, image, 'none', signal);
  if (!plain?.hosts) return undefined;
  const { hosts, resolvConf, disableIpv6 } = plain;
  const values = new Set(disableIpv6.split('\n').filter(Boolean));
  if (values.size > 1) return undefined;
  const network = { hosts, resolvConf, ipv6: values.size === 0 ? undefined : values.has('0') };
  const bare = await factsIn(engine, image, network, signal);
  // Podman mounts them all the same, and what is mounted cannot be put in.
  const isBare = bare?.mounted === '';
  return isBare && bare.disableIpv6 === disableIpv6 && bare.rest === plain.rest ? network : undefined;
}

async function factsIn(
  engine: ContainerEngine,
  image: ImageInfo,
  network: 'none' | BareNetwork,
  signal: AbortSignal,
): Promise<Facts | undefined> {
  const container = await engine.createContainer({
    name: `e2e-swe-network-${randomBytes(6).toString('hex')}`,
    image: image.id,
    command: ['sh', '-c', 'sleep infinity'],
    labels: gradeLabels({}),
    network,
    cpus: null,
    memoryMb: null,
    pidsLimit: 64,
  });
  try {
    await container.start(signal);
    const { stdout, exitCode } = await container.exec(
      { command: ['sh', '-c', factsScript], user: '0' },
      signal,
    );
    const [hosts, resolvConf, mounted, disableIpv6, rest] = stdout.toString('utf8').split('\0');
    if (
      exitCode !== 0 ||
      hosts === undefined ||
      resolvConf === undefined ||
      mounted === undefined ||
      disableIpv6 === undefined ||
      !rest
    )
      return undefined;
    return { hosts, resolvConf, mounted, disableIpv6, rest };
  } finally {
    await container.remove().catch(async (error: unknown) => {
      await abandonContainer(engine, container.name);
      throw error;
    });
  }
}

/** What the engine would have mounted, as archive entries. */
export function bareNetworkEntries({ hosts, resolvConf }: BareNetwork): TarEntry[] {
  return [plainFile('etc/hosts', Buffer.from(hosts)), plainFile('etc/resolv.conf', Buffer.from(resolvConf))];
}
