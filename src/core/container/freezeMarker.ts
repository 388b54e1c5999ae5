import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { currentOwner, formatOwner, isDeadOwner, parseOwner } from './labels.ts';

const maxTries = 5;

/**
 * Tells the other processes of this user that a container is just about to be frozen: a file while that lasts. Where none
 * can be written nobody is told, and the freeze goes on. The result takes it away.
 */
export async function markFreezing(container: string): Promise<() => Promise<void>> {
  const folder = markerFolder();
  const file = path.join(folder, `${container}.${process.pid}.${randomBytes(4).toString('hex')}`);
  for (let tries = 1; ; tries++) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(file, formatOwner(currentOwner()), { flag: 'wx' });
      break;
    } catch {
      // Whoever takes the last marker away takes the folder too, between our two calls for one.
      if (tries === maxTries) return async () => undefined;
    }
  }
  return async () => {
    await rm(file, { force: true }).catch(() => undefined);
    await sweep(folder).catch(() => undefined);
  };
}

/** Takes away what killed processes left, of containers too that nobody enters any more, and the folder with the last. */
async function sweep(folder: string): Promise<void> {
  if (!(await isOurs(folder))) return;
  const names = await readdir(folder);
  await Promise.all(names.map((name) => isLiving(path.join(folder, name))));
  await rmdir(folder);
}

/** True while a process that lives is about to freeze the container. */
export async function isMarkedFreezing(container: string): Promise<boolean> {
  const folder = markerFolder();
  try {
    const names = (await readdir(folder)).filter((name) => name.startsWith(`${container}.`));
    if (names.length === 0 || !(await isOurs(folder))) return false;
    const living = await Promise.all(names.map((name) => isLiving(path.join(folder, name))));
    return living.some(Boolean);
  } catch {
    return false;
  }
}

function markerFolder(): string {
  return path.join(tmpdir(), `e2e-swe-freezing-${process.getuid?.() ?? userInfo().username}`);
}

/** Anybody may make a folder of that name first. */
async function isOurs(folder: string): Promise<boolean> {
  const stat = await lstat(folder);
  return stat.isDirectory() && stat.uid === (process.getuid?.() ?? stat.uid);
}

/** One that a killed process left is taken away. */
async function isLiving(file: string): Promise<boolean> {
  const owner = parseOwner(await readFile(file, 'utf8').catch(() => undefined));
  if (!owner) return false;
  if (!isDeadOwner(owner)) return true;
  await rm(file, { force: true });
  await rmdir(path.dirname(file)).catch(() => undefined);
  return false;
}
