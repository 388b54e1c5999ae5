#!/usr/bin/env node
// node scripts/harbor/harbor.mjs ARGUMENTS: the `harbor` command, in a container on this machine's engine.
//
// The engine resolves Harbor's bind mounts on the host, so every folder that is named on the command line (and the
// current one) is mounted at its own path.
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, isAbsolute, resolve } from 'node:path';
import { logToStderr, sayError } from '../lib/log.mjs';
import { LABEL } from '../lib/paths.mjs';
import { connect, engineSocket } from './engine.mjs';
import { ensureHarborImage, HARBOR_IMAGE } from './image.mjs';

const OUTPUT_FLAGS = ['-o', '--trials-dir', '--jobs-dir'];

/** Folders to mount: where we are, and each path that is named; one inside another needs no mount of its own. */
function mounts(args) {
  args.forEach((argument, index) => {
    if (OUTPUT_FLAGS.includes(argument) && args[index + 1])
      mkdirSync(resolve(args[index + 1]), { recursive: true });
  });
  const named = args.filter((argument) => isAbsolute(argument) && existsSync(argument));
  const folders = [process.cwd(), ...named].map((path) => {
    const real = realpathSync(path);
    if (real !== resolve(path))
      throw new Error(`"${path}" lies behind a symbolic link: name ${real} instead.`);
    return statSync(real).isDirectory() ? real : dirname(real);
  });
  const below = (child, parent) =>
    child !== parent && `${child}/`.startsWith(parent === '/' ? '/' : `${parent}/`);
  return [...new Set(folders)].filter(
    (one) => one !== '/' && !folders.some((other) => other !== '/' && below(one, other)),
  );
}

/** Stopped while it tidies up, Harbor leaves the containers and networks of its Compose projects behind. */
async function removeLeftovers(docker, args) {
  const name = args[args.indexOf('--trial-name') + 1];
  if (!args.includes('--trial-name') || !name) return;
  const project = `${name.toLowerCase().replace(/[^a-z0-9_-]/g, '-')}__`;
  const filters = { label: ['com.docker.compose.project'] };
  const isOurs = ({ Labels }) => Labels?.['com.docker.compose.project']?.startsWith(project);
  const containers = await docker.listContainers({ all: true, filters });
  for (const { Id } of containers.filter(isOurs))
    await docker
      .getContainer(Id)
      .remove({ force: true, v: true })
      .catch(() => undefined);
  const networks = await docker.listNetworks({ filters });
  for (const { Id } of networks.filter(isOurs))
    await docker
      .getNetwork(Id)
      .remove()
      .catch(() => undefined);
}

async function main(args) {
  await ensureHarborImage();
  const docker = connect();
  const container = await docker.createContainer({
    Image: HARBOR_IMAGE,
    Cmd: ['harbor', ...args],
    WorkingDir: process.cwd(),
    Env: ['NO_COLOR=1', 'TERM=dumb', 'COLUMNS=200', 'PYTHONUNBUFFERED=1'],
    Labels: { [LABEL]: 'harbor', [`${LABEL}.owner`]: `${hostname()}|${process.pid}|unknown` },
    HostConfig: {
      Binds: [
        `${engineSocket()}:/var/run/docker.sock`,
        ...mounts(args).map((folder) => `${folder}:${folder}`),
      ],
      // Harbor talks to the engine alone.
      NetworkMode: 'none',
      Init: true,
    },
  });
  // Ctrl-C inside the container: Harbor then removes its own containers.
  let stopped = false;
  const stop = () => {
    stopped = true;
    void container.kill({ signal: 'SIGINT' }).catch(() => undefined);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, stop);
  try {
    const stream = await container.attach({ stream: true, stdout: true, stderr: true });
    docker.modem.demuxStream(stream, process.stdout, process.stderr);
    const printed = new Promise((done) => stream.once('end', done).once('close', done));
    await container.start();
    const { StatusCode } = await container.wait();
    await printed;
    return StatusCode;
  } finally {
    await container.remove({ force: true, v: true }).catch(() => undefined);
    if (stopped) await removeLeftovers(docker, args);
  }
}

logToStderr();
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  sayError(error);
  process.exitCode = 1;
}
