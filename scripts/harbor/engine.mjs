import { existsSync, realpathSync } from 'node:fs';
import Docker from 'dockerode';
import { engineAddress } from '../lib/engineApi.mjs';
import { PlainError } from '../lib/log.mjs';

/** The engine's socket on this host; Harbor's container gets it mounted. */
export function engineSocket() {
  const address = engineAddress();
  if (!address.startsWith('unix://'))
    throw new PlainError(`Harbor in a container needs the engine's socket, not ${address}.`);
  const socket = address.slice('unix://'.length);
  if (!existsSync(socket)) throw new PlainError(`There is no engine at ${address}.`);
  return realpathSync(socket);
}

export const connect = () => new Docker({ socketPath: engineSocket() });
