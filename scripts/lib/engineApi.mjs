import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LABEL } from './paths.mjs';

const DEFAULT_SOCKET = '/var/run/docker.sock';

/**
 * The docker command's context in force, as its address and the folder of its certificates; undefined for its own
 * default. A context that is not there is the docker command's to tell.
 */
function dockerContext(env) {
  const folder = env.DOCKER_CONFIG || join(homedir(), '.docker');
  const read = (...names) => {
    try {
      return JSON.parse(readFileSync(join(folder, ...names), 'utf8'));
    } catch {
      return undefined;
    }
  };
  const name = env.DOCKER_CONTEXT || read('config.json')?.currentContext;
  if (!name || name === 'default') return undefined;
  const id = createHash('sha256').update(name).digest('hex');
  const address = read('contexts', 'meta', id, 'meta.json')?.Endpoints?.docker?.Host;
  return address && { address, certificates: join(folder, 'contexts', 'tls', id, 'docker') };
}

/** Where the engine is looked for: DOCKER_HOST, else the docker command's context, else the first usual socket that exists. */
export function engineAddress(env = process.env) {
  if (env.DOCKER_HOST) return env.DOCKER_HOST;
  const context = dockerContext(env);
  if (context) return context.address;
  const sockets = [
    DEFAULT_SOCKET,
    ...(env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, 'docker.sock')] : []),
    join(homedir(), '.docker/run/docker.sock'),
  ];
  return `unix://${sockets.find((socket) => existsSync(socket)) ?? DEFAULT_SOCKET}`;
}

function target(env = process.env) {
  const address = engineAddress(env);
  if (address.startsWith('unix://')) return { client: http, socketPath: address.slice('unix://'.length) };
  const { protocol, hostname, port } = new URL(address);
  if (!['tcp:', 'http:', 'https:'].includes(protocol)) throw new Error(`No plain HTTP goes to ${address}`);
  const context = env.DOCKER_HOST ? undefined : dockerContext(env);
  const certificates = context ? context.certificates : env.DOCKER_CERT_PATH;
  const isSecure = context ? existsSync(context.certificates) : env.DOCKER_TLS_VERIFY;
  if (protocol !== 'https:' && !isSecure) return { client: http, hostname, port: port || 2375 };
  // A context need not have all three.
  const has = (name) => certificates && (!context || existsSync(join(certificates, name)));
  const file = (name) => (has(name) ? readFileSync(join(certificates, name)) : undefined);
  return {
    client: https,
    hostname,
    port: port || 2376,
    ca: file('ca.pem'),
    cert: file('cert.pem'),
    key: file('key.pem'),
  };
}

/**
 * One call of the Docker Engine API.
 *
 * @param {{ body?: import('node:stream').Readable, idleMs?: number, onText?: (text: string) => void }} options
 *   `idleMs`: the call fails when nothing arrives for that long.
 * @returns {Promise<{ status: number, text: string }>}
 */
function engineCall(method, path, { body, idleMs = 30_000, onText } = {}) {
  return new Promise((done, fail) => {
    const { client, ...where } = target();
    const headers = body ? { 'content-type': 'application/x-tar' } : {};
    const request = client.request({ ...where, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
        onText?.(part);
      });
      response.on('error', fail).on('end', () => done({ status: response.statusCode ?? 0, text }));
    });
    request.setTimeout(idleMs, () =>
      request.destroy(new Error(`No answer for ${Math.round(idleMs / 1000)} s`)),
    );
    request.on('error', fail);
    if (body) body.on('error', (error) => request.destroy(error)).pipe(request);
    else request.end();
  });
}

/** Does an engine answer? `code` says why not (ENOENT, EACCES, ECONNREFUSED, ...). */
export async function pingEngine() {
  try {
    const { status } = await engineCall('GET', '/_ping', { idleMs: 5_000 });
    return { ok: status === 200, code: `HTTP ${status}` };
  } catch (error) {
    return { ok: false, code: error.code ?? error.message };
  }
}

/** True where the engine has the image. */
export async function hasImage(name) {
  const { status } = await engineCall('GET', `/images/${encodeURIComponent(name)}/json`);
  return status === 200;
}

/** Pulls or imports an image; the engine reports failures inside its stream of JSON lines. */
export async function createImage(query, options = {}) {
  const path = `/images/create?${new URLSearchParams(query)}`;
  const { status, text } = await engineCall('POST', path, options);
  const messages = text.split(/\r?\n/).filter(Boolean).map(parseLine);
  const error = messages.find((message) => message.error)?.error;
  if (status !== 200 || error) throw new Error(error ?? messages[0]?.message ?? `HTTP ${status}`);
}

function parseLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { message: line };
  }
}

/**
 * The workbench's own containers, volumes and networks that exist now.
 *
 * @returns {Promise<{ kind: string, id: string, name: string, labels: Record<string, string> }[]>}
 */
export async function listOurs() {
  const filters = encodeURIComponent(JSON.stringify({ label: [LABEL] }));
  const list = async (path) => JSON.parse((await engineCall('GET', `${path}filters=${filters}`)).text);
  const containers = await list('/containers/json?all=1&');
  const { Volumes: volumes } = await list('/volumes?');
  const networks = await list('/networks?');
  return [
    ...containers.map(({ Id, Names, Labels }) => ({
      kind: 'container',
      id: Id,
      name: Names?.[0] ?? Id,
      labels: Labels,
    })),
    ...(volumes ?? []).map(({ Name, Labels }) => ({ kind: 'volume', id: Name, name: Name, labels: Labels })),
    ...networks.map(({ Id, Name, Labels }) => ({ kind: 'network', id: Id, name: Name, labels: Labels })),
  ];
}

/** Removes a container, volume or network. */
export async function removeOurs({ kind, id }) {
  const query = { container: '?force=1&v=1', volume: '?force=1', network: '' }[kind];
  await engineCall('DELETE', `/${kind}s/${encodeURIComponent(id)}${query}`);
}
