import { Agent as TlsAgent } from 'node:https';
import Docker from 'dockerode';
import { guardAnswers } from './answerGuard.ts';
import type { Transport } from './endpoint.ts';
import { SshAgent } from './sshAgent.ts';

/** A dockerode client, and what ends its connections. */
export interface Client {
  readonly docker: Docker;
  close(): void;
}

/** A client of an engine. Nothing is connected yet. */
export function openClient(transport: Transport, env: NodeJS.ProcessEnv): Client {
  const agent =
    transport.kind === 'ssh'
      ? new SshAgent(transport, env)
      : transport.kind === 'tcp' && transport.tls
        ? tlsAgent(transport.tls)
        : undefined;
  const docker = guardAnswers(ownDocker({ ...addressOptions(transport), ...(agent ? { agent } : {}) }));
  return { docker, close: () => agent?.destroy() };
}

function addressOptions(transport: Transport): Docker.DockerOptions {
  switch (transport.kind) {
    case 'socket':
      return { socketPath: transport.path };
    case 'tcp': {
      const { host, port, tls } = transport;
      return { host, port, protocol: tls ? 'https' : 'http' };
    }
    case 'ssh':
      // The agent's connections end at the engine; a name is needed for the Host header alone.
      return { host: 'docker', protocol: 'http' };
  }
}

function tlsAgent({ ca, cert, key, verify }: NonNullable<(Transport & { kind: 'tcp' })['tls']>): TlsAgent {
  return new TlsAgent({
    keepAlive: true,
    rejectUnauthorized: verify,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  });
}

/** dockerode mixes what the process's own DOCKER_HOST says into whatever it is told: a setting would lose to it. */
function ownDocker(options: Docker.DockerOptions & { readonly agent?: object }): Docker {
  const { DOCKER_HOST: outside } = process.env;
  delete process.env.DOCKER_HOST;
  try {
    return new Docker(options);
  } finally {
    if (outside !== undefined) process.env.DOCKER_HOST = outside;
  }
}
