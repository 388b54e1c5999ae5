import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { waitFor } from './support.ts';

/** Debian's docker-registry (`npm test` unpacks it); tests that need it are skipped where there is none. */
const program = process.env.E2E_SWE_REGISTRY ?? 'docker-registry';
export const hasRegistry = spawnSync(program, ['--version']).status === 0;

/** bcrypt of "secret". */
const someone = 'someone:$2b$04$WPWCP8HwrOu47Xe.6lVe/.uzUSJOYWK2TsQu/9Kfhky52s47HX64i';

export interface Registry {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  stop(): Promise<void>;
}

/** A registry on a free port of the loopback, its files below `dir`. */
export async function startRegistry(
  dir: string,
  options: { readonly password?: boolean } = {},
): Promise<Registry> {
  await mkdir(dir, { recursive: true });
  const port = await freePort();
  const auth = options.password ? `auth:\n  htpasswd:\n    realm: test\n    path: ${dir}/htpasswd\n` : '';
  await writeFile(path.join(dir, 'htpasswd'), `${someone}\n`);
  await writeFile(
    path.join(dir, 'config.yml'),
    `version: 0.1\nlog:\n  level: error\n  accesslog:\n    disabled: true\nstorage:\n  filesystem:\n    rootdirectory: ${dir}/data\nhttp:\n  addr: 127.0.0.1:${port}\n${auth}`,
  );
  const child: ChildProcess = spawn(program, ['serve', path.join(dir, 'config.yml')], {
    stdio: 'ignore',
  });
  const host = `127.0.0.1:${port}`;
  await waitFor('the registry', async () => {
    if (child.exitCode !== null) throw new Error(`The registry ended with ${child.exitCode}.`);
    return fetch(`http://${host}/v2/`).then(
      () => true,
      () => false,
    );
  });
  return {
    host,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
