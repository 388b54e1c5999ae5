/** What an attached editor opens between a container and the machine in front of it: the closed list, as data. */

export type FindingKind =
  | 'variable'
  | 'socket'
  | 'port'
  | 'credential helper'
  | 'credential file'
  | 'editor server';

/** One thing that was found in a container, by the container's own word. */
export interface Finding {
  readonly kind: FindingKind;
  /** The variable, path, `address:port` or setting. */
  readonly name: string;
  /** What it can be used for, in a few words. */
  readonly meaning: string;
  /** It leads out of the container by itself; otherwise it is only worth knowing. */
  readonly isBridge: boolean;
  /** It can be removed from inside. */
  readonly canScrub: boolean;
}

interface Rule {
  readonly pattern: RegExp;
  readonly meaning: string;
}

/** Variables that name a way out; an empty one names none. */
const variables: readonly Rule[] = [
  { pattern: /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID)$/, meaning: 'use of the SSH keys of another machine' },
  { pattern: /^GPG_AGENT_INFO$/, meaning: 'use of the GPG keys of another machine' },
  { pattern: /^VSCODE_IPC_HOOK_CLI$/, meaning: 'commands to the editor by "code"' },
  {
    pattern: /^(?:VSCODE_GIT_\w+|GIT_ASKPASS|SSH_ASKPASS|VSCODE_SSH_ASKPASS_\w+)$/,
    meaning: 'credentials from the editor',
  },
  { pattern: /^REMOTE_CONTAINERS\w*$/, meaning: 'calls to the Dev Containers extension' },
  { pattern: /^BROWSER$/, meaning: 'a browser of another machine' },
  { pattern: /^(?:DISPLAY|WAYLAND_DISPLAY)$/, meaning: 'a screen of another machine' },
  { pattern: /^DOCKER_HOST$/, meaning: 'a container engine' },
  { pattern: /^(?:GH_TOKEN|GITHUB_TOKEN)$/, meaning: 'a credential of GitHub' },
];

/** Sockets of known programs; any other one is only worth knowing: the builder's programs may listen too. */
const sockets: readonly Rule[] = [
  { pattern: /\/vscode-ssh-auth-[^/]*\.sock$/, meaning: 'use of the SSH keys of another machine' },
  { pattern: /\/ssh-[^/]*\/agent\.\d+$/, meaning: 'an SSH agent' },
  { pattern: /\/S\.gpg-agent(?:\.\w+)?$/, meaning: 'a GPG agent' },
  { pattern: /\/vscode-remote-containers-[^/]*\.sock$/, meaning: 'calls to the Dev Containers extension' },
  { pattern: /\/vscode-git-[^/]*\.sock$/, meaning: 'credentials from the editor' },
  { pattern: /\/vscode-ipc-[^/]*\.sock$/, meaning: 'commands to the editor by "code"' },
  { pattern: /\/vscode-wayland-[^/]*\.sock$|\/\.X11-unix\/X\d+$/, meaning: 'a screen of another machine' },
];

/** Gone together with their file; the screen's belong to its server, an engine's is looked for elsewhere. */
const scrubbable = /^(?:\/tmp|\/run\/user\/\d+|\/root\/\.gnupg|\/home\/[^/]+\/\.gnupg)\//;

/** A line that an editor wrote into a file of git, and the files that it writes. */
const editorHelper = /vscode|cursor-server/;
const gitFiles = /^(?:\/etc\/gitconfig|(?:\/root|\/home\/[^/]+)\/(?:\.gitconfig|\.config\/git\/config))$/;

/** Undefined for what is nothing to tell. `name` is the place, `detail` what is there. */
export function judge(kind: string, name: string, detail: string): Finding | undefined {
  switch (kind) {
    case 'variable': {
      const rule = detail === '' ? undefined : find(variables, name);
      return rule && { kind, name, meaning: rule.meaning, isBridge: true, canScrub: false };
    }
    case 'socket': {
      const rule = find(sockets, name);
      const meaning = rule?.meaning ?? 'something listens here';
      return { kind, name, meaning, isBridge: rule !== undefined, canScrub: isScrubbable(rule, name) };
    }
    case 'port':
      return finding(kind, portOf(name), 'an attached editor can forward it', false);
    case 'credential helper': {
      const isEditors = editorHelper.test(detail);
      const meaning = isEditors ? 'git credentials from the editor' : `git asks ${detail.slice(0, 200)}`;
      return { kind, name, meaning, isBridge: isEditors, canScrub: isEditors && gitFiles.test(name) };
    }
    case 'credential file':
      return finding(kind, name, 'may hold credentials', false);
    case 'editor server':
      return finding(kind, name, "an editor's server was put here", false);
    default:
      return undefined;
  }
}

function find(rules: readonly Rule[], text: string): Rule | undefined {
  return rules.find(({ pattern }) => pattern.test(text));
}

function isScrubbable(rule: Rule | undefined, path: string): boolean {
  return rule !== undefined && scrubbable.test(path) && !path.includes('/../');
}

function finding(kind: FindingKind, name: string, meaning: string, isBridge: boolean): Finding {
  return { kind, name, meaning, isBridge, canScrub: false };
}

/** `0100007F:1F90` of /proc/net/tcp (an address in host byte order) as `127.0.0.1:8080`. */
function portOf(text: string): string {
  const [address = '', port = ''] = text.split(':');
  const number = Number.parseInt(port, 16);
  if (!/^(?:[0-9A-F]{8}|[0-9A-F]{32})$/.test(address) || !Number.isInteger(number)) return text;
  const bytes = address.match(/../g) ?? [];
  if (bytes.length === 4)
    return `${bytes
      .reverse()
      .map((byte) => Number.parseInt(byte, 16))
      .join('.')}:${number}`;
  if (/^0+$/.test(address)) return `[::]:${number}`;
  return address === '00000000000000000000000001000000' ? `[::1]:${number}` : `[${address}]:${number}`;
}
