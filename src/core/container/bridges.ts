import { type Finding, judge } from './bridgeRules.ts';
import { type ContainerHandle, EngineError } from './engine.ts';

/** Ways between a container and a machine in front of it, as an attached editor opens them. */
export interface BridgeReport {
  /** What leads out by itself. */
  readonly bridges: readonly Finding[];
  /** What is worth knowing: listening ports, unknown sockets, credentials, an editor's server. */
  readonly notes: readonly Finding[];
  /** What was removed before this was found; an attached editor may make it again. */
  readonly scrubbed: readonly Finding[];
}

export interface BridgeOptions {
  /** Who works in the container; looked at beside root, who may not read the variables of others. */
  readonly user?: string;
  /** Remove what can be removed, and say what remains. */
  readonly scrub?: boolean;
  readonly signal?: AbortSignal;
}

const maxBytes = 4 * 1024 ** 2;
const maxFindings = 500;
/** PATH_MAX of Linux. */
const maxName = 4_096;

/**
 * Prints NUL-ended triples: kind, place, what is there. Then `environ`, and from there on the variables of every process
 * that may be read. Only what every image's shell has; `find` and `cat` where they are there.
 */
const probeScript = String.raw`
r() { printf '%s\0%s\0%s\0' "$1" "$2" "$3"; }
while read -r n ref proto flags type st inode path; do
  case $flags:$path in 00010000:@*) r socket "$path" '' ;; 00010000:?*) [ -S "$path" ] && r socket "$path" '' ;; esac
done </proc/net/unix
find /tmp /run /var/tmp /root /home -xdev -type s -exec sh -c 'for s; do printf "socket\0%s\0\0" "$s"; done' sh {} + 2>/dev/null
for f in /proc/net/tcp /proc/net/tcp6; do
  [ -r $f ] && while read -r sl local rem st rest; do [ "$st" = 0A ] && r port "$local" ''; done <$f
done
g() {
  [ -f "$1" ] && [ -r "$1" ] || return
  s=
  while read -r l || [ -n "$l" ]; do
    case $l in '['*) s=$l ;; esac
    case $s in '['[cC][rR][eE][dD][eE][nN][tT][iI][aA][lL]*) case $l in *[hH][eE][lL][pP][eE][rR]*=*) r 'credential helper' "$1" "$l" ;; esac ;; esac
  done <"$1"
}
g /etc/gitconfig
for h in /root /home/*; do
  g "$h/.gitconfig"; g "$h/.config/git/config"
  for f in .git-credentials .config/git/credentials .netrc .config/gh/hosts.yml .docker/config.json .aws/credentials; do
    [ -f "$h/$f" ] && r 'credential file' "$h/$f" ''
  done
  for f in "$h"/.ssh/id_*; do case $f in *.pub) ;; *) [ -f "$f" ] && r 'credential file' "$f" '' ;; esac; done
  for f in .vscode-server .vscode-server-insiders .vscodium-server .cursor-server .vscode-remote; do
    [ -d "$h/$f" ] && r 'editor server' "$h/$f" ''
  done
done
r environ '' ''
for f in /proc/[0-9]*/environ; do cat "$f" 2>/dev/null && printf '\0'; done
:`;

/**
 * Removes sockets by their file, and an editor's lines in git's files. The places are by the container's word, so each
 * must be what it was said to be.
 */
const scrubScript = `
while [ $# -gt 1 ]; do
  case $1 in
    socket) [ -S "$2" ] && rm -f -- "$2" ;;
    *) [ -f "$2" ] && sed -i -e '/[hH][eE][lL][pP][eE][rR][[:space:]]*=.*vscode/d' -e '/[hH][eE][lL][pP][eE][rR][[:space:]]*=.*cursor-server/d' -- "$2" ;;
  esac
  shift 2
done
:`;

/**
 * Looks for bridges, and removes what can be removed where that is asked for. The container answers about itself: a
 * builder who wants to hide something can. Errors: `EngineError` when it cannot be asked.
 */
export async function probeBridges(
  container: ContainerHandle,
  options: BridgeOptions = {},
): Promise<BridgeReport> {
  const found = await look(container, options);
  const scrubbed = options.scrub ? found.filter(({ canScrub }) => canScrub) : [];
  if (scrubbed.length > 0) {
    const places = scrubbed.flatMap(({ kind, name }) => [kind, name]);
    await container.exec(
      { command: ['sh', '-c', scrubScript, 'sh', ...places], user: '0', workdir: '/' },
      options.signal,
    );
  }
  const left = scrubbed.length > 0 ? await look(container, options) : found;
  const remaining = new Set(left.map(keyOf));
  return {
    bridges: left.filter(({ isBridge }) => isBridge),
    notes: left.filter(({ isBridge }) => !isBridge),
    scrubbed: scrubbed.filter((one) => !remaining.has(keyOf(one))),
  };
}

async function look(container: ContainerHandle, { user, signal }: BridgeOptions): Promise<Finding[]> {
  const users = user === undefined ? ['0'] : ['0', user];
  const found = new Map<string, Finding>();
  for (const who of users) {
    const { stdout, stderr, exitCode } = await container.exec(
      { command: ['sh', '-c', probeScript], user: who, workdir: '/', keepBytes: maxBytes },
      signal,
    );
    if (exitCode !== 0) {
      const said = stderr.toString('utf8').trim().slice(0, 300);
      throw new EngineError('exec-failed', `The workspace could not be looked at: ${said}`);
    }
    for (const finding of parseFindings(stdout)) found.set(keyOf(finding), finding);
  }
  return [...found.values()];
}

function keyOf({ kind, name, meaning }: Finding): string {
  return [kind, name, meaning].join('\0');
}

/** What the probe printed. Anything that it cannot have printed is dropped: the container is not to be trusted. */
export function parseFindings(output: Buffer): Finding[] {
  const fields = output.toString('utf8').split('\0');
  const found = new Map<string, Finding>();
  const add = (kind: string, name: string, detail: string): void => {
    if (name === '' || name.length > maxName || found.size >= maxFindings) return;
    const finding = judge(kind, name, detail);
    if (finding) found.set(keyOf(finding), finding);
  };
  let at = 0;
  for (; at + 2 < fields.length && fields[at] !== 'environ'; at += 3) {
    const [kind = '', name = '', detail = ''] = fields.slice(at, at + 3);
    if (kind !== 'variable') add(kind, name, detail);
  }
  for (const entry of fields.slice(at + 3)) {
    const equals = entry.indexOf('=');
    add('variable', entry.slice(0, Math.max(equals, 0)), entry.slice(equals + 1));
  }
  return [...found.values()];
}
