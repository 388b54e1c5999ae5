import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';

/** What dockerode sends as `X-Registry-Auth`. */
export interface RegistryAuth {
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
  readonly serveraddress: string;
}

const clientConfig = z.object({
  auths: z
    .record(z.string(), z.object({ auth: z.string().optional(), identitytoken: z.string().optional() }))
    .default({}),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).default({}),
});

const helperAnswer = z.object({ Username: z.string(), Secret: z.string() });
const helperTimeoutMs = 30_000;
const hubKey = 'https://index.docker.io/v1/';

/** The registry of an image reference, by the docker client's rule: the part before the first slash if it looks like a host. */
export function registryOf(reference: string): string {
  const first = reference.split('/')[0] ?? '';
  const isHost =
    reference.includes('/') && (first.includes('.') || first.includes(':') || first === 'localhost');
  return isHost && first !== 'index.docker.io' ? first : 'docker.io';
}

/**
 * Credentials for a registry from the docker client's own configuration: a helper for that registry, else the
 * general store, else what the file holds. Undefined when there are none; a helper that fails counts as none.
 */
export async function findCredentials(
  registry: string,
  env: NodeJS.ProcessEnv,
): Promise<RegistryAuth | undefined> {
  const folder = env.DOCKER_CONFIG || path.join(env.HOME ?? homedir(), '.docker');
  let config: z.infer<typeof clientConfig> | undefined;
  try {
    config = clientConfig.safeParse(
      JSON.parse(await readFile(path.join(folder, 'config.json'), 'utf8')),
    ).data;
  } catch {
    return undefined;
  }
  if (!config) return undefined;
  const key = registry === 'docker.io' ? hubKey : registry;
  const helper = config.credHelpers[registry] ?? config.credHelpers[key] ?? config.credsStore;
  const fromHelper = helper ? await askHelper(helper, key, env) : undefined;
  if (fromHelper) return { ...fromHelper, serveraddress: key };
  const stored =
    config.auths[key] ?? Object.entries(config.auths).find(([name]) => hostOf(name) === registry)?.[1];
  if (stored?.identitytoken) return { identitytoken: stored.identitytoken, serveraddress: key };
  if (!stored?.auth) return undefined;
  const [username, ...password] = Buffer.from(stored.auth, 'base64').toString('utf8').split(':');
  return { username: username ?? '', password: password.join(':'), serveraddress: key };
}

/** Older clients wrote an address with a scheme and a path: `https://registry.example/v1/`. */
function hostOf(key: string): string {
  return key.replace(/^https?:\/\//, '').split('/')[0] ?? '';
}

/** docker-credential-helpers protocol: the registry on stdin, JSON on stdout; a user `<token>` means an identity token. */
function askHelper(
  helper: string,
  registry: string,
  env: NodeJS.ProcessEnv,
): Promise<{ username: string; password: string } | { identitytoken: string } | undefined> {
  return new Promise((resolve) => {
    // A name from a file of the user's own client; it may hold no path.
    if (!/^[\w.-]+$/.test(helper)) return resolve(undefined);
    const child = spawn(`docker-credential-${helper}`, ['get'], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: helperTimeoutMs,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => {
      if (code !== 0) return resolve(undefined);
      try {
        const answer = helperAnswer.parse(JSON.parse(output));
        resolve(
          answer.Username === '<token>'
            ? { identitytoken: answer.Secret }
            : { username: answer.Username, password: answer.Secret },
        );
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(registry);
  });
}
