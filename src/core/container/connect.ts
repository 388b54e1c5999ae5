import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type Docker from 'dockerode';
import { errorCode, errorMessage, UserError } from '#core/base/errors.ts';
import { type Candidate, listCandidates, placesToLook } from './candidates.ts';
import { openClient } from './client.ts';
import { dockerEngine } from './dockerEngine.ts';
import type { Surroundings, Transport } from './endpoint.ts';
import type { ContainerEngine, EngineInfo } from './engine.ts';

/** How long an engine may take to answer the first call; a log-in by ssh takes longer. */
const connectTimeoutMs = 5_000;
const sshTimeoutMs = 20_000;

export interface ConnectOptions {
  /** The setting; it goes before the environment. */
  readonly dockerHost?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** An engine that may be chosen: what answered, or why none did. */
export interface EngineChoice {
  /** Why it is looked at: `DOCKER_HOST`, `rootless Podman`. */
  readonly name: string;
  readonly address: string;
  /** What the setting has to be for it. */
  readonly setting: string;
  /** It is what a grade would use now. */
  readonly inUse: boolean;
  readonly info?: EngineInfo;
  readonly problem?: string;
  readonly nextStep?: string;
}

/**
 * Connects to the engine that was chosen (by the setting, `DOCKER_HOST` or a context of the docker command), and where
 * none was, to the first that answers at the usual places. Errors: `UserError` that says what was tried, why each
 * failed, and what to do next.
 */
export async function connectEngine(options: ConnectOptions): Promise<ContainerEngine> {
  const failures: Failure[] = [];
  for (const candidate of placesToLook(options.dockerHost, surroundingsOf(options.env))) {
    const engine = await tryEngine(candidate, options.env);
    if (!(engine instanceof UserError)) return engine;
    failures.push({ candidate, error: engine });
  }
  const [chosen] = failures;
  throw chosen?.candidate.chosen ? chosenFails(chosen) : noneAnswers(failures);
}

/** Every engine that may be chosen, each asked now. Never rejects: that one does not answer is an answer. */
export async function listEngines(options: ConnectOptions): Promise<readonly EngineChoice[]> {
  const surroundings = surroundingsOf(options.env);
  const candidates = listCandidates(options.dockerHost, surroundings);
  const isChosen = candidates.some(({ chosen }) => chosen);
  const asked = await Promise.all(candidates.map((candidate) => ask(candidate, options.env)));
  const used = isChosen ? 0 : asked.findIndex(({ info }) => info !== undefined);
  return asked.map((choice, index) => ({ ...choice, inUse: index === used }));
}

async function ask(candidate: Candidate, env: NodeJS.ProcessEnv): Promise<Omit<EngineChoice, 'inUse'>> {
  const { name, address, setting } = candidate;
  const engine = await tryEngine(candidate, env);
  const failed = (error: unknown): Omit<EngineChoice, 'inUse'> => ({
    ...{ name, address, setting, problem: errorMessage(error) },
    ...(error instanceof UserError && error.nextStep ? { nextStep: error.nextStep } : {}),
  });
  if (engine instanceof UserError) return failed(engine);
  try {
    return { name, address, setting, info: await engine.info() };
  } catch (error) {
    return failed(error);
  } finally {
    engine.close();
  }
}

interface Failure {
  readonly candidate: Candidate;
  readonly error: UserError;
}

/** The engine of a place, or why there is none: a reason without a full stop, or whole sentences with a next step. */
async function tryEngine(candidate: Candidate, env: NodeJS.ProcessEnv): Promise<ContainerEngine | UserError> {
  const { transport } = candidate;
  if (transport instanceof UserError) return transport;
  const client = openClient(transport, env);
  try {
    await ping(client.docker, timeoutOf(transport));
    return dockerEngine(client, candidate.address, env);
  } catch (error) {
    client.close();
    return error instanceof UserError
      ? error
      : new UserError(describe(error, transport), { cause: error, ...deniedStep(error) });
  }
}

const timeoutOf = ({ kind }: Transport): number => (kind === 'ssh' ? sshTimeoutMs : connectTimeoutMs);

async function ping(docker: Docker, timeoutMs: number): Promise<void> {
  const options: object = { abortSignal: AbortSignal.timeout(timeoutMs) };
  const answer: unknown = await docker.ping(options as never);
  if (String(answer).trim() !== 'OK') throw new Error('it answers, but is no Docker engine');
}

function describe(error: unknown, transport: Transport): string {
  const late = `no answer within ${timeoutOf(transport) / 1000} s`;
  const code = errorCode(error) ?? '';
  switch (code) {
    case 'ENOENT':
      return 'no such socket';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ECONNREFUSED':
      return transport.kind === 'socket' ? 'nothing listens there' : 'connection refused';
    case 'ABORT_ERR':
      return late;
    case 'ECONNRESET':
      return transport.kind === 'tcp' && !transport.tls
        ? 'it hung up; an engine with TLS needs DOCKER_TLS_VERIFY or a context of the docker command'
        : 'it hung up';
  }
  if (/^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/.test(code))
    return `TLS fails: ${tlsReason(errorMessage(error))}`;
  if (/HTTP request to an HTTPS server/i.test(errorMessage(error)))
    return 'it wants TLS: set DOCKER_TLS_VERIFY, or use a context of the docker command';
  const isLate = error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name);
  return isLate ? late : errorMessage(error);
}

/** OpenSSL wraps its reason: "805C…:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:…". */
function tlsReason(message: string): string {
  return /SSL routines:\w*:([^:]+)/.exec(message)?.[1] ?? message;
}

function deniedStep(error: unknown): { nextStep?: string } {
  return ['EACCES', 'EPERM'].includes(errorCode(error) ?? '')
    ? {
        nextStep:
          'Add your user to the "docker" group and log in again, or start the editor as a user who may use the socket.',
      }
    : {};
}

/** The choice is somebody's: its failure is told, and no other engine is taken instead. */
function chosenFails({ candidate: { name, address }, error }: Failure): UserError {
  const isSentence = error.message.endsWith('.');
  return new UserError(
    isSentence
      ? error.message
      : `The container engine of ${name} does not answer: ${address} (${error.message}).`,
    {
      cause: error,
      nextStep: error.nextStep ?? `Start it, or choose another engine (${name} names this one).`,
    },
  );
}

function noneAnswers(failures: readonly Failure[]): UserError {
  const isAbsent = ({ error }: Failure): boolean => error.message === 'no such socket';
  const tried = failures
    .filter((failure) => !isAbsent(failure))
    .map(({ candidate, error }) => `${candidate.address} (${error.message})`);
  const absent = failures
    .filter(isAbsent)
    .map(({ candidate: { transport, address } }) =>
      !(transport instanceof UserError) && transport.kind === 'socket' ? transport.path : address,
    );
  const parts = [
    ...(tried.length > 0 ? [`tried ${tried.join(', ')}`] : []),
    ...(absent.length > 0 ? [`there is no ${absent.join(', ')}`] : []),
  ];
  return new UserError(`No container engine answers: ${parts.join('; ')}.`, {
    nextStep:
      failures.find(({ error }) => error.nextStep)?.error.nextStep ??
      'Start Docker (Docker Desktop, or "sudo systemctl start docker") or Podman ("systemctl --user start podman.socket"), or set e2eSwe.dockerHost or DOCKER_HOST to its address.',
  });
}

function surroundingsOf(env: NodeJS.ProcessEnv): Surroundings {
  return {
    platform: process.platform,
    env,
    home: (process.platform === 'win32' ? env.USERPROFILE : env.HOME) || homedir(),
    uid: process.getuid?.(),
    readFile: (file) => readOrNothing(() => readFileSync(file)),
    readFolder: (folder) => readOrNothing(() => readdirSync(folder)) ?? [],
  };
}

function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
