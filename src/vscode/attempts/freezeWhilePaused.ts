import { setTimeout as delay } from 'node:timers/promises';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';

const lookMs = 250;
/** A pause that was not seen by then is over, or never came. */
const missedMs = 3_000;

/** Holds the editor off the workspace while a job that pauses its container for a moment does so. */
export async function freezeWhilePaused<T>(session: WorkspaceSession, job: () => Promise<T>): Promise<T> {
  session.freeze('The workspace is frozen while its files are taken.');
  const over = new AbortController();
  const watching = watch(session, over.signal);
  try {
    return await job();
  } finally {
    over.abort();
    await watching;
    session.thaw();
  }
}

async function watch(session: WorkspaceSession, over: AbortSignal): Promise<void> {
  const start = Date.now();
  let wasPaused = false;
  while (!over.aborted) {
    await delay(lookMs, undefined, { signal: over }).catch(() => undefined);
    try {
      const { paused } = await session.open.container.details(over);
      if (!paused && (wasPaused || Date.now() - start > missedMs)) {
        session.thaw();
        return;
      }
      wasPaused ||= paused;
    } catch {
      // Asked again, or it is over.
    }
  }
}
