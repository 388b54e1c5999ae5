import type { ContainerHandle } from './engine.ts';

/** What was looked at to say "offline and apart from the host"; each is true when it is as it should be. */
export interface IsolationProbe {
  /** By the engine: it has no network. */
  readonly hasNoNetwork: boolean;
  /** A connection attempt from inside failed. */
  readonly isConnectionRefused: boolean;
  /** What the attempt said, for people. */
  readonly connection: string;
  /** Inside there is the loopback only. */
  readonly hasLoopbackOnly: boolean;
  readonly interfaces: readonly string[];
  /** By the engine: named volumes only, nothing of the host. */
  readonly hasNoHostMounts: boolean;
  /** By the engine: not privileged, no devices. */
  readonly hasNoPrivileges: boolean;
  /** No engine's socket inside. */
  readonly hasNoEngineSocket: boolean;
  /** Ways out that an editor or agent opens into a container: sockets and variables, by name. */
  readonly bridges: readonly string[];
  readonly isIsolated: boolean;
}

/**
 * Prints `key value` lines. The address is for documentation (RFC 5737): nobody is there. Whatever tool there is tries;
 * without one the routing table answers, as the kernel would.
 */
const probeScript = `
for d in /sys/class/net/*; do [ -e "$d" ] && echo "if \${d##*/}"; done
while read -r a b; do case $a in *:) echo "if \${a%%:*}" ;; lo:*|eth*:*) echo "if \${a%%:*}" ;; esac; done </proc/net/dev 2>/dev/null
if command -v bash >/dev/null 2>&1; then
  e=$(timeout 2 bash -c 'exec 3<>/dev/tcp/198.51.100.1/80' 2>&1) && echo "net connected" || echo "net failed \${e##*: }"
elif command -v nc >/dev/null 2>&1; then
  e=$(nc -w 1 198.51.100.1 80 </dev/null 2>&1) && echo "net connected" || echo "net failed \${e##*: }"
else
  n=0; while read -r i d r; do case $i in Iface|lo) ;; *) n=1 ;; esac; done </proc/net/route
  [ $n = 0 ] && echo "net failed no route" || echo "net connected by the routing table"
fi
for s in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock /var/run/crio/crio.sock /run/buildkit/buildkitd.sock; do
  [ -e "$s" ] && echo "engine $s"
done
for s in /tmp/vscode-*.sock /tmp/.X11-unix/* /tmp/ssh-*/agent.* /tmp/remote-wayland* /run/user/*/vscode-*.sock; do [ -e "$s" ] && echo "bridge $s"; done
for v in SSH_AUTH_SOCK GPG_AGENT_INFO VSCODE_IPC_HOOK_CLI VSCODE_GIT_IPC_HANDLE VSCODE_GIT_ASKPASS_MAIN REMOTE_CONTAINERS_IPC REMOTE_CONTAINERS_SOCKETS BROWSER GIT_ASKPASS DISPLAY WAYLAND_DISPLAY DOCKER_HOST; do
  eval "w=\\\${$v+set}"; [ -n "$w" ] && echo "bridge \\$$v"
done
:`;

/** Asks the engine and the container itself. Errors: `EngineError` when they cannot be asked. */
export async function probeIsolation(
  container: ContainerHandle,
  options: { readonly user?: string; readonly signal?: AbortSignal } = {},
): Promise<IsolationProbe> {
  const { user, signal } = options;
  const [details, { stdout }] = await Promise.all([
    container.details(signal),
    container.exec(
      { command: ['sh', '-c', probeScript], workdir: '/', ...(user === undefined ? {} : { user }) },
      signal,
    ),
  ]);
  const values = (key: string): string[] => [
    ...new Set(
      stdout
        .toString('utf8')
        .split('\n')
        .filter((line) => line.startsWith(`${key} `))
        .map((line) => line.slice(key.length + 1).trim()),
    ),
  ];
  const interfaces = values('if');
  const connection = values('net')[0] ?? 'not attempted';
  const found = {
    hasNoNetwork: details.network === 'none',
    isConnectionRefused: connection.startsWith('failed'),
    hasLoopbackOnly: interfaces.length === 1 && interfaces[0] === 'lo',
    hasNoHostMounts: details.mounts.every(({ type }) => type === 'volume'),
    hasNoPrivileges: !details.privileged && details.devices.length === 0,
    hasNoEngineSocket: values('engine').length === 0,
  };
  const bridges = values('bridge');
  return {
    ...found,
    connection,
    interfaces,
    bridges,
    isIsolated: Object.values(found).every(Boolean) && bridges.length === 0,
  };
}
