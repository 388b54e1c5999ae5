import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { statusCode } from './dockerErrors.ts';
import { isMarkedFreezing, markFreezing } from './freezeMarker.ts';

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
/** Execs of this process whose start waits for a freeze to be over; no freeze waits for them. */
const waiting = new Set<string>();
/** Execs that were not there in time: the engine lists one that was made and never started for ever. */
const givenUp = new Set<string>();

/**
 * Keeps starts of processes and the freezing of their container apart. One that is just being started when its container
 * is frozen stays half born, and dockerd (20.10) then answers nothing more about that container, not even a thaw. The
 * engine accepts a start before the process is there, so its pid is asked for.
 */
export async function startExec<T>(
  container: string,
  execution: StartingExec,
  start: () => Promise<T>,
): Promise<T> {
  waiting.add(execution.id);
  await untilUnfrozen(container);
  waiting.delete(execution.id);
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

/**
 * Freezes a container once no process is being started in it; this process starts none until that is over, nor does
 * another one of ours (a second window, a command line, a guard): what they made before our marker the engine lists, and is
 * waited for; what they made later sees the marker before it starts. The docker command knows no marker: what is left to it
 * are the milliseconds between that list and the freeze.
 */
export async function freezeApart(
  container: string,
  listed: () => Promise<readonly StartingExec[]>,
  freeze: () => Promise<void>,
): Promise<void> {
  while (freezing.has(container)) await freezing.get(container);
  const work = (async () => {
    const unmark = await markFreezing(container);
    try {
      await whenNoneStarts(container, listed);
      await freeze();
    } finally {
      await unmark();
    }
  })();
  const settled = work.catch(() => undefined);
  freezing.set(container, settled);
  try {
    await work;
  } finally {
    freezing.delete(container);
  }
}

async function whenNoneStarts(
  container: string,
  listed: () => Promise<readonly StartingExec[]>,
): Promise<void> {
  const own = [...(starting.get(container) ?? [])];
  await Promise.all(own.map(([execution, ms]) => untilThere(execution, () => ms)));
  for (const [execution] of own) forget(container, execution);
  const others = (await listed()).filter(({ id }) => !givenUp.has(id));
  const msOf = (isRunning: boolean): number => (isRunning ? startMs : doubtfulMs);
  await Promise.all(others.map((execution) => untilThere(execution, msOf)));
}

/** Nobody is about to freeze it any more, here or in another process; that is not waited for without end. */
async function untilUnfrozen(container: string): Promise<void> {
  const since = Date.now();
  for (;;) {
    if (freezing.has(container)) await freezing.get(container);
    else if (Date.now() - since < startMs && (await isMarkedFreezing(container))) await delay(pollMs);
    // Looking took a moment, in which this process may have begun to freeze it.
    else if (!freezing.has(container)) return;
  }
}

/** The execs of a container that the engine lists, whoever made them; none where it has no answer. */
export async function execsOf(docker: Docker, container: Docker.Container): Promise<StartingExec[]> {
  try {
    const { ExecIDs } = (await container.inspect()) as { ExecIDs?: readonly string[] | null };
    return (ExecIDs ?? []).map((id) => docker.getExec(id));
  } catch {
    // The freeze meets the same, and says it.
    return [];
  }
}

/** Gives up, for good, on one that is not there in time: it was never started, or the engine has lost it. */
async function untilThere(execution: StartingExec, msOf: (isRunning: boolean) => number): Promise<void> {
  const since = Date.now();
  while (!waiting.has(execution.id)) {
    const state = await execution.inspect().catch(() => undefined);
    if (state === undefined || state.Pid > 0 || (!state.Running && state.ExitCode !== null)) return;
    if (Date.now() - since > msOf(state.Running)) {
      givenUp.add(execution.id);
      return;
    }
    await delay(pollMs);
  }
}
