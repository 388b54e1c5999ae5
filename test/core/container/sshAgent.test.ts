import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { connectEngine } from '#core/container/connect.ts';
import { sshArguments } from '#core/container/sshAgent.ts';
import { tempFolder } from './tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
let server: Server | undefined;
beforeEach(async () => {
  temp = await tempFolder();
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  await temp.remove();
});

/** A command `ssh` that notes its pid and arguments, then does what the script says. */
async function fakeSsh(script: string): Promise<NodeJS.ProcessEnv> {
  const file = path.join(temp.dir, 'ssh');
  await writeFile(file, `#!/bin/sh\necho $$ >> ${temp.dir}/pids\necho "$@" >> ${temp.dir}/args\n${script}\n`);
  await chmod(file, 0o755);
  return { PATH: `${temp.dir}:${process.env.PATH}`, HOME: temp.dir };
}

/** One that leads to a server on this machine, as `docker system dial-stdio` would. */
async function leadingSsh(listener: Parameters<typeof createServer>[1]): Promise<NodeJS.ProcessEnv> {
  const socket = path.join(temp.dir, 'engine.sock');
  server = createServer(listener as never);
  await new Promise<void>((resolve) => server?.listen(socket, resolve));
  const pipe = `const s=require('net').connect(${JSON.stringify(socket)});process.stdin.pipe(s);s.pipe(process.stdout)`;
  return fakeSsh(`exec "${process.execPath}" -e '${pipe.replaceAll("'", "'\\''")}'`);
}

async function pids(): Promise<number[]> {
  return (await readFile(path.join(temp.dir, 'pids'), 'utf8')).trim().split('\n').map(Number);
}

async function allEnded(): Promise<boolean> {
  const alive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  for (let attempt = 0; attempt < 100; attempt++) {
    if (!(await pids()).some(alive)) return true;
    await delay(50);
  }
  return false;
}

test.each<[Parameters<typeof sshArguments>[0], string]>([
  [{ host: 'h' }, '-o BatchMode=yes -o ConnectTimeout=10 -T -- h docker system dial-stdio'],
  [
    { host: 'h', user: 'me', port: '22', socket: '/run/d.sock' },
    '-o BatchMode=yes -o ConnectTimeout=10 -T -l me -p 22 -- h docker --host unix:///run/d.sock system dial-stdio',
  ],
  [
    { host: 'h', socket: "/run/it's mine" },
    "-o BatchMode=yes -o ConnectTimeout=10 -T -- h docker --host 'unix:///run/it'\\''s mine' system dial-stdio",
  ],
])('%j', (target, words) => {
  expect(sshArguments(target).join(' ')).toBe(words);
});

test('a connection serves many calls, and its ssh ends with the engine', async () => {
  const env = await leadingSsh((request, response) => {
    if (request.url?.startsWith('/_ping')) response.end('OK');
    else if (request.url?.startsWith('/info')) response.end('{"NCPU":2,"MemTotal":1}');
    else response.end('{"Version":"1","Os":"linux","Arch":"amd64"}');
  });
  const engine = await connectEngine({ dockerHost: 'ssh://me@far:2222/run/d.sock', env });
  await engine.info();
  expect((await pids()).length).toBeLessThanOrEqual(2);
  expect(await readFile(path.join(temp.dir, 'args'), 'utf8')).toContain('-l me -p 2222 -- far docker --host');
  engine.close();
  expect(await allEnded()).toBe(true);
});

test('an engine that goes away is lost, its ssh ends, and the next call says what ssh says', async () => {
  let calls = 0;
  const env = await leadingSsh((request, response) => {
    if (calls++ === 0) response.end('OK');
    else request.socket.destroy();
  });
  const engine = await connectEngine({ dockerHost: 'ssh://far', env });
  await expect(engine.listContainers('x')).rejects.toMatchObject({ failure: 'lost' });
  await fakeSsh('echo "ssh: connect to host far port 22: Connection refused" >&2; exit 255');
  await expect(engine.listContainers('x')).rejects.toMatchObject({
    failure: 'unreachable',
    message: expect.stringContaining('ssh does not reach far'),
  });
  engine.close();
  expect(await allEnded()).toBe(true);
});

describe('what goes wrong is one sentence, with what to do', () => {
  test.each<[string, string, RegExp, RegExp]>([
    [
      'a refused key',
      'echo "me@far: Permission denied (publickey)." >&2; exit 255',
      /^far refuses the log-in by ssh \(me@far: Permission denied \(publickey\)\)\.$/,
      /"ssh me@far" work without a password/,
    ],
    [
      'a host that is not known',
      'echo "Host key verification failed." >&2; exit 255',
      /^ssh does not trust the key of far/,
      /accept it/,
    ],
    [
      'a name that is nowhere',
      'echo "ssh: Could not resolve hostname far: Name or service not known" >&2; exit 255',
      /^ssh does not reach far/,
      /connects/,
    ],
    [
      'no docker over there',
      'echo "sh: 1: docker: not found" >&2; exit 127',
      /no docker command on far/,
      /Install Docker/,
    ],
    [
      'no engine over there',
      'echo "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?" >&2; exit 1',
      /No Docker engine answers on far/,
      /Start Docker over there/,
    ],
    [
      'no permission over there',
      'echo "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock" >&2; exit 1',
      /may not use its Docker engine/,
      /"docker" group/,
    ],
    [
      'something else',
      'echo "kex_exchange_identification: banner" >&2; exit 255',
      /ssh to far failed \(kex_/,
      /answers/,
    ],
    ['nothing said', 'exit 3', /ssh to far failed \(it ended with code 3\)/, /answers/],
  ])('%s', async (_, script, says, next) => {
    const env = await fakeSsh(`cat >/dev/null & ${script}`);
    const error = await connectEngine({ dockerHost: 'ssh://me@far', env }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(says);
    expect((error as UserError).nextStep).toMatch(next);
    expect(await allEnded()).toBe(true);
  });

  test('no ssh on this machine', async () => {
    const env = { PATH: temp.dir, HOME: temp.dir };
    const error = await connectEngine({ dockerHost: 'ssh://far', env }).catch((e: unknown) => e);
    expect((error as UserError).message).toContain('There is no ssh command on this machine');
  });

  test('words in front of the engine (a banner of the shell) are no engine, and its ssh ends', async () => {
    const env = await fakeSsh('echo "Welcome to far!"; sleep 60');
    await expect(connectEngine({ dockerHost: 'ssh://far', env })).rejects.toThrow('ssh://far');
    expect(await allEnded()).toBe(true);
  });
});
