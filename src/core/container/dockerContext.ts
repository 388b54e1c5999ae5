import { createHash } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '#core/base/errors.ts';
import {
  dockerFolder,
  parseAddress,
  pathsOf,
  readTls,
  type Surroundings,
  type Transport,
} from './endpoint.ts';

const clientConfig = z.object({ currentContext: z.string().optional() });
const contextMeta = z.object({
  Name: z.string(),
  Endpoints: z.object({
    docker: z.object({ Host: z.string().optional(), SkipTLSVerify: z.boolean().optional() }).optional(),
  }),
});

/** An engine as a context of the docker command names it. */
export interface ContextEngine {
  readonly address: string;
  readonly transport: Transport;
}

/** The name of the docker command's context in force; undefined for its own default. Variables before the file. */
export function currentContext(surroundings: Surroundings): string | undefined {
  const name = surroundings.env.DOCKER_CONTEXT?.trim() || configuredContext(surroundings);
  return name && name !== 'default' ? name : undefined;
}

function configuredContext(surroundings: Surroundings): string | undefined {
  const file = pathsOf(surroundings.platform).join(dockerFolder(surroundings), 'config.json');
  return clientConfig.safeParse(parseJson(surroundings.readFile(file))).data?.currentContext;
}

/** The names of all contexts but the default, in order. */
export function listContexts(surroundings: Surroundings): string[] {
  const { join } = pathsOf(surroundings.platform);
  const folder = join(dockerFolder(surroundings), 'contexts', 'meta');
  return surroundings
    .readFolder(folder)
    .flatMap((id) => {
      const meta = parseJson(surroundings.readFile(join(folder, id, 'meta.json')));
      return contextMeta.safeParse(meta).data?.Name ?? [];
    })
    .sort();
}

/** Reads a context with its certificates. Errors: `UserError` when there is none, or when it cannot be used. */
export function readContext(name: string, surroundings: Surroundings): ContextEngine {
  const { join } = pathsOf(surroundings.platform);
  const id = createHash('sha256').update(name).digest('hex');
  const folder = join(dockerFolder(surroundings), 'contexts');
  const file = join(folder, 'meta', id, 'meta.json');
  const content = surroundings.readFile(file);
  if (!content)
    throw new UserError(`The docker command has no context "${name}": there is no ${file}.`, {
      nextStep:
        'See "docker context ls", and choose one with "docker context use", DOCKER_CONTEXT or DOCKER_HOST.',
    });
  const endpoint = contextMeta.safeParse(parseJson(content)).data?.Endpoints.docker;
  if (!endpoint?.Host)
    throw new UserError(`The docker command's context "${name}" names no engine (${file}).`, {
      nextStep: `Make it again with "docker context create", or choose another.`,
    });
  const verify = !endpoint.SkipTLSVerify;
  const transport = parseAddress(endpoint.Host, `context "${name}"`, surroundings, (secure) => {
    const tls = readTls(join(folder, 'tls', id, 'docker'), verify, surroundings);
    return secure || !verify || tls.ca || tls.cert ? tls : undefined;
  });
  return { address: endpoint.Host, transport };
}

function parseJson(content: Buffer | undefined): unknown {
  try {
    return content && JSON.parse(content.toString('utf8'));
  } catch {
    return undefined;
  }
}
