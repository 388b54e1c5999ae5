import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer, type Server } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserError } from '#core/base/errors.ts';
import { connectEngine, listEngines } from '#core/container/connect.ts';
import { interactiveRoundTrip } from './roundTrip.ts';
import { hasSshServer, type SshServer, startSshServer } from './sshServer.ts';
import { ensureCli, Lab, runCli, waitFor } from './support.ts';

/** The socket of the engine that the tests have anyway. */
async function engineSocket(): Promise<string | undefined> {
  const engine = await connectEngine({ env: process.env });
  const { address } = await engine.info();
  engine.close();
  return address.startsWith('unix://') ? address.slice('unix://'.length) : undefined;
}

const noSsh = !hasSshServer && !process.env.CI;
if (noSsh) console.log('Skipped: an engine behind ssh, since there is no sshd or no ssh.');

describe.skipIf(noSsh)('an engine behind ssh', () => {
  let dir: string;
  let server: SshServer;
  let lab: Lab;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-ssh-'));
    server = await startSshServer(dir);
    lab = await Lab.open('ssh://far', server.env);
  });
  afterAll(async () => {
    await lab?.dispose();
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test('grades as the one at hand does, and says where it is', async () => {
    const task = await lab.task();
    expect(await lab.grade(task, { kind: 'solution' })).toMatchObject({ verdict: 'resolved', reward: 1 });
    expect(await lab.grade(task, { kind: 'empty' })).toMatchObject({ verdict: 'unresolved', reward: 0 });
    expect((await lab.engine.info()).address).toBe('ssh://far');
    expect(await lab.ownContainers()).toEqual([]);
  });

  test('a hang is killed, and a cancelled grade leaves nothing', async () => {
    const task = await lab.task({ testScript: '#!/bin/bash\nsleep 600\n' });
    const late = await lab.grade(task, { kind: 'empty' }, { timeoutSec: 1 });
    expect(late).toMatchObject({ verdict: 'not graded', reason: 'verifier-timeout' });
    const cancel = new AbortController();
    const cancelled = lab.grade(task, { kind: 'empty' }, {}, cancel.signal, (event) => {
      if (event.kind === 'phase' && event.phase === 'verify') setTimeout(() => cancel.abort(), 300);
    });
    await expect(cancelled).rejects.toThrow();
    expect(await lab.ownContainers()).toEqual([]);
  });

  test('an interactive command gets its input, and the end of it', () => interactiveRoundTrip(lab.engine));

  test('its connections are few, and all end with the engine', async () => {
    const engine = await connectEngine({ env: { ...server.env, DOCKER_HOST: 'ssh://far' } });
    const before = server.clients().length;
    for (let call = 0; call < 10; call++) await engine.listContainers('none');
    expect(server.clients().length).toBeLessThanOrEqual(before + 1);
    engine.close();
    lab.engine.close();
    await waitFor('every ssh to end', () => server.clients().length === 0);
  });

  test('an engine that is not there is told as what it is', async () => {
    const error = await connectEngine({
      env: { ...server.env, DOCKER_HOST: 'ssh://far/nowhere/docker.sock' },
    }).catch((failure: UserError) => failure);
    expect(error).toMatchObject({ message: expect.stringMatching(/^No Docker engine answers on far \(/) });
    await waitFor('every ssh to end', () => server.clients().length === 0);
  });

  test('the command line grades over it and ends', async () => {
    ensureCli();
    const task = await lab.taskDir();
    const env = { ...server.env, DOCKER_HOST: 'ssh://far', E2E_SWE_HOME: lab.dir };
    expect(await runCli(['grade', task, '--solution'], env)).toMatchObject({ code: 0 });
    const listed = await runCli(['engines', '--json'], env);
    expect(JSON.parse(listed.stdout)[0]).toMatchObject({
      ...{ name: 'DOCKER_HOST', address: 'ssh://far', inUse: true },
      info: { product: expect.stringMatching(/Docker|Podman/), os: 'linux' },
    });
    await waitFor('every ssh to end', () => server.clients().length === 0);
  });
});

describe('an engine behind TLS', () => {
  let dir: string;
  let server: Server;
  let address: string;
  let lab: Lab;
  const at = (...names: string[]): string => path.join(dir, ...names);

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-tls-'));
    makeCertificates(dir);
    const socket = await engineSocket();
    if (!socket)
      throw new Error('These tests put TLS in front of a unix socket; the engine in use has none.');
    server = createServer(
      {
        ...{
          ca: readFileSync(at('ca.pem')),
          cert: readFileSync(at('server.pem')),
          key: readFileSync(at('server.key')),
        },
        ...{ requestCert: true, rejectUnauthorized: true, allowHalfOpen: true },
      },
      (client) => {
        const engine = connect({ path: socket, allowHalfOpen: true });
        client.pipe(engine).pipe(client);
        for (const one of [client, engine])
          one.on('error', () => [client, engine].map((each) => each.destroy()));
      },
    );
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    lab = await Lab.open(undefined, { ...process.env, ...asked() });
  });
  afterAll(async () => {
    await lab?.dispose();
    server?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const asked = (): NodeJS.ProcessEnv => ({
    ...{ DOCKER_HOST: address, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: at('client') },
  });
  const failure = async (env: NodeJS.ProcessEnv): Promise<string> => {
    const engine = await connectEngine({ env: { HOME: dir, ...env } }).catch((error: UserError) => error);
    return engine instanceof Error ? engine.message : 'it connected';
  };

  test('grades by DOCKER_TLS_VERIFY and DOCKER_CERT_PATH', async () => {
    const task = await lab.task();
    expect(await lab.grade(task, { kind: 'solution' })).toMatchObject({ verdict: 'resolved', reward: 1 });
    expect(await lab.ownContainers()).toEqual([]);
    await interactiveRoundTrip(lab.engine);
  });

  test("by the docker command's context, with its certificates", async () => {
    const id = createHash('sha256').update('behind-tls').digest('hex');
    const meta = {
      Name: 'behind-tls',
      Metadata: {},
      Endpoints: { docker: { Host: address, SkipTLSVerify: false } },
    };
    await mkdir(at('.docker/contexts/meta', id), { recursive: true });
    await mkdir(at('.docker/contexts/tls', id, 'docker'), { recursive: true });
    await writeFile(at('.docker/contexts/meta', id, 'meta.json'), JSON.stringify(meta));
    for (const name of ['ca.pem', 'cert.pem', 'key.pem'])
      await copyFile(at('client', name), at('.docker/contexts/tls', id, 'docker', name));
    // What the docker command itself makes of the folder.
    const env = {
      ...process.env,
      DOCKER_CONFIG: at('.docker'),
      DOCKER_HOST: '',
      DOCKER_CONTEXT: 'behind-tls',
    };
    await promisify(execFile)('docker', ['version'], { env });
    const engine = await connectEngine({ env: { HOME: dir, DOCKER_CONTEXT: 'behind-tls' } });
    expect((await engine.info()).address).toBe(address);
    engine.close();
    await writeFile(at('.docker/config.json'), JSON.stringify({ currentContext: 'behind-tls' }));
    const [first] = await listEngines({ env: { HOME: dir } });
    expect(first).toMatchObject({ name: 'Docker context "behind-tls"', inUse: true, info: { os: 'linux' } });
  });

  test('without TLS, without a certificate, or with another authority it is refused, with the reason', async () => {
    expect(await failure({ DOCKER_HOST: address })).toMatch(/TLS needs DOCKER_TLS_VERIFY|wants TLS/);
    expect(await failure({ ...asked(), DOCKER_CERT_PATH: at('nobody') })).toMatch(/TLS fails|hung up/);
    expect(await failure({ ...asked(), DOCKER_CERT_PATH: at('stranger') })).toMatch(
      /TLS fails: .*certificate/,
    );
  });

  test('DOCKER_TLS alone does not check who answers', async () => {
    const env = { ...asked(), DOCKER_TLS_VERIFY: '', DOCKER_TLS: '1', DOCKER_CERT_PATH: at('stranger-ca') };
    const engine = await connectEngine({ env: { HOME: dir, ...env } });
    engine.close();
  });
});

/** An authority with a server and a client, and another one, as the docker command wants the files named. */
function makeCertificates(dir: string): void {
  const script = `set -e; cd "$0"
authority() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" -keyout $2.key -out $2.pem; }
sign() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout $2.key -out $2.csr
  printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' > $2.ext
  openssl x509 -req -in $2.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $2.ext -out $2.pem; }
authority engines ca; authority strangers other; sign 127.0.0.1 server; sign someone client
mkdir -p client nobody stranger stranger-ca
cp ca.pem client/ca.pem; cp client.pem client/cert.pem; cp client.key client/key.pem
cp ca.pem nobody/ca.pem; cp other.pem stranger/ca.pem
cp other.pem stranger-ca/ca.pem; cp client.pem stranger-ca/cert.pem; cp client.key stranger-ca/key.pem`;
  execFileSync('sh', ['-c', script, dir], { stdio: 'pipe' });
}
