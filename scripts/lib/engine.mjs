import { existsSync } from 'node:fs';
import { aptCommands, aptInstall, asRoot, hasApt, rootPrefix, runAsRoot } from './apt.mjs';
import { onCleanup } from './cleanup.mjs';
import { dockerdLog, hasExtraArgs, startCommand, startDockerd } from './dockerd.mjs';
import { engineAddress, pingEngine } from './engineApi.mjs';
import { PlainError } from './log.mjs';
import { which } from './paths.mjs';
import { waitUntil } from './run.mjs';

const hasSystemd = () => existsSync('/run/systemd/system');

/** Why no engine can be started here, as a sentence with the next step; undefined where one can. */
function obstacle(code) {
  const address = engineAddress();
  if (code === 'EACCES') {
    return `The Docker engine at ${address} may not be used by this user. Join its group ("sudo usermod -aG docker $USER"), log in again and repeat.`;
  }
  if (process.env.DOCKER_HOST && !hasExtraArgs()) {
    return `No Docker engine answers at DOCKER_HOST=${address} (${code}). Start that engine, or unset DOCKER_HOST.`;
  }
  if (process.platform !== 'linux' || (!which('dockerd') && !hasApt())) {
    return `No Docker engine answers at ${address} (${code}). Install Docker Desktop or Docker Engine, start it and repeat.`;
  }
  if (!rootPrefix())
    return `No Docker engine answers at ${address} (${code}), and starting one needs root or sudo.`;
  return undefined;
}

/** The step that makes an engine answer, or undefined where one does already. */
export async function planEngine() {
  const { ok, code } = await pingEngine();
  if (ok) return undefined;
  const blocked = obstacle(code);
  if (blocked) return { title: 'Start a Docker engine', commands: [], blocked };
  const packages = which('dockerd') ? [] : ['docker.io', 'iptables'];
  const bySystemd = hasSystemd() && !hasExtraArgs();
  return {
    title: bySystemd
      ? 'Start the Docker engine'
      : 'Start a Docker engine (it is stopped again at the end, with what this run started)',
    commands: [
      ...(packages.length > 0 ? aptCommands(packages) : []),
      asRoot(bySystemd ? 'systemctl start docker' : startCommand(dockerdLog())),
    ],
    run: async () => {
      if (packages.length > 0) await aptInstall(packages);
      await start(bySystemd);
    },
  };
}

async function start(bySystemd) {
  const answers = async () => (await pingEngine()).ok;
  if (await answers()) return; // Installing the package may have started it.
  if (!bySystemd) {
    onCleanup('Docker engine', await startDockerd(answers));
    return;
  }
  await runAsRoot(['systemctl', 'start', 'docker']);
  if (await waitUntil(answers, 60_000, 500)) return;
  const { code } = await pingEngine();
  throw new PlainError(obstacle(code) ?? `The Docker engine does not answer (${code}).`);
}
