import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { AttachedMode, OpenAttempt } from '#core/attempt/types.ts';
import { imageTag } from '#core/container/images.ts';
import { findWorkspaceContainer, workspaceName } from '#core/container/workspaceContainer.ts';
import type { Task } from '#core/task/types.ts';
import { sh } from './attemptSupport.ts';
import { docker, ensureCli, Lab, runCli } from './support.ts';

const never = new AbortController().signal;
const require = createRequire(import.meta.url);
const devcontainerCli = require.resolve('@devcontainers/cli/devcontainer.js');
const leak = `leak-${process.pid}`;

/** What an image can ask of dev container tools (fs-channel.md §1), and a command that shows that one obeyed. */
const hostileMetadata = JSON.stringify([
  {
    mounts: [{ source: '/var/run/docker.sock', target: '/var/run/docker.sock', type: 'bind' }],
    capAdd: ['SYS_ADMIN'],
    securityOpt: ['seccomp=unconfined'],
    containerEnv: { LEAK_C: `\${localEnv:LEAK}` },
    remoteEnv: { LEAK_R: `\${localEnv:LEAK}` },
    remoteUser: 'builder',
    postCreateCommand: 'touch /tmp/obeyed',
    postAttachCommand: 'touch /tmp/obeyed',
  },
]);

const base = `FROM debian:bookworm-slim
RUN useradd -u 1234 -m builder && mkdir /app && chown builder:builder /app
WORKDIR /app
`;

let lab: Lab;
let attempts: Attempts;
let store: AttemptStore;
/** The host of an attached editor, with what must not get into the container. */
let host: NodeJS.ProcessEnv;

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The open CLI, as a person on that host runs it. */
function devcontainer(...args: string[]): Promise<Said> {
  return new Promise((resolve) => {
    execFile(process.execPath, [devcontainerCli, ...args], { env: host }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error ? 1 : 0;
      resolve({ code, stdout, stderr });
    });
  });
}

const at = ({ folder, idLabel }: AttachedMode): string[] => [
  '--workspace-folder',
  folder,
  '--id-label',
  idLabel,
];
const up = (ready: AttachedMode): Promise<Said> => devcontainer('up', ...at(ready));
const exec = (ready: AttachedMode, script: string): Promise<Said> =>
  devcontainer('exec', ...at(ready), 'sh', '-c', script);

/** What must be the same in our container and in one that the CLI made. */
async function shapeOf(id: string) {
  const container = await findWorkspaceContainer(lab.engine, id);
  const [inspected] = JSON.parse(docker(['inspect', container?.id ?? workspaceName(id)]));
  const { HostConfig, Mounts, Config } = inspected;
  const keys = [
    ...['NetworkMode', 'CapDrop', 'SecurityOpt', 'Init', 'PidsLimit', 'Memory', 'MemorySwap', 'NanoCpus'],
    ...['LogConfig', 'IpcMode', 'Ulimits', 'Privileged', 'Binds', 'Devices', 'PortBindings', 'PidMode'],
  ];
  const labels = Object.entries(Config.Labels as Record<string, string>).filter(([key]) =>
    /^dev\.e2e-swe\.workbench(?:\.attempt|\.task)?$/.test(key),
  );
  return {
    host: Object.fromEntries(keys.map((key) => [key, nothingIsNull(HostConfig[key])])),
    capAdd: (HostConfig.CapAdd as string[]).map((name) => name.replace(/^CAP_/, '')).sort(),
    mounts: (Mounts as { Type: string; Name: string; Destination: string }[]).map(
      ({ Type, Name, Destination }) => [Type, Name, Destination],
    ),
    labels: Object.fromEntries(labels),
  };
}

/** The engine says null or an empty list for nothing, by who asked. */
function nothingIsNull(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 0) return null;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? null : value;
}

async function startOne(task: Task): Promise<string> {
  for await (const event of attempts.start(task, {}, never)) {
    if (event.kind !== 'ready') continue;
    const { image, id } = event.attempt;
    lab.owns(image.reference);
    lab.owns(withoutMetadata(image.id));
    return id;
  }
  throw new Error('not ready');
}

/** What is derived from an image with the label. */
const withoutMetadata = (imageId: string): string => imageTag('without-metadata', imageId.slice(7, 39));

/** A task whose builder works as `user`. */
async function taskFor(dockerfile: string, name: string, user?: string): Promise<Task> {
  const task = await lab.task({ dockerfile }, name);
  if (user === undefined) return task;
  return { ...task, config: { ...task.config, agent: { ...task.config.agent, user } } };
}

beforeAll(async () => {
  lab = await Lab.open();
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = new Attempts({
    store,
    connect: () => Promise.resolve(lab.engine),
    log: lab.log,
    hostEnv: {},
  });
  const home = path.join(lab.dir, 'home');
  await mkdir(path.join(home, '.ssh'), { recursive: true });
  await writeFile(
    path.join(home, '.gitconfig'),
    `[user]\n\tname = ${leak}\n[credential]\n\thelper = store\n`,
  );
  await writeFile(path.join(home, '.ssh/id_ed25519'), leak);
  const tmp = path.join(lab.dir, 'tmp');
  await mkdir(tmp);
  const { PATH, DOCKER_HOST } = process.env;
  host = {
    PATH,
    ...(DOCKER_HOST === undefined ? {} : { DOCKER_HOST }),
    HOME: home,
    TMPDIR: tmp,
    LEAK: leak,
    SSH_AUTH_SOCK: path.join(home, 'agent.sock'),
    GPG_AGENT_INFO: leak,
    GIT_ASKPASS: leak,
    VSCODE_IPC_HOOK_CLI: leak,
  };
});

afterAll(async () => {
  for (const { id } of await store.list()) await attempts.delete(id);
  await lab.dispose();
});

describe.each([
  { what: 'an image without the label', name: 'plain-task', label: '', user: 'builder' },
  {
    what: 'an image whose label asks for the host',
    name: 'hostile-task',
    label: `LABEL devcontainer.metadata='${hostileMetadata}'\n`,
    user: undefined,
  },
])('the open CLI and $what', ({ name, label, user }) => {
  let id: string;
  let open: OpenAttempt;
  let ready: AttachedMode;
  const isHostile = label !== '';
  const remoteUser = user ?? 'root';

  beforeAll(async () => {
    id = await startOne(await taskFor(`${base}${label}`, name, user));
    open = await attempts.open(id, never);
  });
  afterAll(() => open?.close());

  test('the files are in the store alone; the record says that it is attached', async () => {
    expect((await store.read(id)).mode).toBe('channel');
    ready = await attempts.attachedMode(id, never);
    expect((await store.read(id)).mode).toBe('attached');
    expect(ready.config).toBe(path.join(store.dirOf(id), 'devcontainer/.devcontainer/devcontainer.json'));
    const config = JSON.parse(await readFile(ready.config, 'utf8'));
    expect(config).toMatchObject({ remoteUser, workspaceFolder: '/app' });
    expect(JSON.parse(await readFile(ready.attachedConfig, 'utf8'))).toMatchObject({ remoteUser });
    expect(ready.warnings).toHaveLength(isHostile ? 1 : 0);
    expect(lab.messages.some((line) => line.includes('carries the label devcontainer.metadata'))).toBe(
      isHostile,
    );
    expect(await sh(open.container, 'ls -A /app')).toBe('instruction.md\n');
  });

  test('up and exec work in our own container, with nothing of the host', async () => {
    const own = open.container.id;
    const said = await up(ready);
    expect(said, said.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(said.stdout)).toMatchObject({ outcome: 'success', containerId: own, remoteUser });
    await expectApart(ready, remoteUser);
    expect(await sh(open.container, 'cat /app/made; rm /app/made')).toBe(`${remoteUser}\n`);
    expect((await exec(ready, 'exit 7')).code).toBe(7);
  });

  test('exec by the container’s id alone gets nothing of the label or the host', async () => {
    const said = await devcontainer('exec', '--container-id', open.container.id, 'sh', '-c', 'env; id -un');
    expect(said, said.stderr).toMatchObject({ code: 0 });
    expect(said.stdout).not.toContain(leak);
    expect(said.stdout.trim().split('\n').at(-1)).toBe('root');
    expect(await sh(open.container, 'ls /tmp/obeyed /var/run/docker.sock 2>&1')).not.toMatch(/^\//m);
  });

  test('up without our container makes one of the same shape, which is ours again', async () => {
    const before = await shapeOf(id);
    await sh(open.container, 'echo kept > /app/kept');
    await open.close();
    docker(['rm', '-f', workspaceName(id)]);
    const said = await up(ready);
    expect(said, said.stderr).toMatchObject({ code: 0 });
    expect(await shapeOf(id)).toEqual(before);
    expect(before.mounts).toEqual([['volume', workspaceName(id), '/app']]);
    await expectApart(ready, remoteUser);
    open = await attempts.open(id, never);
    expect(open.how).toBe('was running');
    expect(open.isolation).toMatchObject({ isIsolated: true, bridges: [] });
    expect(await sh(open.container, 'cat /app/kept; rm /app/kept /app/made')).toBe('kept\n');
  });

  test('nothing was left on the host but the tool’s own folder', () => {
    expect(existsSync(path.join(ready.folder, 'made'))).toBe(false);
    expect(docker(['ps', '-aq', '--filter', `label=${ready.idLabel}`]).split('\n')).toHaveLength(1);
  });
});

test('a control: the CLI obeys the label, also where a Dockerfile empties it', async () => {
  const { image } = (await store.list()).find(({ task }) => task.name.includes('hostile')) ?? {};
  const folder = path.join(lab.dir, 'control');
  await mkdir(path.join(folder, '.devcontainer'), { recursive: true });
  const name = `e2e-swe-test-control-${process.pid}`;
  const config = {
    build: { dockerfile: 'Dockerfile' },
    runArgs: [`--name=${name}`, '--network=none'],
    updateRemoteUserUID: false,
  };
  await writeFile(path.join(folder, '.devcontainer/devcontainer.json'), JSON.stringify(config));
  const dockerfile = `FROM ${image?.reference}\nLABEL devcontainer.metadata="[]"\n`;
  await writeFile(path.join(folder, '.devcontainer/Dockerfile'), dockerfile);
  try {
    await devcontainer('up', '--workspace-folder', folder, '--skip-post-create');
    const [{ Mounts, HostConfig, Config }] = JSON.parse(docker(['inspect', name]));
    lab.owns(Config.Image);
    expect((Mounts as { Source: string }[]).map(({ Source }) => Source)).toContain('/var/run/docker.sock');
    expect(HostConfig.CapAdd.join()).toContain('SYS_ADMIN');
    expect(Config.Env).toContain(`LEAK_C=${leak}`);
    const said = await devcontainer('exec', '--container-id', name, 'env');
    expect(said.stdout).toContain(`LEAK_R=${leak}`);
  } finally {
    docker(['rm', '-f', name], { allowFailure: true });
  }
});

/** Offline, with the volume and nothing of the host, by the open CLI's `exec`. */
async function expectApart(ready: AttachedMode, user: string): Promise<void> {
  const said = await exec(
    ready,
    `id -un > /app/made; id -un; pwd; ls -A /app; grep -c : /proc/net/dev; grep -E 'CapBnd|NoNewPrivs|Seccomp:' /proc/self/status
ls -d /var/run/docker.sock /run/docker.sock /tmp/obeyed 2>/dev/null; find / -xdev -type s 2>/dev/null; cat ~/.gitconfig ~/.ssh/id_ed25519 /etc/gitconfig 2>/dev/null; env`,
  );
  expect(said, said.stderr).toMatchObject({ code: 0 });
  const [who, cwd, ...lines] = said.stdout.replaceAll('\r', '').trim().split('\n');
  expect([who, cwd]).toEqual([user, '/app']);
  expect(lines).toEqual(
    expect.arrayContaining([
      'instruction.md',
      '1',
      'CapBnd:\t00000000000000fb',
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
    ]),
  );
  expect(said.stdout).not.toContain(leak);
  expect(said.stdout).not.toMatch(/docker\.sock|obeyed|LEAK|\[credential\]/);
  const env = lines.filter((line) => /^\w+=/.test(line));
  expect(env).toContain('SSH_AUTH_SOCK=');
  expect(env.filter((line) => /^(?:VSCODE|REMOTE_CONTAINERS|GIT_|DOCKER)/.test(line))).toEqual([]);
}

/** Only busybox's commands are found. */
const busybox = `RUN apt-get update && apt-get install -y --no-install-recommends busybox-static && mkdir /bb && busybox --install -s /bb
ENV PATH=/bb
`;

describe.each([
  { tools: 'Debian’s tools', more: '', name: 'bridged-task' },
  { tools: 'busybox', more: busybox, name: 'busybox-task' },
])('the probe of bridges, with $tools', ({ more, name }) => {
  let id: string;
  let open: OpenAttempt;

  beforeAll(async () => {
    const dockerfile = `${base}RUN mkdir -p /root/.vscode-server && printf '[user]\\n\\tname = x\\n[credential]\\n\\thelper = store\\n' > /etc/gitconfig\n${more}`;
    id = await startOne(await taskFor(dockerfile, name, 'builder'));
    open = await attempts.open(id, never);
  });
  afterAll(() => open?.close());

  /** As Dev Containers leaves them: a server's variables, its sockets, git's helper. */
  const plant = `
cat >> /etc/gitconfig <<'END'
[credential]
	helper = "!f() { /root/.vscode-server/bin/1/node /tmp/vscode-remote-containers-1.js git-credential-helper $*; }; f"
END
mkdir -p /home/builder/.gnupg
cat > /tmp/serve.pl <<'END'
use Socket;
for (@ARGV) {
  socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die; bind($s, sockaddr_un($_)) or die "$_: $!"; listen($s, 1); push @k, $s;
}
socket(my $t, PF_INET, SOCK_STREAM, 0) or die; bind($t, sockaddr_in(8123, INADDR_LOOPBACK)) or die; listen($t, 1);
open(my $f, '>', '/tmp/serving'); close($f);
sleep 300;
END
SSH_AUTH_SOCK=/tmp/vscode-ssh-auth-1.sock VSCODE_IPC_HOOK_CLI=/tmp/vscode-ipc-1.sock REMOTE_CONTAINERS_IPC=/tmp/x BROWSER= \\
  setsid /usr/bin/perl /tmp/serve.pl /tmp/vscode-ssh-auth-1.sock /tmp/vscode-ipc-1.sock /tmp/vscode-remote-containers-ipc-1.sock \\
  "/tmp/vscode-git-a b.sock" /home/builder/.gnupg/S.gpg-agent /tmp/app.sock /app/vscode-git-2.sock </dev/null >/dev/null 2>&1 &
/usr/bin/setpriv --reuid 1234 --regid 1234 --clear-groups env GIT_ASKPASS=/x setsid sleep 300 </dev/null >/dev/null 2>&1 &
i=0; while [ ! -e /tmp/serving ] && [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done; ls /tmp/serving`;

  const names = (found: readonly { kind: string; name: string }[]): string[] =>
    found.map(({ kind, name }) => `${kind} ${name}`).sort();

  test('finds nothing that leads out of a fresh workspace', async () => {
    const report = await attempts.bridges(id, { scrub: false }, never);
    expect(names(report.bridges)).toEqual([]);
    expect(names(report.notes)).toEqual([
      'credential helper /etc/gitconfig',
      'editor server /root/.vscode-server',
    ]);
    expect(report.isolation.isIsolated).toBe(true);
  });

  test('finds what an attached editor plants, and leaves it', async () => {
    expect(await sh(open.container, plant)).toBe('/tmp/serving\n');
    const report = await attempts.bridges(id, { scrub: false }, never);
    expect(names(report.bridges)).toEqual([
      'credential helper /etc/gitconfig',
      'socket /app/vscode-git-2.sock',
      'socket /home/builder/.gnupg/S.gpg-agent',
      'socket /tmp/vscode-git-a b.sock',
      'socket /tmp/vscode-ipc-1.sock',
      'socket /tmp/vscode-remote-containers-ipc-1.sock',
      'socket /tmp/vscode-ssh-auth-1.sock',
      'variable GIT_ASKPASS',
      'variable REMOTE_CONTAINERS_IPC',
      'variable SSH_AUTH_SOCK',
      'variable VSCODE_IPC_HOOK_CLI',
    ]);
    expect(names(report.notes)).toEqual([
      'credential helper /etc/gitconfig',
      'editor server /root/.vscode-server',
      'port 127.0.0.1:8123',
      'socket /tmp/app.sock',
    ]);
    expect(report.scrubbed).toEqual([]);
  });

  test('removes what can be removed, says what remains, and leaves the rest of git’s file', async () => {
    ensureCli();
    const env = { E2E_SWE_HOME: store.storeDir };
    const said = await runCli(['attempt', 'probe', id, '--scrub'], env);
    expect(said.code, said.stderr).toBe(1);
    const [removed = '', out = ''] = said.stdout.split('Ways out:');
    expect(removed.split('\n').filter((line) => line.startsWith('  '))).toHaveLength(6);
    expect(out).toMatch(/variable SSH_AUTH_SOCK: use of the SSH keys of another machine/);
    expect(out).toContain('socket /app/vscode-git-2.sock');
    expect(out).not.toMatch(/socket \/tmp\/vscode|S\.gpg-agent/);
    expect(
      await sh(open.container, 'grep -c vscode /etc/gitconfig; grep helper /etc/gitconfig; ls /tmp/*.sock'),
    ).toBe('0\n\thelper = store\n/tmp/app.sock\n');
    expect(
      await sh(
        open.container,
        '/usr/bin/perl -MSocket -e \'socket(S, PF_UNIX, SOCK_STREAM, 0); exit(connect(S, sockaddr_un("/tmp/vscode-ssh-auth-1.sock")) ? 1 : 0)\' && echo unreachable',
      ),
    ).toBe('unreachable\n');
  });
});

test('on the command line: the path of the file, the way to use it, the mode', async () => {
  ensureCli();
  const env = { E2E_SWE_HOME: store.storeDir };
  const id = await startOne(await lab.task({}, 'cli-task'));
  const said = await runCli(['attempt', 'devcontainer', id], env);
  expect(said.code, said.stderr).toBe(0);
  expect(existsSync(said.stdout.trim())).toBe(true);
  expect(said.stderr).toContain(`--id-label dev.e2e-swe.workbench.attempt=${id}`);
  expect(said.stderr).toMatch(/vscode-remote:\/\/attached-container\+[0-9a-f]+\/app/);
  expect(said.stderr).toContain('unverified');
  expect((await runCli(['attempt', 'show', id], env)).stdout).toContain('mode     attached');
  await attempts.giveUp(id);
  const over = await runCli(['attempt', 'devcontainer', id], env);
  expect(over.code).not.toBe(0);
  expect(over.stderr).toContain('was given up');
});
