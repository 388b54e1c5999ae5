import { appendFile, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { hostClock, momentOf } from './hostClock.ts';
import { guardEventsOf, guardFileOf } from './hostGuard.ts';
import type { RecordEvent } from './recordEvents.ts';
import { lockOwner } from './windowLock.ts';

const lookMs = 500;
/**
 * Looks in a row without a sign of life. Counted, not timed: while the machine sleeps nobody looks, and the owner wakes
 * up with us. With the freeze itself it is less than 5 s.
 */
const maxMissed = 8;
const retryMs = 1_000;
/** An engine that does not come back has no container that runs. */
const maxTries = 600;

/**
 * The guard: waits for the owner to stop it, to die or to fall silent; then freezes the container, writes that down
 * beside the record, and ends.
 */
export async function runGuard(args: readonly string[], signs: Readable): Promise<void> {
  const [dir = '', attemptId = '', owner = ''] = args;
  const reason = await ownerGone(signs);
  if (reason === 'stopped') return;
  const mine = async (): Promise<boolean> => {
    const holder = await lockOwner(dir);
    return holder === undefined || holder.pid === Number(owner);
  };
  if (await freeze(attemptId, mine)) {
    const event: RecordEvent = { kind: 'guard-froze', at: momentOf(hostClock), reason };
    await appendFile(guardEventsOf(dir), `${JSON.stringify(event)}\n`, { mode: 0o600, flush: true });
  }
  await rm(guardFileOf(dir), { force: true });
}

function ownerGone(signs: Readable): Promise<'stopped' | 'crash' | 'no-answer'> {
  return new Promise((resolve) => {
    let missed = 0;
    const settle = (reason: 'stopped' | 'crash' | 'no-answer'): void => {
      clearInterval(timer);
      signs.destroy();
      resolve(reason);
    };
    const timer = setInterval(() => {
      if (++missed >= maxMissed) settle('no-answer');
    }, lookMs);
    signs.on('data', (data: Buffer) => {
      missed = 0;
      if (data.includes('q')) settle('stopped');
    });
    signs.on('end', () => settle('crash')).on('error', () => settle('crash'));
  });
}

/** True when it was frozen by us, or stood already; false where somebody else has the attempt, or nothing runs. */
async function freeze(attemptId: string, mine: () => Promise<boolean>): Promise<boolean> {
  // Loaded now alone: a guard that only waits stays small.
  const [{ connectEngine }, { findWorkspaceContainer }] = await Promise.all([
    import('#core/container/connect.ts'),
    import('#core/container/workspaceContainer.ts'),
  ]);
  for (let tried = 0; tried < maxTries && (await mine()); tried++) {
    try {
      const engine = await connectEngine({ env: process.env });
      const container = await findWorkspaceContainer(engine, attemptId);
      const details = await container?.details();
      if (!container || !details?.running) return false;
      if (!(await mine())) return false;
      await container.pause();
      return true;
    } catch {
      await delay(retryMs);
    }
  }
  return false;
}
