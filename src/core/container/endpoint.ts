import path from 'node:path';
import { UserError } from '#core/base/errors.ts';

/** What of the machine decides where an engine may answer; a table in tests. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** Of this user; undefined on Windows. */
  readonly uid: number | undefined;
  /** Undefined for what cannot be read. */
  readonly readFile: (file: string) => Buffer | undefined;
  /** Names in a folder; none where it cannot be read. */
  readonly readFolder: (folder: string) => readonly string[];
}

/** How an engine is spoken to. */
export type Transport =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: string; readonly tls?: Tls }
  | ({ readonly kind: 'ssh' } & SshTarget);

export interface Tls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** False: any certificate of the engine will do. */
  readonly verify: boolean;
}

export interface SshTarget {
  readonly user?: string;
  readonly host: string;
  readonly port?: string;
  /** The engine's socket over there; without, what the docker command over there uses. */
  readonly socket?: string;
}

export const onWindows = ({ platform }: Pick<Surroundings, 'platform'>): boolean => platform === 'win32';

/** True in a Linux of the Windows Subsystem for Linux. */
export function inWsl({ platform, env, readFile }: Surroundings): boolean {
  if (platform !== 'linux') return false;
  if (env.WSL_DISTRO_NAME || env.WSL_INTEROP) return true;
  return /microsoft/i.test(readFile('/proc/version')?.toString('latin1') ?? '');
}

/** The docker command's own folder. */
export function dockerFolder({ env, home, platform }: Surroundings): string {
  return env.DOCKER_CONFIG || pathsOf(platform).join(home, '.docker');
}

/** Paths of the platform that is looked at, which in a test is not this one. */
export const pathsOf = (platform: NodeJS.Platform): path.PlatformPath =>
  platform === 'win32' ? path.win32 : path.posix;

/**
 * The transport of an address as `DOCKER_HOST` has it. `origin` says for people who wrote it. Of TLS: what the docker
 * command does by the environment, or what a context holds. Errors: `UserError` for an address that cannot be used here.
 */
export function parseAddress(
  address: string,
  origin: string,
  surroundings: Surroundings,
  tls: (secure: boolean) => Tls | undefined = (secure) => environmentTls(secure, surroundings),
): Transport {
  const text = address.includes('://') ? address : `tcp://${address}`;
  const scheme = text.slice(0, text.indexOf('://'));
  const rest = text.slice(scheme.length + 3);
  const isWindows = onWindows(surroundings);
  switch (scheme) {
    case 'unix':
      if (isWindows)
        throw unusable(address, origin, 'Windows has no such sockets', 'Use npipe:////./pipe/docker_engine');
      return { kind: 'socket', path: rest || '/var/run/docker.sock' };
    case 'npipe':
      if (!isWindows) {
        const inside = inWsl(surroundings)
          ? "Turn on this distribution in Docker Desktop's settings (Resources, WSL integration) and use unix:///var/run/docker.sock"
          : 'Use a unix:// address';
        throw unusable(address, origin, 'named pipes are of Windows', inside);
      }
      return { kind: 'socket', path: (rest || '//./pipe/docker_engine').replaceAll('\\', '/') };
    case 'ssh':
      return { kind: 'ssh', ...sshTarget(address, rest, origin) };
    case 'tcp':
    case 'http':
    case 'https': {
      const url = urlOf(`http://${rest}`, address, origin);
      const material = tls(scheme === 'https' || url.port === '2376');
      return {
        kind: 'tcp',
        // Brackets belong to the address, not to the host.
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: portOf(url, rest) ?? (material ? '2376' : '2375'),
        ...(material ? { tls: material } : {}),
      };
    }
    default:
      throw unusable(address, origin, `"${scheme}" is no kind of engine address`);
  }
}

function sshTarget(address: string, rest: string, origin: string): SshTarget {
  const url = urlOf(`http://${rest}`, address, origin);
  if (url.password)
    throw unusable(address, origin, 'it holds a password', 'Leave the password out and let ssh use a key');
  if (url.search || url.hash) throw unusable(address, origin, 'it has something behind its path');
  const user = decodeURIComponent(url.username);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!/^[\w.:-]+$/.test(host) || host.startsWith('-') || /^-|\s/.test(user))
    throw unusable(address, origin, 'ssh would take its host or user for an option');
  const port = portOf(url, rest);
  const socket = decodeURIComponent(url.pathname);
  return {
    ...(user ? { user } : {}),
    host,
    ...(port ? { port } : {}),
    ...(socket && socket !== '/' ? { socket } : {}),
  };
}

/** A URL of http leaves its default port out. */
function portOf(url: URL, text: string): string | undefined {
  return url.port || (/:80(?:\/|$)/.test(text) ? '80' : undefined);
}

function urlOf(text: string, address: string, origin: string): URL {
  try {
    const url = new URL(text);
    if (url.hostname) return url;
  } catch {
    // Said below.
  }
  throw unusable(address, origin, 'it names no host');
}

/**
 * As the docker command: `DOCKER_TLS_VERIFY` or `DOCKER_TLS`, set to anything, ask for TLS, the latter without a check;
 * the files are those of `DOCKER_CERT_PATH`, else of its own folder. `secure`: the address itself asks for it.
 */
function environmentTls(secure: boolean, surroundings: Surroundings): Tls | undefined {
  const { DOCKER_TLS_VERIFY, DOCKER_TLS, DOCKER_CERT_PATH } = surroundings.env;
  if (!DOCKER_TLS_VERIFY && !DOCKER_TLS && !secure) return undefined;
  const folder = DOCKER_CERT_PATH || dockerFolder(surroundings);
  const tls = readTls(folder, !DOCKER_TLS || Boolean(DOCKER_TLS_VERIFY), surroundings);
  if (DOCKER_CERT_PATH && !tls.ca && tls.verify)
    throw new UserError(`The file ${folder}/ca.pem (DOCKER_CERT_PATH) cannot be read.`, {
      nextStep: "Put the engine's CA certificate there, or unset DOCKER_CERT_PATH.",
    });
  return tls;
}

/** `ca.pem`, `cert.pem` and `key.pem` of a folder, as far as they are there. Errors: `UserError` for one of a pair. */
export function readTls(folder: string, verify: boolean, { readFile, platform }: Surroundings): Tls {
  const read = (name: string): Buffer | undefined => readFile(pathsOf(platform).join(folder, name));
  const [ca, cert, key] = [read('ca.pem'), read('cert.pem'), read('key.pem')];
  if (Boolean(cert) !== Boolean(key))
    throw new UserError(`In ${folder} the file ${cert ? 'key.pem' : 'cert.pem'} cannot be read.`, {
      nextStep: 'cert.pem and key.pem belong together: put both there, or neither.',
    });
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), verify };
}

function unusable(address: string, origin: string, why: string, nextStep?: string): UserError {
  return new UserError(`The engine address "${address}" (${origin}) cannot be used: ${why}.`, {
    nextStep: `${
      nextStep ??
      'Write it as unix:///path/to.sock, tcp://host:port, ssh://user@host or npipe:////./pipe/name'
    }.`,
  });
}
