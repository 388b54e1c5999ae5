import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { connectEngine, listEngines } from '#core/container/connect.ts';
import { tempFolder } from './tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
const servers: Server[] = [];
beforeEach(async () => {
  temp = await tempFolder();
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await temp.remove();
});

/** A server that answers every request the same way; its address as DOCKER_HOST writes it. */
async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failure(dockerHost: string): Promise<UserError> {
  const error = await connectEngine({ dockerHost, env: { HOME: temp.dir } }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(UserError);
  return error as UserError;
}

test('an engine that answers is taken', async () => {
  const engine = await connectEngine({ env: {}, dockerHost: await answering(200, 'OK') });
  engine.close();
});

test('the sentence says what was tried, why it failed, and what to do', async () => {
  const missing = `unix://${path.join(temp.dir, 'none.sock')}`;
  const { message, nextStep } = await failure(missing);
  expect(message).toBe(
    `The container engine of setting e2eSwe.dockerHost does not answer: ${missing} (no such socket).`,
  );
  expect(nextStep).toMatch(/^Start it, or choose another engine/);
});

test('a file that is no socket, a port where nothing listens, and a server that is no engine', async () => {
  const file = path.join(temp.dir, 'file');
  await writeFile(file, '');
  expect((await failure(`unix://${file}`)).message).toContain('(nothing listens there)');
  expect((await failure(await answering(200, 'hello'))).message).toContain('no Docker engine');
  expect((await failure(await answering(500, 'no'))).message).toContain('500');
  const unused = createServer().listen(0, '127.0.0.1');
  await once(unused, 'listening');
  const { port } = unused.address() as AddressInfo;
  await new Promise((resolve) => unused.close(resolve));
  expect((await failure(`tcp://127.0.0.1:${port}`)).message).toContain('(connection refused)');
});

test.skipIf(process.getuid?.() !== 0)('a socket that we may not use: what to do is another', async () => {
  const server = createServer((_, response) => response.end('OK'));
  servers.push(server);
  const socket = path.join(temp.dir, 's');
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  await chmod(temp.dir, 0o755);
  await chmod(socket, 0o600);
  process.seteuid?.(65_534);
  try {
    const { message, nextStep } = await failure(`unix://${socket}`);
    expect(message).toContain('(permission denied)');
    expect(nextStep).toMatch(/"docker" group/);
  } finally {
    process.seteuid?.(0);
  }
});

test('all the usual places are tried and named', async () => {
  const env = { HOME: temp.dir, XDG_RUNTIME_DIR: temp.dir };
  const error = await connectEngine({ env, dockerHost: '' }).catch((e: unknown) => e);
  // A machine with an engine at its usual place answers; then there is nothing to name.
  if (error instanceof UserError) expect(error.message).toContain(`${temp.dir}/podman/podman.sock`);
  else expect(error).toHaveProperty('info');
});

test('what was chosen is never replaced by an engine that answers elsewhere', async () => {
  const rootless = path.join(temp.dir, 'docker.sock');
  const server = createServer((_, response) => response.end('OK'));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(rootless, resolve));
  const missing = `unix://${path.join(temp.dir, 'none.sock')}`;
  const env = { HOME: temp.dir, XDG_RUNTIME_DIR: temp.dir };
  await expect(connectEngine({ env: { ...env, DOCKER_HOST: missing } })).rejects.toThrow(
    `The container engine of DOCKER_HOST does not answer: ${missing}`,
  );
  await expect(connectEngine({ env: { ...env, DOCKER_CONTEXT: 'gone' } })).rejects.toThrow(
    'has no context "gone"',
  );
});

test("the process's own DOCKER_HOST does not win over what we were told", async () => {
  const address = await answering(200, 'OK');
  const before = process.env.DOCKER_HOST;
  process.env.DOCKER_HOST = 'tcp://127.0.0.1:1';
  try {
    const socket = path.join(temp.dir, 'own.sock');
    const server = createServer((_, response) => response.end('OK'));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    for (const dockerHost of [address, `unix://${socket}`])
      (await connectEngine({ env: {}, dockerHost })).close();
    expect(process.env.DOCKER_HOST).toBe('tcp://127.0.0.1:1');
  } finally {
    if (before === undefined) delete process.env.DOCKER_HOST;
    else process.env.DOCKER_HOST = before;
  }
});

test('the list has every place, what answered there or why nothing did, and what is in use', async () => {
  const address = await answering(200, 'OK');
  const missing = `unix://${path.join(temp.dir, 'none.sock')}`;
  const env = { HOME: temp.dir, DOCKER_HOST: missing };
  const [setting, variable, ...usual] = await listEngines({ env, dockerHost: address });
  expect(setting).toMatchObject({ name: 'setting e2eSwe.dockerHost', address, inUse: true });
  expect(setting?.problem).toContain('no Docker engine');
  expect(variable).toMatchObject({ name: 'DOCKER_HOST', inUse: false, problem: 'no such socket' });
  expect(usual.length).toBeGreaterThan(3);
  expect(usual.every(({ inUse }) => !inUse)).toBe(true);
});
