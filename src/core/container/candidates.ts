import { UserError } from '#core/base/errors.ts';
import { type ContextEngine, currentContext, listContexts, readContext } from './dockerContext.ts';
import { inWsl, onWindows, parseAddress, pathsOf, type Surroundings, type Transport } from './endpoint.ts';

/** One place where an engine may answer. */
export interface Candidate {
  /** Why it is looked at, for people: `DOCKER_HOST`, `rootless Podman`. */
  readonly name: string;
  /** Somebody chose it: it is never replaced by another engine without a word. */
  readonly chosen: boolean;
  /** What the setting has to be for it. */
  readonly setting: string;
  /** As `DOCKER_HOST` would write it; empty for a context that cannot be read. */
  readonly address: string;
  /** Or why it cannot be used at all. */
  readonly transport: Transport | UserError;
}

export const settingKey = 'e2eSwe.dockerHost';
/** In front of a context's name, as a value of the setting. */
const contextPrefix = 'context:';

/**
 * Every place where an engine may answer, the first choice first: the setting, `DOCKER_HOST`, the docker command's
 * context in force, this platform's usual places, the other contexts.
 */
export function listCandidates(dockerHost: string | undefined, surroundings: Surroundings): Candidate[] {
  const chosen = chosenCandidates(dockerHost, surroundings);
  const usual = usualCandidates(surroundings);
  const others = listContexts(surroundings).map((name) => contextCandidate(name, false, surroundings));
  const seen = new Set<string>();
  return [...chosen, ...usual, ...others].filter(({ setting, address, transport }) => {
    // An address with the certificates of a context is another way in.
    const withTls = 'tls' in transport && transport.tls !== undefined;
    const key = address && !withTls ? address : setting;
    return !seen.has(key) && seen.add(key);
  });
}

/** Where an engine is looked for: what was chosen alone, else the usual places in order. */
export function placesToLook(dockerHost: string | undefined, surroundings: Surroundings): Candidate[] {
  const [chosen] = chosenCandidates(dockerHost, surroundings);
  return chosen ? [chosen] : usualCandidates(surroundings);
}

function chosenCandidates(dockerHost: string | undefined, surroundings: Surroundings): Candidate[] {
  const setting = dockerHost?.trim();
  const variable = surroundings.env.DOCKER_HOST?.trim();
  const context = currentContext(surroundings);
  const found: Candidate[] = [];
  if (setting) found.push(settingCandidate(setting, surroundings));
  if (variable) found.push(addressCandidate('DOCKER_HOST', variable, true, surroundings));
  // A variable that names an address puts the docker command's contexts out of force.
  if (context && !variable) found.push(contextCandidate(context, true, surroundings));
  return found;
}

function settingCandidate(setting: string, surroundings: Surroundings): Candidate {
  const name = `setting ${settingKey}`;
  if (!setting.startsWith(contextPrefix)) return addressCandidate(name, setting, true, surroundings);
  const context = contextCandidate(setting.slice(contextPrefix.length).trim(), true, surroundings);
  return { ...context, name: `${name}, ${context.name}` };
}

function addressCandidate(
  name: string,
  address: string,
  chosen: boolean,
  surroundings: Surroundings,
): Candidate {
  const transport = orError(() => parseAddress(address, name, surroundings));
  const text = address.includes('://') ? address : `tcp://${address}`;
  return { name, chosen, setting: text, address: text, transport };
}

function contextCandidate(context: string, chosen: boolean, surroundings: Surroundings): Candidate {
  const engine = orError((): ContextEngine => readContext(context, surroundings));
  return {
    name: `Docker context "${context}"`,
    chosen,
    setting: `${contextPrefix}${context}`,
    ...(engine instanceof UserError ? { address: '', transport: engine } : engine),
  };
}

function orError<T>(get: () => T): T | UserError {
  try {
    return get();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function usualCandidates(surroundings: Surroundings): Candidate[] {
  const scheme = onWindows(surroundings) ? 'npipe' : 'unix';
  return usualPlaces(surroundings).map(([name, place]) => {
    const address = `${scheme}://${place}`;
    return { name, chosen: false, setting: address, address, transport: { kind: 'socket', path: place } };
  });
}

function usualPlaces(surroundings: Surroundings): [name: string, path: string][] {
  const { platform, env, home, uid } = surroundings;
  const inHome = (place: string): string => pathsOf(platform).join(home, place);
  const docker: [string, string] = ['Docker', '/var/run/docker.sock'];
  const others: [string, string][] = [
    ['Rancher Desktop', inHome('.rd/docker.sock')],
    ['Colima', inHome('.colima/default/docker.sock')],
  ];
  if (platform === 'win32')
    return [
      ['Docker', '//./pipe/docker_engine'],
      ['Docker Desktop', '//./pipe/dockerDesktopLinuxEngine'],
      ['Podman machine', '//./pipe/podman-machine-default'],
    ];
  if (platform === 'darwin') {
    const machine = inHome('.local/share/containers/podman/machine');
    return [
      docker,
      ['Docker Desktop', inHome('.docker/run/docker.sock')],
      ['OrbStack', inHome('.orbstack/run/docker.sock')],
      ...others,
      ['Podman machine', `${machine}/podman.sock`],
      ...(env.TMPDIR
        ? [
            ['Podman machine', `${env.TMPDIR.replace(/\/$/, '')}/podman/podman-machine-default-api.sock`] as [
              string,
              string,
            ],
          ]
        : []),
      ['Podman machine', `${machine}/qemu/podman.sock`],
    ];
  }
  const runtime = env.XDG_RUNTIME_DIR || (uid ? `/run/user/${uid}` : undefined);
  const ofUser = (name: string, socket: string): [string, string][] =>
    runtime ? [[name, `${runtime}/${socket}`]] : [];
  const shared = '/mnt/wsl/docker-desktop/shared-sockets/guest-services';
  const desktop: [string, string][] = inWsl(surroundings)
    ? [
        ['Docker Desktop of Windows', `${shared}/docker.proxy.sock`],
        ['Docker Desktop of Windows', `${shared}/docker.sock`],
      ]
    : [];
  return [
    docker,
    ...ofUser('rootless Docker', 'docker.sock'),
    ['Docker Desktop', inHome('.docker/run/docker.sock')],
    ['Docker Desktop', inHome('.docker/desktop/docker.sock')],
    ...desktop,
    ...others,
    ...ofUser('rootless Podman', 'podman/podman.sock'),
    ['Podman', '/run/podman/podman.sock'],
  ];
}
