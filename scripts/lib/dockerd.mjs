import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootPrefix, runAsRoot } from './apt.mjs';
import { PlainError, say } from './log.mjs';
import { cacheDir, which } from './paths.mjs';
import { capture, isAlive, signal, waitUntil } from './run.mjs';

const STOP_MS = 20_000;

/** Extra arguments for a dockerd of ours (E2E_SWE_DOCKERD_ARGS, separated by blanks), e.g. another data root. */
const extraArgs = (env = process.env) => (env.E2E_SWE_DOCKERD_ARGS ?? '').split(/\s+/).filter(Boolean);

/** True where dockerd is to be started by hand even where systemd runs. */
export const hasExtraArgs = () => extraArgs().length > 0;

function option(name, fallback) {
  const args = extraArgs();
  const joined = args.find((arg) => arg.startsWith(`--${name}=`));
  if (joined) return joined.slice(name.length + 3);
  const index = args.indexOf(`--${name}`);
  return index >= 0 ? (args[index + 1] ?? fallback) : fallback;
}

const pidFiles = () => ({
  dockerd: option('pidfile', '/var/run/docker.pid'),
  containerd: join(option('exec-root', '/var/run/docker'), 'containerd/containerd.pid'),
});

/** The command name of a process ("dockerd"), or undefined. */
function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** The process that a pid file names, if it still is the program that wrote it. */
function runningPid(program, file) {
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8'));
  return commandOf(pid) === program ? pid : undefined;
}

/** A pid file left by a daemon that was killed keeps the next one from starting. */
async function removeStalePidFiles() {
  for (const [program, file] of Object.entries(pidFiles())) {
    if (existsSync(file) && !runningPid(program, file)) await runAsRoot(['rm', '-f', file]);
  }
}

/** The shell command that starts dockerd in a session of its own and prints its pid. */
export function startCommand(logFile) {
  const program = which('dockerd') ?? 'dockerd';
  const group = rootPrefix()?.length ? [`--group=${process.getgid()}`] : [];
  const quote = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return `setsid ${[program, ...group, ...extraArgs()].map(quote).join(' ')} >${quote(logFile)} 2>&1 </dev/null & echo $!`;
}

/** Where the output of a dockerd of ours goes. */
export const dockerdLog = () => join(cacheDir(), 'dockerd.log');

function lastLines(file, count = 15) {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '(no log)';
  }
}

/**
 * Starts dockerd and waits until it answers.
 *
 * @param {() => Promise<boolean>} answers
 * @returns {Promise<() => Promise<void>>} stops it, with the containerd that it started.
 */
export async function startDockerd(answers, waitMs = 60_000) {
  const logFile = dockerdLog();
  mkdirSync(cacheDir(), { recursive: true });
  await removeStalePidFiles();
  const prefix = rootPrefix() ?? [];
  if (prefix.length > 0) await runAsRoot(['true']); // sudo asks here, on the terminal.
  const [shell, ...args] = [...prefix, 'sh', '-c', startCommand(logFile)];
  const { stdout, stderr } = await capture(shell, args);
  const pid = Number(stdout.trim());
  if (!pid) throw new PlainError(`dockerd could not be started: ${stderr.trim()}`);
  let up = false;
  const settled = await waitUntil(async () => {
    up = await answers();
    return up || !isAlive(pid);
  }, waitMs);
  const stop = () => stopDockerd(pid);
  if (up) return stop;
  await stop();
  const why = settled ? 'ended at once' : `did not answer within ${waitMs / 1000} s`;
  throw new PlainError(`dockerd ${why}. The end of its log (${logFile}):\n${lastLines(logFile)}`);
}

async function send(pid, name) {
  if (process.getuid?.() === 0) signal(pid, name);
  else await capture('sudo', ['-n', 'kill', `-${name.replace('SIG', '')}`, String(pid)]);
}

async function stopDockerd(pid) {
  const containerd = runningPid('containerd', pidFiles().containerd);
  const left = () => [pid, containerd].filter((one) => one && isAlive(one));
  if (isAlive(pid)) await send(pid, 'SIGTERM');
  if (!(await waitUntil(() => left().length === 0, STOP_MS))) {
    for (const one of left()) await send(one, 'SIGKILL');
    await waitUntil(() => left().length === 0, 5_000);
  }
  if (left().length > 0)
    say(`The Docker engine started by this run could not be stopped (pid ${left().join(', ')}).`);
}
