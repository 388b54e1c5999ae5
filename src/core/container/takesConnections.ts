import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type Docker from 'dockerode';
import { SshAgent } from './sshAgent.ts';

/** How long an engine that is being restarted behind a socket of the system's may take for an answer. */
const answerMs = 15_000;

interface Modem {
  readonly agent?: unknown;
  dial(request: object, callback: (error: unknown) => void): void;
}

/** Of the same kind, without a connection. */
function freshAgent(agent: unknown): HttpAgent {
  if (agent instanceof SshAgent) return agent.another();
  return agent instanceof HttpsAgent
    ? new HttpsAgent({ ...agent.options, keepAlive: false })
    : new HttpAgent();
}

/**
 * Whether an engine still takes new connections. One that is being stopped does not, but answers on those it has
 * until its last container is ended, as if all were well.
 */
export async function takesConnections(docker: Docker): Promise<boolean> {
  const modem = docker.modem as unknown as Modem;
  const agent = freshAgent(modem.agent);
  const fresh = Object.create(modem, { agent: { value: agent } }) as Modem;
  const { dial } = Object.getPrototypeOf(modem) as Modem;
  const request = { path: '/_ping?', method: 'GET', statusCodes: { 200: true, 500: 'server error' } };
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(false), answerMs);
    dial.call(fresh, request, (error) => {
      clearTimeout(late);
      agent.destroy();
      resolve(!error);
    });
  });
}
