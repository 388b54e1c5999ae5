import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type Docker from 'dockerode';
import { UserError } from '#core/base/errors.ts';

/** One place where an engine may answer. */
export interface Endpoint {
  /** For people, as `DOCKER_HOST` would write it. */
  readonly address: string;
  readonly options: Docker.DockerOptions;
}

/**
 * Where to look for an engine, in order: the setting, `DOCKER_HOST`, else this platform's usual sockets.
 * Errors: `UserError` for an address that we cannot use.
 */
export function resolveEndpoints(options: {
  readonly dockerHost?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}): Endpoint[] {
  const { env, platform = process.platform } = options;
  const chosen = options.dockerHost?.trim() || env.DOCKER_HOST?.trim();
  if (chosen) return [parseAddress(chosen, env)];
  if (platform === 'win32') return [parseAddress('npipe:////./pipe/docker_engine', env)];
  const home = env.HOME ?? homedir();
  const sockets = [
    '/var/run/docker.sock',
    ...(env.XDG_RUNTIME_DIR ? [`${env.XDG_RUNTIME_DIR}/docker.sock`] : []),
    `${home}/.docker/run/docker.sock`,
  ];
  return sockets.map((socket) => parseAddress(`unix://${socket}`, env));
}

function parseAddress(address: string, env: NodeJS.ProcessEnv): Endpoint {
  const text = address.includes('://') ? address : `tcp://${address}`;
  const scheme = text.slice(0, text.indexOf('://'));
  const rest = text.slice(scheme.length + 3);
  if (scheme === 'unix' || scheme === 'npipe') return { address: text, options: { socketPath: rest } };
  if (scheme === 'tcp' || scheme === 'http' || scheme === 'https') {
    let url: URL;
    try {
      url = new URL(`http://${rest}`);
    } catch (error) {
      throw unusable(address, error);
    }
    const tls = scheme === 'https' || Boolean(env.DOCKER_TLS_VERIFY) || url.port === '2376';
    const port = url.port || (tls ? '2376' : '2375');
    // Brackets belong to the address, not to the host.
    const base = { host: url.hostname.replace(/^\[|\]$/g, ''), port };
    return {
      address: text,
      options: tls ? { ...base, protocol: 'https', ...certificates(env) } : { ...base, protocol: 'http' },
    };
  }
  throw unusable(address);
}

/** The client's certificates: `DOCKER_CERT_PATH`, else ~/.docker, as the docker command does. */
function certificates(env: NodeJS.ProcessEnv): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  const folder = env.DOCKER_CERT_PATH ?? path.join(env.HOME ?? homedir(), '.docker');
  const read = (name: string): Buffer | undefined => {
    try {
      return readFileSync(path.join(folder, name));
    } catch {
      return undefined;
    }
  };
  const [ca, cert, key] = [read('ca.pem'), read('cert.pem'), read('key.pem')];
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

function unusable(address: string, cause?: unknown): UserError {
  return new UserError(`The engine address "${address}" cannot be used.`, {
    nextStep:
      'Write it as unix:///path/to.sock, tcp://host:port or npipe:////./pipe/name (setting e2eSwe.dockerHost or DOCKER_HOST).',
    cause,
  });
}
