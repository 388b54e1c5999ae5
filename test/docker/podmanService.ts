import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from './support.ts';

/** Podman (`npm test` installs Debian's); its tests are skipped where there is none or no root. */
export const hasPodman = spawnSync('podman', ['--version']).status === 0;
/** As root: its storage and its cgroups are to be its own. */
const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n', '-E'];
export const mayRunPodman = asRoot.length === 0 || spawnSync('sudo', ['-n', 'true']).status === 0;

export interface PodmanService {
  /** What leads to it. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs `podman`; what it prints. */
  podman(...args: string[]): string;
  stop(): Promise<void>;
}

/** `podman system service` on a socket in a folder, with its storage and state there too, and the base image loaded. */
export async function startPodman(dir: string): Promise<PodmanService> {
  const at = (name: string): string => path.join(dir, name);
  const runtime = ['crun', 'runc'].find((name) => findProgram(name)) ?? 'runc';
  await mkdir(at('home/.config/containers'), { recursive: true });
  await writeFile(
    at('home/.config/containers/policy.json'),
    '{"default":[{"type":"insecureAcceptAnything"}]}',
  );
  await writeFile(at('registries.conf'), 'unqualified-search-registries = []\n');
  await writeFile(
    at('storage.conf'),
    `[storage]\ndriver = "overlay"\ngraphroot = "${at('root')}"\nrunroot = "${at('run')}"\n`,
  );
  await writeFile(
    at('containers.conf'),
    // A root without the right to raise its own limits must not ask for more.
    `[containers]
default_ulimits = [${(await hardLimits()).map((limit) => `"${limit}"`).join(', ')}]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "${runtime}"
tmp_dir = "${at('tmp')}"
volume_path = "${at('volumes')}"
[engine.runtimes]
${runtime} = ["${findProgram(runtime)}"]
`,
  );
  const own = {
    CONTAINERS_CONF: at('containers.conf'),
    CONTAINERS_STORAGE_CONF: at('storage.conf'),
    CONTAINERS_REGISTRIES_CONF: at('registries.conf'),
    HOME: at('home'),
  };
  const env = { ...process.env, ...own };
  const socket = at('podman.sock');
  // Its bridges are to be nobody else's.
  const words = ['unshare', '-n', 'podman', 'system', 'service', '--time=0', `unix://${socket}`];
  const [command = '', ...args] = [...asRoot, ...words];
  // conmon leaves a file where it was started.
  const service = spawn(command, args, { cwd: dir, env, stdio: 'ignore' });
  const podman = (...words: string[]): string => {
    const [program = '', ...rest] = [...asRoot, 'podman', ...words];
    return execFileSync(program, rest, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  };
  await waitFor("Podman's socket", () => existsSync(socket));
  if (asRoot.length > 0) execFileSync('sudo', ['-n', 'chmod', '666', socket]);
  else await chmod(socket, 0o600);
  await loadBaseImage(at('base.tar'), podman);
  return {
    env: { ...process.env, DOCKER_HOST: `unix://${socket}` },
    podman,
    stop: () => stop(service, podman, dir),
  };
}

/** Podman reads a short name as of docker.io, and loads it as of localhost. */
async function loadBaseImage(file: string, podman: PodmanService['podman']): Promise<void> {
  const image = 'debian:bookworm-slim';
  await promisify(execFile)('docker', ['save', '-o', file, image]);
  podman('load', '-q', '-i', file);
  await rm(file);
  const found = podman('images', '--format', '{{.Repository}}:{{.Tag}}').split('\n');
  if (!found.includes(`docker.io/library/${image}`))
    podman('tag', `localhost/${image}`, `docker.io/library/${image}`);
}

async function stop(service: ChildProcess, podman: PodmanService['podman'], dir: string): Promise<void> {
  podman('rm', '-f', '-a');
  podman('rmi', '-f', '-a');
  const ended = service.exitCode === null ? once(service, 'exit') : undefined;
  service.kill();
  await ended;
  const root = (...words: string[]): void => {
    const [program = '', ...rest] = [...asRoot, ...words];
    spawnSync(program, rest);
  };
  // Podman's watchers of ended commands stay for minutes, and start more of themselves when they are asked to end.
  for (const line of execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n'))
    if (line.includes(`${dir}/`) && /\b(?:conmon|podman)\b/.test(line))
      root('kill', '-9', String(Number.parseInt(line, 10)));
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts.filter((at) => at.startsWith(`${dir}/`)).reverse()) root('umount', mount);
  root('rm', '-rf', dir);
}

function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

/** This process's, the number of processes lowered to what Podman allows itself. */
async function hardLimits(): Promise<string[]> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const most = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8'));
  const hard = (line: string): number =>
    Number(new RegExp(`^${line}\\s+\\S+\\s+(\\d+)`, 'm').exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  const found = { nofile: hard('Max open files'), nproc: Math.min(hard('Max processes'), most) };
  return Object.entries(found).flatMap(([name, value]) =>
    Number.isFinite(value) ? [`${name}=${value}:${value}`] : [],
  );
}
