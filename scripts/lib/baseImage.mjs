import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptCommands, aptInstall, asRoot, hasApt, isUbuntu, runAsRoot } from './apt.mjs';
import { onExit } from './cleanup.mjs';
import { createImage, hasImage, pingEngine } from './engineApi.mjs';
import { PlainError, say } from './log.mjs';
import { which } from './paths.mjs';

const SUITE = 'bookworm';
const REPOSITORY = 'debian';
const TAG = 'bookworm-slim';
const IMAGE = `${REPOSITORY}:${TAG}`;
const SILENCE_MS = 30_000;

// What the slim images leave out, so that one made here behaves (and weighs) the same.
const SLIM = [
  'path-exclude=/usr/share/doc/*',
  'path-include=/usr/share/doc/*/copyright',
  'path-exclude=/usr/share/groff/*',
  'path-exclude=/usr/share/info/*',
  'path-exclude=/usr/share/linda/*',
  'path-exclude=/usr/share/lintian/*',
  'path-exclude=/usr/share/locale/*',
  'path-exclude=/usr/share/man/*',
];

const makeTar = (file) => [
  'mmdebstrap',
  '--quiet',
  '--variant=minbase',
  ...SLIM.map((line) => `--dpkgopt=${line}`),
  SUITE,
  file,
];

const quoted = (word) => (word.includes('*') ? `'${word}'` : word);

const makerPackages = () =>
  which('mmdebstrap') ? [] : ['mmdebstrap', ...(isUbuntu() ? ['debian-archive-keyring'] : [])];

/** The step that provides the base image of the bundled tasks, or undefined where the engine has it. */
export async function planBaseImage() {
  if ((await pingEngine()).ok && (await hasImage(IMAGE))) return undefined;
  const packages = makerPackages();
  return {
    title: `Provide the image ${IMAGE}, unless the engine has it`,
    commands: [
      `docker pull ${IMAGE}    # and where it cannot be pulled, it is made from Debian's packages:`,
      ...(packages.length > 0 ? aptCommands(packages) : []),
      asRoot(makeTar('base.tar').map(quoted).join(' ')),
      `docker import --change 'CMD ["bash"]' base.tar ${IMAGE}`,
    ],
    run: provide,
  };
}

async function provide() {
  if (await hasImage(IMAGE)) return;
  try {
    await createImage({ fromImage: REPOSITORY, tag: TAG }, { idleMs: SILENCE_MS });
    say(`Pulled ${IMAGE}.`);
  } catch (error) {
    say(`${IMAGE} cannot be pulled (${error.message}). It is made from Debian's packages instead.`);
    await make();
  }
}

async function make() {
  if (!which('mmdebstrap') && !hasApt()) {
    throw new PlainError(
      `Load ${IMAGE} into the engine by hand (docker load): it can be neither pulled nor made here.`,
    );
  }
  const packages = makerPackages();
  if (packages.length > 0) await aptInstall(packages);
  const folder = mkdtempSync(join(tmpdir(), 'e2e-swe-base-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const forget = onExit(remove);
  const tar = join(folder, 'base.tar');
  try {
    await runAsRoot(makeTar(tar));
    const query = { fromSrc: '-', repo: REPOSITORY, tag: TAG, changes: 'CMD ["bash"]' };
    await createImage(query, { body: createReadStream(tar), idleMs: 300_000 });
    say(`Made ${IMAGE}.`);
  } finally {
    remove();
    forget();
  }
}
