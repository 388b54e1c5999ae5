import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Docker from 'dockerode';
import { afterEach, expect, test, vi } from 'vitest';
import { guardAnswers } from '#core/container/answerGuard.ts';
import { connectEngine } from '#core/container/connect.ts';

const servers: Server[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function client(port: number): Docker {
  return guardAnswers(new Docker({ host: '127.0.0.1', port, protocol: 'http' }));
}

function cutShort(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Length': 500 }).write('{"half":');
  setTimeout(() => response.destroy(), 20);
}

test('JSON, an error with its status and message, and text come as they did', async () => {
  const port = await serve((request, response) => {
    if (request.url === '/info') response.end('{"NCPU":2}');
    else if (request.url === '/_ping') response.end('OK');
    else response.writeHead(404).end('{"message":"no such thing"}');
  });
  const docker = client(port);
  expect(await docker.info()).toEqual({ NCPU: 2 });
  expect(String(await docker.ping())).toBe('OK');
  await expect(docker.getContainer('x').inspect()).rejects.toMatchObject({
    statusCode: 404,
    message: expect.stringContaining('no such thing'),
  });
});

test('an answer that is cut short is an error, not a wait without end', async () => {
  const docker = client(await serve(cutShort));
  await expect(docker.info()).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('an engine that goes away in its first answer does not answer', async () => {
  const port = await serve(cutShort);
  await expect(connectEngine({ dockerHost: `tcp://127.0.0.1:${port}`, env: {} })).rejects.toThrow(
    /does not answer: tcp/,
  );
});

test('an engine that takes a call and says nothing is given up', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let heard: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const port = await serve(() => heard());
  const answer = expect(client(port).info()).rejects.toMatchObject({
    code: 'ETIMEDOUT',
    message: 'no answer within 15 s',
  });
  await asked;
  await vi.advanceTimersByTimeAsync(15_000);
  await answer;
});

test('a cancellation ends the wait at once', async () => {
  const stop = new AbortController();
  const port = await serve(() => stop.abort());
  const options: object = { abortSignal: stop.signal };
  await expect(client(port).ping(options as never)).rejects.toMatchObject({ name: 'AbortError' });
  // dockerode drops the signal of this one.
  const again = new AbortController();
  const image = client(await serve(() => again.abort())).getImage('x');
  await expect(image.inspect({ abortSignal: again.signal } as never)).rejects.toMatchObject({
    name: 'AbortError',
  });
});

test('what answers with something else is no engine', async () => {
  const port = await serve((request, response) => {
    response.end(request.url === '/_ping' ? 'OK' : 'not json');
  });
  const engine = await connectEngine({ dockerHost: `tcp://127.0.0.1:${port}`, env: {} });
  await expect(engine.info()).rejects.toThrow(/is no Docker engine/);
});
