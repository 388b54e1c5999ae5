import { spawn } from 'node:child_process';
import { isStopping, onCleanup, onExit } from './cleanup.mjs';
import { PlainError } from './log.mjs';
import { ROOT } from './paths.mjs';

/** True while a process (or with a negative number: any process of that group) exists. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Sends a signal; a process or group that is gone already is fine. */
export function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Polls until the condition holds; false when it does not within the time. */
export async function waitUntil(condition, timeoutMs, everyMs = 100) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (Date.now() > deadline) return false;
    await sleep(everyMs);
  }
}

const ended = (child) =>
  new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, name) => done({ code: code ?? 1, signal: name ?? undefined }));
  });

/** After a signal the main flow must not go on to its next step: it is parked until the process exits. */
async function parkIfStopping(result) {
  if (isStopping()) await new Promise(() => {});
  return result;
}

/**
 * Starts a command as its own process group, which is killed at the latest when this process ends.
 * `stop()` asks the whole group to end, gives it time to clean up, and then makes it.
 */
export function startGroup(command, args, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', ...options, detached: true });
  const killAll = () => child.pid && signal(-child.pid, 'SIGKILL');
  const forget = onExit(killAll);
  let asked = false;
  const done = ended(child).finally(() => {
    if (asked) return;
    killAll();
    forget();
  });
  done.catch(() => {});
  const stop = async (graceMs = 8_000) => {
    asked = true;
    if (child.pid && isAlive(-child.pid)) {
      signal(-child.pid, 'SIGTERM');
      await waitUntil(() => !isAlive(-child.pid), graceMs);
    }
    killAll();
    forget();
  };
  return { child, done, stop };
}

/** Runs a command as a process group of its own to its end; Ctrl-C stops the whole group. */
export async function runGroup(command, args, options = {}) {
  const group = startGroup(command, args, options);
  const settle = onCleanup(command, () => group.stop());
  try {
    return await parkIfStopping(await group.done);
  } finally {
    if (!isStopping()) await settle();
  }
}

/** Runs a command in this process's own group (so that sudo can ask on the terminal) and fails unless it exits 0. */
export async function runOrFail(command, args, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['inherit', 'inherit', 'inherit'], ...options });
  const { code, signal: name } = await parkIfStopping(await ended(child));
  if (code !== 0)
    throw new PlainError(`"${[command, ...args].join(' ')}" failed (${name ?? `exit code ${code}`}).`);
}

/** Runs a command and returns its exit code and what it printed. */
export async function capture(command, args, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const { code } = await parkIfStopping(await ended(child));
  return { code, stdout, stderr };
}
