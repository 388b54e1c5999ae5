import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import path from 'node:path';
import { repository, waitFor } from './support.ts';

/** Debian's OpenSSH server (`npm test` unpacks it); tests that need it are skipped where there is none. */
const program = process.env.E2E_SWE_SSHD ?? '/usr/sbin/sshd';
export const hasSshServer = existsSync(program) && spawnSync('ssh', ['-V']).status === 0;

export interface SshServer {
  /** What a user's environment is, in which `ssh far` logs in to this very machine, by a key. */
  readonly env: NodeJS.ProcessEnv;
  /** The command lines of what runs of `ssh far` now. */
  clients(): string[];
  stop(): Promise<void>;
}

/** An ssh server of its own port, host key and one authorized key, all in a folder. */
export async function startSshServer(dir: string): Promise<SshServer> {
  await mkdir(path.join(dir, 'bin'), { recursive: true });
  await chmod(dir, 0o700);
  const at = (name: string): string => path.join(dir, name);
  for (const key of ['host_key', 'user_key'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  await copyFile(at('user_key.pub'), at('authorized_keys'));
  const port = await freePort();
  const environment = [`PATH=${process.env.PATH}`, `DOCKER_HOST=${process.env.DOCKER_HOST ?? ''}`];
  await writeFile(
    at('sshd_config'),
    `ListenAddress 127.0.0.1
Port ${port}
HostKey ${at('host_key')}
AuthorizedKeysFile ${at('authorized_keys')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv ${environment.map((pair) => `"${pair}"`).join(' ')}
`,
  );
  await writeFile(at('known_hosts'), `[127.0.0.1]:${port} ${await readFile(at('host_key.pub'), 'utf8')}`);
  await writeFile(
    at('ssh_config'),
    `Host far
  HostName 127.0.0.1
  Port ${port}
  User ${userInfo().username}
  IdentityFile ${at('user_key')}
  IdentitiesOnly yes
  UserKnownHostsFile ${at('known_hosts')}
  GlobalKnownHostsFile /dev/null
`,
  );
  // As a user's own ~/.ssh/config would be read.
  const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  await writeFile(at('bin/ssh'), `#!/bin/sh\nexec ${ssh} -F ${at('ssh_config')} "$@"\n`);
  await chmod(at('bin/ssh'), 0o755);

  const server = await startDaemon(dir);
  await waitFor('sshd', () => listens(port));
  return {
    env: { ...process.env, PATH: `${at('bin')}:${process.env.PATH}` },
    clients: () => commandLines().filter((line) => line.includes(`-F ${at('ssh_config')} `)),
    async stop() {
      server.child.kill();
      await server.gone;
    },
  };
}

/** Root's sshd wants a folder and a user of its own, which a machine without the package lacks: it gets them alone. */
async function startDaemon(dir: string): Promise<{ child: ChildProcess; gone: Promise<unknown> }> {
  const arguments_ = ['-D', '-e', '-f', path.join(dir, 'sshd_config')];
  const libraries = path.resolve(
    program,
    '../../lib',
    `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`,
  );
  const env = { ...process.env, ...(program.startsWith('/usr/') ? {} : { LD_LIBRARY_PATH: libraries }) };
  const options = { cwd: repository, env, stdio: 'ignore' as const };
  if (process.getuid?.() !== 0) {
    const child = spawn(program, arguments_, options);
    return { child, gone: once(child, 'exit') };
  }
  const users = await readFile('/etc/passwd', 'utf8');
  const passwd = path.join(dir, 'passwd');
  const own = /^sshd:/m.test(users) ? '' : 'sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n';
  await writeFile(passwd, users + own);
  const made = !existsSync('/run/sshd');
  if (made) await mkdir('/run/sshd', { mode: 0o755 });
  const child = spawn(
    'unshare',
    ['-m', 'sh', '-c', 'mount --bind "$0" /etc/passwd && exec "$@"', passwd, program, ...arguments_],
    options,
  );
  const gone = once(child, 'exit').then(() => (made ? rmdir('/run/sshd') : undefined));
  return { child, gone };
}

function commandLines(): string[] {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (typeof address !== 'object' || !address) throw new Error('There is no free port.');
  return address.port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('close', () => socket.destroy());
    socket.on('connect', () => socket.end());
  });
}
