import { UserError } from '#core/base/errors.ts';
import type { ContainerSpec } from '#core/container/engine.ts';
import { metadataLabel, ownerLabel } from '#core/container/labels.ts';
import { wantedHostVariables } from '#core/task/env.ts';
import { noAiSettings } from './aiPolicy.ts';

/** Settings of VS Code that open no bridge. Those of Dev Containers itself count in the person's own settings only. */
export const quietSettings = {
  'dev.containers.copyGitConfig': false,
  'dev.containers.gitCredentialHelperConfigLocation': 'none',
  'dev.containers.dockerCredentialHelper': false,
  'dev.containers.githubCLILoginWithToken': false,
  'dev.containers.forwardWSLServices': false,
  'dev.containers.mountWaylandSocket': false,
  'git.terminalAuthentication': false,
  'remote.autoForwardPorts': false,
  'remote.restoreForwardedPorts': false,
} as const;

/** Empty, not null: the open CLI hands null on as the word "null" (fs-channel.md §1). */
const quietEnv = { SSH_AUTH_SOCK: '', GPG_AGENT_INFO: '' } as const;

export interface DevcontainerParts {
  /** What our own container of the attempt is made from. */
  readonly plan: ContainerSpec;
  readonly volume: string;
  readonly workdir: string;
  readonly taskName: string;
  /** An image without the label of dev container tools. */
  readonly image: string;
  readonly user: string;
  /** As task.toml writes it: a host variable stays a reference. */
  readonly env: Readonly<Record<string, string>>;
  /** The attempt is measured, and no AI may help. */
  readonly isWithoutAi?: boolean;
}

/** A `devcontainer.json`; what is written in it is told in containers.dev's reference. */
export type DevcontainerJson = Readonly<Record<string, unknown>>;

/**
 * The attempt's container for dev container tools: the same limits, capabilities, volume and labels as ours has, and
 * nothing of the host. Errors: `UserError` for a workdir or variable that such a file cannot say.
 */
export function devcontainerJson(parts: DevcontainerParts): DevcontainerJson {
  const { volume, workdir, image, user } = parts;
  requireSayable('The workdir', workdir);
  if (/[,"]/.test(workdir)) throw unsayable('The workdir', workdir);
  return {
    name: `E2E-SWE: ${withoutVariables(parts.taskName)}`,
    image,
    workspaceMount: `type=volume,source=${volume},target=${workdir},volume-nocopy=true`,
    workspaceFolder: workdir,
    runArgs: runArgs(parts.plan),
    init: parts.plan.init ?? false,
    containerEnv: containerEnv(parts.env),
    remoteUser: user,
    updateRemoteUserUID: false,
    userEnvProbe: 'none',
    shutdownAction: 'none',
    ...noBridges(),
    customizations: { vscode: { extensions: [], settings: settingsOf(parts) } },
  };
}

/** A configuration file for an attached container (code.visualstudio.com/docs/devcontainers/attach-container). */
export function attachedContainerJson(parts: Pick<DevcontainerParts, 'workdir' | 'user' | 'isWithoutAi'>) {
  const { workdir, user } = parts;
  return {
    workspaceFolder: workdir,
    remoteUser: user,
    userEnvProbe: 'none',
    ...noBridges(),
    extensions: [],
    settings: settingsOf(parts),
  };
}

function settingsOf({ isWithoutAi }: Pick<DevcontainerParts, 'isWithoutAi'>) {
  return { ...quietSettings, ...(isWithoutAi ? noAiSettings : {}) };
}

function noBridges() {
  return {
    remoteEnv: quietEnv,
    forwardPorts: [],
    otherPortsAttributes: { onAutoForward: 'ignore' },
  };
}

/** Options of `docker run` for what the file has no key for; the engine's own share is as in `dockerEngine.ts`. */
function runArgs(plan: ContainerSpec): string[] {
  const { labels, cpus, memoryMb, capabilities = [], noNewPrivileges, noSwap } = plan;
  const kept = Object.entries(labels).filter(([key]) => key !== metadataLabel && key !== ownerLabel);
  return [
    `--name=${plan.name}`,
    // A bare network is one that the engine does not make, for which its command has no option.
    `--network=${typeof plan.network === 'string' ? plan.network : 'none'}`,
    '--cap-drop=ALL',
    ...capabilities.map((capability) => `--cap-add=${capability}`),
    ...(noNewPrivileges ? ['--security-opt=no-new-privileges'] : []),
    `--pids-limit=${plan.pidsLimit}`,
    ...(cpus === null ? [] : [`--cpus=${cpus}`]),
    ...(memoryMb === null ? [] : [`--memory=${memoryMb}m`]),
    ...(memoryMb === null || !noSwap ? [] : [`--memory-swap=${memoryMb}m`]),
    '--ipc=private',
    '--log-driver=none',
    '--ulimit=core=0:0',
    ...kept.map(([key, value]) => `--label=${key}=${withoutVariables(value)}`),
  ];
}

/** `${VAR:-default}` of task.toml as `${localEnv:VAR:default}`: no value of a host variable is ever written down. */
function containerEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const wanted = new Map(wantedHostVariables(env).map((variable) => [variable.key, variable]));
  const entries = Object.entries(env).map(([key, value]) => {
    const variable = wanted.get(key);
    if (!variable) {
      requireSayable(`The variable ${key} of [environment.env]`, value);
      return [key, value];
    }
    const fallback = variable.fallback ?? '';
    if (/[${}:]/.test(fallback) || /[${}:]/.test(variable.name))
      throw unsayable(`The variable ${key} of [environment.env]`, value);
    return [key, `\${localEnv:${variable.name}${fallback && `:${fallback}`}}`];
  });
  return Object.fromEntries(entries);
}

/** Everywhere in such a file `${localEnv:…}` reads the host, and there is no way to write it otherwise. */
function requireSayable(what: string, text: string): void {
  if (text.includes('${')) throw unsayable(what, text);
}

function unsayable(what: string, text: string): UserError {
  return new UserError(`${what} (${JSON.stringify(text)}) cannot be written in a devcontainer.json.`, {
    nextStep: 'Work in the workspace window instead of an attached one.',
  });
}

function withoutVariables(text: string): string {
  return text.replaceAll('${', '$ {');
}
