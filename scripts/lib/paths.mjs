import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's top folder. */
export const ROOT = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/** The label that every container, volume and network of the workbench carries. */
export const LABEL = 'dev.e2e-swe.workbench';

/** Where things that are slow to fetch or build are kept between runs: the editor host, desktop VS Code, logs. */
export function cacheDir(env = process.env) {
  if (env.E2E_SWE_CACHE) return resolve(env.E2E_SWE_CACHE);
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'e2e-swe-workbench');
}

/** The full path of a program, or undefined. System folders count too: a user's PATH often lacks /usr/sbin. */
export function which(program, env = process.env) {
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file));
}
