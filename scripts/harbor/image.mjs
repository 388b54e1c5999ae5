import { createHash } from 'node:crypto';
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptInstall, hasApt, isUbuntu, runAsRoot } from '../lib/apt.mjs';
import { createImage, hasImage } from '../lib/engineApi.mjs';
import { PlainError, say, seconds } from '../lib/log.mjs';
import { LABEL, which } from '../lib/paths.mjs';
import { connect } from './engine.mjs';

const BASE = { repository: 'debian', tag: 'trixie-slim', suite: 'trixie' };
const FILES = ['Dockerfile', 'requirements.txt', 'patch.py'];
const CONTENT_LABEL = `${LABEL}.harbor`;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The image that holds the real Harbor, with E2E-SWE's patch. */
export const HARBOR_IMAGE = 'e2e-swe/harbor:0.22.0';

/** Builds the image unless the engine has it, made from the same files. Returns true when it was built. */
export async function ensureHarborImage() {
  const docker = connect();
  const content = createHash('sha256');
  for (const name of FILES) content.update(readFileSync(here(name)));
  const digest = content.digest('hex');
  const present = await docker
    .getImage(HARBOR_IMAGE)
    .inspect()
    .catch((error) => (error.statusCode === 404 ? undefined : Promise.reject(error)));
  if (present?.Config?.Labels?.[CONTENT_LABEL] === digest) return false;
  const started = Date.now();
  say(`Making ${HARBOR_IMAGE}: Harbor from PyPI on Debian ${BASE.suite}. This is done once.`);
  await provideBase();
  await build(docker, digest);
  say(`Made ${HARBOR_IMAGE} (${seconds(Date.now() - started)}).`);
  return true;
}

async function build(docker, digest) {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-swe-harbor-'));
  try {
    for (const name of FILES) copyFileSync(here(name), join(folder, name));
    const bundle = caBundle();
    writeFileSync(join(folder, 'ca.crt'), bundle ? readFileSync(bundle) : '');
    const stream = await docker.buildImage(
      { context: folder, src: [...FILES, 'ca.crt'] },
      {
        t: HARBOR_IMAGE,
        labels: { [LABEL]: 'image', [CONTENT_LABEL]: digest },
        buildargs: passedOn(['PIP_INDEX_URL', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']),
        forcerm: true,
      },
    );
    const log = [];
    await new Promise((done, fail) => {
      docker.modem.followProgress(
        stream,
        (error, events) => {
          const failure = error ?? events.find((event) => event.error)?.error;
          if (failure)
            fail(new PlainError(`${HARBOR_IMAGE} cannot be built: ${failure}\n${log.slice(-20).join('')}`));
          else done();
        },
        (event) => {
          if (event.stream) log.push(event.stream);
        },
      );
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The host's own CA certificates: behind a proxy that inspects, pip in a container trusts nothing else. */
function caBundle() {
  const { SSL_CERT_FILE, PIP_CERT, NODE_EXTRA_CA_CERTS } = process.env;
  return [PIP_CERT, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS, '/etc/ssl/certs/ca-certificates.crt'].find(
    (file) => file && existsSync(file),
  );
}

function passedOn(names) {
  const entries = names.map((name) => [name, process.env[name] ?? process.env[name.toLowerCase()]]);
  return Object.fromEntries(entries.filter(([, value]) => value));
}

/** Debian's image, pulled, or made from Debian's packages where nothing can be pulled. */
async function provideBase() {
  const { repository, tag, suite } = BASE;
  if (await hasImage(`${repository}:${tag}`)) return;
  try {
    await createImage({ fromImage: repository, tag }, { idleMs: 30_000 });
    return;
  } catch (error) {
    say(
      `${repository}:${tag} cannot be pulled (${error.message}). It is made from Debian's packages instead.`,
    );
  }
  if (!which('mmdebstrap')) {
    if (!hasApt()) throw new PlainError(`Load ${repository}:${tag} into the engine by hand (docker load).`);
    await aptInstall(['mmdebstrap', ...(isUbuntu() ? ['debian-archive-keyring'] : [])]);
  }
  const folder = mkdtempSync(join(tmpdir(), 'e2e-swe-base-'));
  try {
    const tar = join(folder, 'base.tar');
    await runAsRoot(['mmdebstrap', '--quiet', '--variant=minbase', suite, tar]);
    await createImage(
      { fromSrc: '-', repo: repository, tag, changes: 'CMD ["bash"]' },
      { body: createReadStream(tar), idleMs: 300_000 },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
