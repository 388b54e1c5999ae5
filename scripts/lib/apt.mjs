import { readFileSync } from 'node:fs';
import { PlainError } from './log.mjs';
import { which } from './paths.mjs';
import { runOrFail } from './run.mjs';

let updated = false;

function osRelease() {
  try {
    const lines = readFileSync('/etc/os-release', 'utf8').split('\n');
    return Object.fromEntries(lines.map((line) => line.replaceAll('"', '').split('=')));
  } catch {
    return {};
  }
}

/** True on Ubuntu itself, where Chromium is a snap and Debian's archive keys are a package of their own. */
export const isUbuntu = () => osRelease().ID === 'ubuntu';

/** True on Debian, Ubuntu and their kin. */
export function hasApt() {
  const { ID = '', ID_LIKE = '' } = osRelease();
  return (
    [ID, ...ID_LIKE.split(' ')].some((id) => id === 'debian' || id === 'ubuntu') && Boolean(which('apt-get'))
  );
}

/** What to put before a command that needs root: nothing, "sudo", or undefined where neither is possible. */
export function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return which('sudo') ? ['sudo'] : undefined;
}

/** A command that needs root, as text for people. */
export const asRoot = (command) => [...(rootPrefix() ?? ['sudo']), command].join(' ');

/** Runs a command as root. */
export async function runAsRoot(args, options = {}) {
  const prefix = rootPrefix();
  if (!prefix)
    throw new PlainError(`This needs root, and there is no sudo here. As root, run: ${args.join(' ')}`);
  const [command, ...rest] = [...prefix, ...args];
  await runOrFail(command, rest, options);
}

/** The commands that install these packages, as text for people. */
export const aptCommands = (packages) => [
  asRoot('apt-get update'),
  asRoot(`apt-get install -y --no-install-recommends ${packages.join(' ')}`),
];

const APT = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-o', 'DPkg::Lock::Timeout=300'];

/** Fetches the package lists, once a run. */
export async function aptUpdate() {
  if (!updated) await runAsRoot([...APT, 'update']);
  updated = true;
}

/** Installs packages. */
export async function aptInstall(packages) {
  await aptUpdate();
  await runAsRoot([...APT, 'install', '-y', '--no-install-recommends', ...packages]);
}
