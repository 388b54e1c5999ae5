import { setTimeout as delay } from 'node:timers/promises';
import { statusCode } from './dockerErrors.ts';

/** What tells whether an exec's process is there: the parts of the engine's answer about it. */
export interface StartingExec {
  readonly id: string;
  inspect(): Promise<{ readonly Running: boolean; readonly ExitCode: number | null; readonly Pid: number }>;
}

/** How long a process may take from its accepted start to being there, on a machine that is busy. */
const startMs = 30_000;
const pollMs = 25;

/** The same where the request was given up: it may never have reached the engine. */
const doubtfulMs = 3_000;

/** Until when each start of a container may still be under way, from the moment that a freeze asks. */
const starting = new Map<string, Map<StartingExec, number>>();
const freezing = new Map<string, Promise<unknown>>();

/**
 * Keeps starts of processes and the freezing of their container apart, in this process. One that is just being started
 * when its container is frozen stays half born, and dockerd (20.10) then answers nothing more about that container, not
 * even a thaw. The engine accepts a start before the process is there, so its pid is asked for.
 */
export async function startExec<T>(
  container: string,
  execution: StartingExec,
  start: () => Promise<T>,
): Promise<T> {
  while (freezing.has(container)) await freezing.get(container);
  const known = starting.get(container) ?? new Map<StartingExec, number>();
  starting.set(container, known.set(execution, startMs));
  try {
    // Whether it is there is asked only when somebody wants to freeze: most containers never are.
    return await start();
  } catch (error) {
    // Refused is over; a request that was given up may still become a process.
    if (statusCode(error) !== undefined) forget(container, execution);
    else known.set(execution, doubtfulMs);
    throw error;
  }
}

/** The process of an exec has ended; nothing waits for it any more. */
export function forget(container: string, execution: StartingExec): void {
  const known = starting.get(container);
  known?.delete(execution);
  if (known?.size === 0) starting.delete(container);
}

/** The container is gone. */
export function forgetContainer(container: string): void {
  starting.delete(container);
}

/** Freezes a container once no process is being started in it; none is until that is over. */
export async function freezeApart(container: string, freeze: () => Promise<void>): Promise<void> {
  while (freezing.has(container)) await freezing.get(container);
  const work = (async () => {
    await Promise.all(
      [...(starting.get(container) ?? [])].map(([execution, ms]) => untilThere(container, execution, ms)),
    );
    await freeze();
  })();
  const settled = work.catch(() => undefined);
  freezing.set(container, settled);
  try {
    await work;
  } finally {
    freezing.delete(container);
  }
}

async function untilThere(container: string, execution: StartingExec, ms: number): Promise<void> {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    const state = await execution.inspect().catch(() => undefined);
    const isThere = state === undefined || state.Pid > 0 || (!state.Running && state.ExitCode !== null);
    if (isThere) return forget(container, execution);
    await delay(pollMs);
  }
  forget(container, execution);
}
