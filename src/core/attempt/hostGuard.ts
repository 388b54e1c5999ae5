import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { errorCode } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { isDeadOwner, ownerOf } from '#core/container/labels.ts';
import { type RecordEvent, recordEvent } from './recordEvents.ts';

/** The owner gives a sign of life this often. */
export const beatMs = 1_000;
/** A guard that was not stopped ends by itself within this time, once its owner is dead. */
const guardDeadlineMs = 10_000;

/** guard.json: the guard of an attempt; at most one. */
const guardFile = z.object({ host: z.string(), pid: z.number(), startTime: z.string() });

export function guardFileOf(dir: string): string {
  return path.join(dir, 'guard.json');
}

/** What a guard did, until the record takes it up: two processes never write one record. */
export function guardEventsOf(dir: string): string {
  return path.join(dir, 'guard.jsonl');
}

export interface GuardOptions {
  /** The attempt's folder. */
  readonly dir: string;
  readonly attemptId: string;
  /** dist/guard.cjs */
  readonly script: string;
  /** Where the engine is, as DOCKER_HOST has it. */
  readonly dockerHost: string;
  readonly log: Log;
  /** It ended by itself: it froze the container, or was killed. */
  readonly onEnd: () => void;
}

/**
 * A small process of its own that freezes the container once this one dies or hangs: it reads our signs of life from a
 * pipe, which a killed process closes. It outlives us, and ends by itself.
 */
export class HostGuard {
  readonly #child: ChildProcess;
  readonly #dir: string;
  readonly #ended: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;

  private constructor(child: ChildProcess, options: GuardOptions) {
    this.#child = child;
    this.#dir = options.dir;
    child.stdin?.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => resolve()).once('error', () => resolve());
    });
    void this.#ended.then(() => {
      clearInterval(this.#timer);
      if (!this.#isStopped) options.onEnd();
    });
    this.#timer = setInterval(() => child.stdin?.write('.'), beatMs).unref();
  }

  /** Errors: what the system says when no process can be started. */
  static async start(options: GuardOptions): Promise<HostGuard> {
    await guardGone(options.dir);
    const { script, dir, attemptId, dockerHost } = options;
    const child = spawn(process.execPath, [script, dir, attemptId, String(process.pid)], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      // In the desktop editor this program is Electron.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', DOCKER_HOST: dockerHost },
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve).once('error', reject);
    });
    const guard = new HostGuard(child, options);
    child.unref();
    (child.stdin as unknown as { unref?: () => void }).unref?.();
    await writeFile(guardFileOf(dir), `${JSON.stringify(ownerOf(child.pid ?? 0))}\n`, { mode: 0o600 });
    return guard;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The container is frozen or ended. Never throws. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    // From here on this process waits for it.
    this.#child.ref();
    this.#child.stdin?.end('q');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), guardDeadlineMs);
    await this.#ended;
    clearTimeout(late);
    await rm(guardFileOf(this.#dir), { force: true }).catch(() => undefined);
  }
}

/** Waits until the guard of a dead process has done its work; one that hangs is ended. */
export async function guardGone(dir: string): Promise<void> {
  const until = Date.now() + guardDeadlineMs;
  for (;;) {
    const guard = await readGuard(dir);
    if (!guard || isDeadOwner(guard)) break;
    if (Date.now() > until) {
      process.kill(guard.pid, 'SIGKILL');
      break;
    }
    await delay(50);
  }
  await rm(guardFileOf(dir), { force: true });
}

async function readGuard(dir: string) {
  try {
    return guardFile.safeParse(JSON.parse(await readFile(guardFileOf(dir), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Hands over what guards did, then forgets it. The caller has the attempt's lock. */
export async function takeUpGuardEvents(
  dir: string,
  take: (events: readonly RecordEvent[]) => Promise<void>,
): Promise<void> {
  await guardGone(dir);
  let text: string;
  try {
    text = await readFile(guardEventsOf(dir), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const events = text.split('\n').flatMap((line) => {
    try {
      return [recordEvent.parse(JSON.parse(line))];
    } catch {
      return [];
    }
  });
  await take(events);
  await rm(guardEventsOf(dir), { force: true });
}
