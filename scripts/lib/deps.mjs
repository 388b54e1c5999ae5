import { statSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './npm.mjs';
import { ROOT } from './paths.mjs';

/** `npm install` writes the two lock files within moments of each other, in either order. */
const SAME_INSTALL_MS = 5_000;

/** True where node_modules is absent or was made from an older lock file. */
function depsAreStale(root = ROOT) {
  const time = (name) => statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs;
  const installed = time('node_modules/.package-lock.json');
  const locked = time('package-lock.json');
  return installed === undefined || (locked !== undefined && installed + SAME_INSTALL_MS < locked);
}

/** Runs `npm ci` where needed. `stdio` as for spawn: the command line keeps its standard output clean with it. */
export async function ensureDeps(stdio = 'inherit') {
  if (depsAreStale()) await npm(['ci', '--loglevel=error'], { cwd: ROOT, stdio });
}
