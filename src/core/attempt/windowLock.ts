import { randomBytes } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { errorCode } from '#core/base/errors.ts';
import { currentOwner, isDeadOwner, type Owner } from '#core/container/labels.ts';

/** lock.json: the process that works in an attempt. */
export interface LockOwner extends Owner {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Tells two locks of one process apart. */
  readonly token: string;
}

export interface WindowLock {
  /** No error when it is gone; one that another process has by now stays. */
  release(): Promise<void>;
}

const stored = z.object({
  pid: z.number(),
  host: z.string(),
  startTime: z.string(),
  at: z.string(),
  token: z.string(),
});
/** A clock that was set meanwhile does not make a lock look older than the boot. */
const bootSlackMs = 60_000;
/** A lock without content is one that is just being written by a process that cannot link, or was cut short. */
const emptyGraceMs = 10_000;

/** A take-over is a matter of milliseconds; one that is older was cut short. */
const takeoverMs = 10_000;
const takeoverPollMs = 20;

/** Takes an attempt's lock, or says who has it. One that a dead process left is taken over. */
export async function takeLock(dir: string): Promise<WindowLock | LockOwner> {
  const file = path.join(dir, 'lock.json');
  const mine: LockOwner = {
    ...currentOwner(),
    at: new Date().toISOString(),
    token: randomBytes(6).toString('hex'),
  };
  for (;;) {
    if (await makeExclusively(file, `${JSON.stringify(mine)}\n`))
      return { release: () => releaseLock(file, mine.token) };
    const owner = await readOwner(file);
    if (owner === undefined) continue;
    if (owner !== 'unreadable' && !isStale(owner)) return owner;
    if (owner === 'unreadable' && (await ageMs(file)) < emptyGraceMs) return unknownOwner;
    await removeStale(file, owner === 'unreadable' ? undefined : owner.token);
  }
}

/** Who works in the attempt, or undefined. */
export async function lockOwner(dir: string): Promise<LockOwner | undefined> {
  const owner = await readOwner(path.join(dir, 'lock.json'));
  return owner === 'unreadable' || owner === undefined || isStale(owner) ? undefined : owner;
}

export function isLock(taken: WindowLock | LockOwner): taken is WindowLock {
  return 'release' in taken;
}

const unknownOwner: LockOwner = { pid: 0, host: '', startTime: 'unknown', at: '', token: '' };

/** A dead process of this boot, or any of this machine's earlier ones. */
function isStale(owner: LockOwner): boolean {
  if (isDeadOwner(owner)) return true;
  const machine = ({ host }: Owner): string | undefined => host.split('/')[0];
  const bootedAt = Date.now() - uptime() * 1000;
  return machine(owner) === machine(currentOwner()) && Date.parse(owner.at) < bootedAt - bootSlackMs;
}

/** With its whole content at once: a temporary file beside it, then a link, which fails where there is one. */
async function makeExclusively(file: string, content: string): Promise<boolean> {
  const temp = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temp, content, { flag: 'wx', mode: 0o600 });
    await link(temp, file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errorCode(error) ?? '')) throw error;
    return writeFile(file, content, { flag: 'wx', mode: 0o600 }).then(
      () => true,
      (failure: unknown) => {
        if (errorCode(failure) === 'EEXIST') return false;
        throw failure;
      },
    );
  } finally {
    await rm(temp, { force: true });
  }
}

/**
 * Removes a stale lock, one process at a time: whoever looks under the guard and still sees the stale one is alone with
 * it, since a lock that is there cannot be replaced by anybody else.
 */
async function removeStale(file: string, token: string | undefined): Promise<void> {
  const guard = `${file}.takeover`;
  try {
    await writeFile(guard, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if ((await ageMs(guard)) > takeoverMs) await rm(guard, { force: true });
    await delay(takeoverPollMs);
    return;
  }
  try {
    const owner = await readOwner(file);
    const same = owner === 'unreadable' ? token === undefined : owner?.token === token;
    if (owner !== undefined && same) await rm(file, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

async function releaseLock(file: string, token: string): Promise<void> {
  const owner = await readOwner(file).catch(() => undefined);
  if (owner !== undefined && owner !== 'unreadable' && owner.token === token) await rm(file, { force: true });
}

async function readOwner(file: string): Promise<LockOwner | 'unreadable' | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    return 'unreadable';
  }
}

async function ageMs(file: string): Promise<number> {
  return Date.now() - ((await stat(file).catch(() => undefined))?.mtimeMs ?? 0);
}
