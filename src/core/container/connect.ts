import Docker from 'dockerode';
import { errorCode, errorMessage, UserError } from '#core/base/errors.ts';
import { guardAnswers } from './answerGuard.ts';
import { dockerEngine } from './dockerEngine.ts';
import { type Endpoint, resolveEndpoints } from './endpoint.ts';
import type { ContainerEngine } from './engine.ts';

/** How long an engine may take to answer the first call. */
const connectTimeoutMs = 5_000;

export interface ConnectOptions {
  /** The setting; it goes before the environment. */
  readonly dockerHost?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Connects to the first engine that answers. Errors: `UserError` that says what was tried, why each failed, and what
 * to do next.
 */
export async function connectEngine(options: ConnectOptions): Promise<ContainerEngine> {
  const tried: string[] = [];
  let denied = false;
  for (const endpoint of resolveEndpoints(options)) {
    try {
      const docker = guardAnswers(new Docker(endpoint.options));
      await ping(docker);
      return dockerEngine(docker, endpoint.address, options.env);
    } catch (error) {
      denied ||= ['EACCES', 'EPERM'].includes(errorCode(error) ?? '');
      tried.push(`${endpoint.address} (${describe(error, endpoint)})`);
    }
  }
  throw new UserError(`No container engine answers: tried ${tried.join(', ')}.`, {
    nextStep: denied
      ? 'Add your user to the "docker" group and log in again, or start the editor as a user who may use the socket.'
      : 'Start Docker (Docker Desktop, or "sudo systemctl start docker"), or set e2eSwe.dockerHost or DOCKER_HOST to its address.',
  });
}

async function ping(docker: Docker): Promise<void> {
  const options: object = { abortSignal: AbortSignal.timeout(connectTimeoutMs) };
  const answer: unknown = await docker.ping(options as never);
  if (String(answer).trim() !== 'OK') throw new Error('it answers, but is no Docker engine');
}

function describe(error: unknown, endpoint: Endpoint): string {
  const unix = 'socketPath' in endpoint.options;
  switch (errorCode(error)) {
    case 'ENOENT':
      return 'no such socket';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ECONNREFUSED':
      return unix ? 'nothing listens there' : 'connection refused';
    case 'ABORT_ERR':
      return `no answer within ${connectTimeoutMs / 1000} s`;
    default:
      return error instanceof Error && error.name === 'AbortError'
        ? `no answer within ${connectTimeoutMs / 1000} s`
        : errorMessage(error);
  }
}
