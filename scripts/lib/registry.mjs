import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptUpdate, hasApt } from './apt.mjs';
import { cacheDir, which } from './paths.mjs';
import { runOrFail } from './run.mjs';

const PACKAGE = 'docker-registry';
const folder = () => join(cacheDir(), PACKAGE);

/** The image registry that the pull tests talk to, or undefined. */
export function findRegistry() {
  const unpacked = join(folder(), 'usr/bin', PACKAGE);
  return which(PACKAGE) ?? (existsSync(unpacked) ? unpacked : undefined);
}

/**
 * The step that unpacks Debian's registry into the cache, or undefined where there is one or no apt. It is not
 * installed: the package would start a service.
 */
export function planRegistry() {
  if (findRegistry() || !hasApt()) return undefined;
  return {
    title: "Unpack Debian's docker-registry, which the pull tests talk to",
    commands: [`apt-get download ${PACKAGE}`, `dpkg-deb -x ${PACKAGE}_*.deb ${folder()}`],
    run: unpack,
  };
}

async function unpack() {
  await aptUpdate();
  const temp = mkdtempSync(join(tmpdir(), 'e2e-swe-registry-'));
  try {
    await runOrFail('apt-get', ['-q', 'download', PACKAGE], { cwd: temp });
    const [archive] = readdirSync(temp);
    await runOrFail('dpkg-deb', ['-x', join(temp, archive), join(temp, 'unpacked')]);
    mkdirSync(cacheDir(), { recursive: true });
    rmSync(folder(), { recursive: true, force: true });
    await runOrFail('cp', ['-r', join(temp, 'unpacked'), `${folder()}.part`]);
    renameSync(`${folder()}.part`, folder());
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}
