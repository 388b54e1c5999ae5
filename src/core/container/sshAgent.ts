import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { UserError } from '#core/base/errors.ts';
import type { SshTarget } from './endpoint.ts';

/** Seconds that ssh gives a host to answer. */
const connectSeconds = 10;
/** How long a connection that nobody uses stays open: the next one costs a whole log-in. */
const idleMs = 60_000;
/** How long ssh may take to end when it is told to. */
const endMs = 2_000;
/** What is kept of ssh's messages. */
const keptChars = 4_096;

/**
 * Connections to an engine on another machine: each is the system's own ssh with the user's keys and configuration,
 * and over there `docker system dial-stdio`, as the docker command does it. Every ssh ends with its connection;
 * `destroy` ends all.
 */
export class SshAgent extends Agent {
  readonly #target: SshTarget;
  readonly #env: NodeJS.ProcessEnv;
  readonly #open = new Set<SshConnection>();

  constructor(target: SshTarget, env: NodeJS.ProcessEnv) {
    super({ keepAlive: true, scheduling: 'lifo' });
    this.#target = target;
    this.#env = env;
  }

  /** To the same engine, without a connection. */
  another(): SshAgent {
    return new SshAgent(this.#target, this.#env);
  }

  override createConnection(): Duplex {
    const connection = new SshConnection(this.#target, this.#env);
    this.#open.add(connection);
    connection.once('close', () => this.#open.delete(connection));
    return connection;
  }

  override destroy(): void {
    super.destroy();
    for (const connection of this.#open) connection.destroy();
  }
}

/** The words of an ssh command line for a target. */
export function sshArguments({ user, host, port, socket }: SshTarget): string[] {
  return [
    ...['-o', 'BatchMode=yes', '-o', `ConnectTimeout=${connectSeconds}`, '-T'],
    ...(user ? ['-l', user] : []),
    ...(port ? ['-p', port] : []),
    ...['--', host, 'docker'],
    ...(socket ? ['--host', shellWord(`unix://${socket}`)] : []),
    ...['system', 'dial-stdio'],
  ];
}

/** The other side's shell reads the words again. */
function shellWord(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** One ssh as a socket. Fails with the `UserError` of what ssh said when it ends before the engine has said anything. */
class SshConnection extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;
  #said = '';
  #answered = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(target: SshTarget, env: NodeJS.ProcessEnv) {
    super({ allowHalfOpen: false });
    const child = spawn('ssh', sshArguments(target), {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      this.#answered = true;
      if (!this.push(chunk)) child.stdout.pause();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-keptChars);
    });
    // A write to an ssh that has ended: its end says why.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => this.destroy(sshFailure(target, this.#said || error.message, null)));
    child.on('close', (code) => {
      if (this.#answered || code === 0) this.push(null);
      else this.destroy(sshFailure(target, this.#said, code));
    });
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    // Its failure is the end of ssh, which is told with its reason.
    this.#child.stdin.write(chunk, () => done());
  }

  override _final(done: () => void): void {
    this.#child.stdin.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle);
    const child = this.#child;
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    if (child.exitCode === null && child.signalCode === null && child.kill()) {
      const force = setTimeout(() => child.kill('SIGKILL'), endMs);
      child.once('exit', () => clearTimeout(force));
    }
    done(error);
  }

  /** The agent lets go of it: unused it ends after a while, and holds up no process that has nothing else to do. */
  unref(): this {
    this.#idle = setTimeout(() => this.destroy(), idleMs).unref();
    for (const part of this.#parts()) part.unref();
    return this;
  }

  /** The agent takes it for the next call. */
  ref(): this {
    clearTimeout(this.#idle);
    for (const part of this.#parts()) part.ref();
    return this;
  }

  #parts(): { ref(): unknown; unref(): unknown }[] {
    const { stdin, stdout, stderr } = this.#child;
    return [this.#child, ...([stdin, stdout, stderr] as unknown as Socket[])];
  }

  // More of a socket that Node's client calls.
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
}

/** What ssh, or the docker command over there, said, as one sentence with its next step. */
export function sshFailure(target: SshTarget, said: string, code: number | null): UserError {
  const { host, user, port } = target;
  const login = ['ssh', ...(port ? ['-p', port] : []), user ? `${user}@${host}` : host].join(' ');
  const lines = said.trim().split(/\r?\n/).filter(Boolean);
  const last = lines.at(-1)?.replace(/\.$/, '') ?? `it ended with code ${code}`;
  const error = (what: string, nextStep: string): UserError =>
    new UserError(`${what} (${last}).`, { nextStep });
  if (/ENOENT/.test(said) && code === null)
    return error(
      'There is no ssh command on this machine',
      'Install an OpenSSH client, or use a tcp:// address.',
    );
  if (/Host key verification failed|IDENTIFICATION HAS CHANGED/i.test(said))
    return error(
      `ssh does not trust the key of ${host}`,
      `Run "${login}" in a terminal, compare the key that it shows and accept it.`,
    );
  if (/permission denied.*docker|permission denied.*socket/i.test(said))
    return error(
      `The user on ${host} may not use its Docker engine`,
      'Add that user to the "docker" group over there.',
    );
  if (/Permission denied|Too many authentication failures/i.test(said))
    return error(
      `${host} refuses the log-in by ssh`,
      `Make "${login}" work without a password: with a key in the agent or in ~/.ssh/config.`,
    );
  if (code === 127 || /docker.*not found/i.test(said))
    return error(
      `There is no docker command on ${host}`,
      `Install Docker there, so that "${login} docker version" answers.`,
    );
  if (/Could not resolve|Connection refused|timed out|No route|unreachable/i.test(said))
    return error(`ssh does not reach ${host}`, `See that "${login}" connects, then try again.`);
  if (/Cannot connect to the Docker daemon|docker daemon|dial unix/i.test(said))
    return error(`No Docker engine answers on ${host}`, 'Start Docker over there, then try again.');
  return error(`ssh to ${host} failed`, `See that "${login} docker version" answers.`);
}
