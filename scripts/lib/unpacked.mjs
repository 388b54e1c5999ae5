import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptUpdate, hasApt } from './apt.mjs';
import { cacheDir, which } from './paths.mjs';
import { runOrFail } from './run.mjs';

/**
 * A program out of Debian packages that are unpacked into the cache and not installed: installed, they would start a
 * service.
 *
 * @param {{ name: string, packages: string[], program: string, what: string }} wanted `program`: its path in the packages.
 */
export function unpackedProgram({ name, packages, program, what }) {
  const folder = () => join(cacheDir(), name);
  const find = () => {
    const unpacked = join(folder(), program);
    return which(name) ?? [`/${program}`, unpacked].find((file) => existsSync(file));
  };
  const unpack = async () => {
    await aptUpdate();
    const temp = mkdtempSync(join(tmpdir(), `e2e-swe-${name}-`));
    try {
      await runOrFail('apt-get', ['-q', 'download', ...packages], { cwd: temp });
      for (const archive of readdirSync(temp))
        await runOrFail('dpkg-deb', ['-x', join(temp, archive), join(temp, 'unpacked')]);
      mkdirSync(cacheDir(), { recursive: true });
      rmSync(folder(), { recursive: true, force: true });
      await runOrFail('cp', ['-r', join(temp, 'unpacked'), `${folder()}.part`]);
      renameSync(`${folder()}.part`, folder());
    } finally {
      rmSync(temp, { recursive: true, force: true });
    }
  };
  return {
    /** Its path, or undefined. */
    find,
    /** The step that unpacks it, or undefined where there is one or no apt. */
    plan: () =>
      find() || !hasApt()
        ? undefined
        : {
            title: `Unpack ${what}`,
            commands: [
              `apt-get download ${packages.join(' ')}`,
              `for f in *.deb; do dpkg-deb -x $f ${folder()}; done`,
            ],
            run: unpack,
          },
  };
}
