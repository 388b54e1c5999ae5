import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitFor } from './support.ts';

/** Root's, and on Linux: what a daemon of one's own needs. */
export const canRunDaemon =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  ['dockerd', 'ip', 'mount'].every((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0);

/** As words, so that they are no packages that are missing. */
const tools = { dockerd: 'dockerd', ip: 'ip', mount: 'mount', umount: 'umount' } as const;

/** All that a grade needs of an image: a shell, bash, GNU find, tar and coreutils, taken from Debian with their libraries. */
export const tinyImage = 'tiny:1';
const tinyTools =
  'bash sh find cat chmod date dd head id ln ls mkdir mv rm seq setsid sleep stat tail tar tr';

export interface DaemonOptions {
  /** Megabytes of the file system that holds everything of the daemon; it is memory. */
  readonly sizeMb?: number;
  readonly args?: readonly string[];
}

/**
 * A Docker daemon of a test's own, with its own bridge (one without a bridge deletes the default daemon's), socket,
 * containerd and disk, so that it can be stopped, killed and filled up while others use the machine's.
 */
export class SecondDaemon {
  readonly dir: string;
  readonly socket: string;
  readonly #bridge: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(dir: string, args: readonly string[]) {
    this.dir = dir;
    this.socket = path.join(dir, 's');
    this.#bridge = `tst${process.pid.toString(36)}${made++}`;
    this.#args = args;
  }

  static async start(options: DaemonOptions = {}): Promise<SecondDaemon> {
    const dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-dockerd-'));
    const daemon = new SecondDaemon(dir, options.args ?? []);
    try {
      await mkdir(daemon.root);
      await writeFile(path.join(dir, 'daemon.json'), '{}');
      run(tools.mount, [
        '-t',
        'tmpfs',
        '-o',
        `size=${options.sizeMb ?? 512}m,mode=755`,
        'tmpfs',
        daemon.root,
      ]);
      run(tools.ip, ['link', 'add', daemon.#bridge, 'type', 'bridge']);
      await daemon.launch();
      daemon.#loadTinyImage();
    } catch (error) {
      await daemon.dispose();
      throw error;
    }
    return daemon;
  }

  get address(): string {
    return `unix://${this.socket}`;
  }

  /** Where everything of the daemon lies. */
  get root(): string {
    return path.join(this.dir, 'root');
  }

  get log(): string {
    return readFileSync(path.join(this.dir, 'log'), 'utf8');
  }

  /** Starts it again, with nothing left of what it ran: as after the machine itself was started again. */
  async relaunch(): Promise<void> {
    this.#killLeft();
    // A dockerd that finds it waits for a containerd that is not there.
    await rm(path.join(this.root, 'exec-root/containerd/containerd.pid'), { force: true });
    await this.launch();
  }

  /** Starts it, also beside its containers; after a kill it may need a second try (docker.md §D). */
  async launch(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const log = openSync(path.join(this.dir, 'log'), 'a');
      const child = spawn(tools.dockerd, this.#allArgs(), { stdio: ['ignore', log, log] });
      closeSync(log);
      this.#process = child;
      try {
        await waitFor('the second daemon', () => {
          if (child.exitCode !== null) throw new Error(`dockerd ended:\n${this.log.slice(-2000)}`);
          return this.docker(['version'], { allowFailure: true }) !== '';
        });
        return;
      } catch (error) {
        await this.#end('SIGKILL');
        if (attempt === 3) throw error;
      }
    }
  }

  /** Ends it in good order, which without live-restore ends its containers too. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Ends it at once; its containers run on. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  docker(args: readonly string[], options: { readonly allowFailure?: boolean } = {}): string {
    const { status, stdout, stderr } = spawnSync('docker', ['-H', this.address, ...args], {
      encoding: 'utf8',
    });
    if (status !== 0 && !options.allowFailure) throw new Error(`docker ${args.join(' ')}: ${stderr}`);
    return status === 0 ? stdout.trim() : '';
  }

  /** Names of all its containers. */
  containers(): string[] {
    return this.docker(['ps', '-a', '--format', '{{.Names}}']).split('\n').filter(Boolean);
  }

  /** An image whose configuration names another architecture, made of one that is there. */
  async relabel(from: string, to: string, architecture: string): Promise<void> {
    const dir = await mkdtemp(path.join(this.dir, 'image-'));
    const unpacked = (name: string): string => path.join(dir, name);
    execFileSync('sh', ['-c', 'docker -H "$0" save "$1" | tar -x -C "$2"', this.address, from, dir]);
    const [manifest] = JSON.parse(readFileSync(unpacked('manifest.json'), 'utf8')) as { Config: string }[];
    const config = unpacked(manifest?.Config ?? '');
    const content = JSON.parse(readFileSync(config, 'utf8')) as object;
    await writeFile(config, JSON.stringify({ ...content, architecture }));
    await writeFile(unpacked('manifest.json'), JSON.stringify([{ ...manifest, RepoTags: [to] }]));
    execFileSync('sh', ['-c', 'tar -c -C "$1" . | docker -H "$0" load', this.address, dir]);
  }

  /** Ends it and everything that it started, and removes its disk, its bridge and its folder. */
  async dispose(): Promise<void> {
    await this.#end('SIGKILL');
    this.#killLeft();
    const own = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[1] ?? '')
      .filter((mount) => mount.startsWith(`${this.dir}/`));
    for (const mount of own.reverse()) spawnSync(tools.umount, ['-l', mount]);
    spawnSync(tools.ip, ['link', 'del', this.#bridge]);
    await rm(this.dir, { recursive: true, force: true });
  }

  #allArgs(): string[] {
    const own = ['data-root', 'exec-root'].flatMap((name) => [`--${name}`, path.join(this.root, name)]);
    return [
      ...['--config-file', path.join(this.dir, 'daemon.json'), '--host', this.address],
      ...['--pidfile', path.join(this.dir, 'pid'), '--bridge', this.#bridge],
      ...[...own, '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'],
      ...this.#args,
    ];
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const over = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await over;
    await rm(path.join(this.dir, 'pid'), { force: true });
  }

  /** Its containerd and shims, whose command lines name this folder, and what runs in its containers. */
  #killLeft(): void {
    const shims = pids().filter((pid) => commandLine(pid).includes(this.dir));
    const children = pids().filter((pid) => shims.includes(parentOf(pid)));
    for (const pid of [...children, ...shims])
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Ended meanwhile.
      }
  }

  #loadTinyImage(): void {
    const pack = `t=$(for c in ${tinyTools}; do command -v $c; done)
l=$(for f in $t; do ldd $f; done | grep -o '/[^ ]*' | sort -u)
mkdir -p /out/app /out/tmp; chmod 1777 /out/tmp; ln -s usr/bin /out/bin
cp -L --parents $t $l /out; tar -C /out -c .`;
    const tar = execFileSync(
      'docker',
      ['run', '--rm', '--network', 'none', 'debian:bookworm-slim', 'bash', '-c', pack],
      { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    execFileSync('docker', ['-H', this.address, 'import', '-c', 'WORKDIR /app', '-', tinyImage], {
      input: tar,
    });
  }
}

let made = 0;

function run(command: string, args: readonly string[]): void {
  execFileSync(command, [...args], { stdio: 'pipe' });
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
