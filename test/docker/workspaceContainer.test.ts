import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { reapContainers } from '#core/container/reaper.ts';
import { writeTar } from '#core/container/tarStream.ts';
import {
  createWorkspaceContainer,
  deleteWorkspace,
  findWorkspaceContainer,
  listOrphanedWorkspaces,
  listWorkspaces,
  openWorkspaceContainer,
  type WorkspaceSpec,
} from '#core/container/workspaceContainer.ts';
import { probeIsolation } from '#core/container/workspaceProbe.ts';

const marker = `planted-${process.pid}-never-inside`;
const image = 'e2e-swe-test-workspace';
const docker = new Docker();
const attempts = ['one', 'two', 'three'].map((name) => `test-${process.pid}-${name}`);
const [one = '', two = '', three = ''] = attempts;

let engine: ContainerEngine;
let home: string;

const spec = (attemptId: string, more: Partial<WorkspaceSpec> = {}): WorkspaceSpec => ({
  attemptId,
  taskName: 'a task',
  image,
  workdir: '/app',
  env: { FROM_TASK: 'yes' },
  cpus: 64,
  memoryMb: 512,
  start: 'empty',
  files: { 'instruction.md': '# Build it\n' },
  ...more,
});

beforeAll(async () => {
  engine = await connectEngine({ env: process.env });
  home = await mkdtemp(path.join(tmpdir(), 'e2e-swe-workspace-'));
  // A task as it lies on the host, markers in all that must stay there.
  for (const folder of ['tests', 'solution', 'environment']) {
    await mkdir(path.join(home, folder), { recursive: true });
    await writeFile(path.join(home, folder, `${marker}.txt`), marker);
  }
  await rm(path.join(home, 'environment', `${marker}.txt`));
  await writeFile(
    path.join(home, 'environment', 'Dockerfile'),
    `FROM debian:bookworm-slim
RUN useradd -u 1234 builder && mkdir /app && echo from-image > /app/seed && mkdir /app/.hidden && chown -R builder:builder /app && chmod 2775 /app
LABEL devcontainer.metadata='[{"mounts":[{"source":"/var/run/docker.sock","target":"/var/run/docker.sock","type":"bind"}],"capAdd":["SYS_ADMIN"]}]'
WORKDIR /app
`,
  );
  await engine.buildImage({
    tag: image,
    context: writeTar(walkFolder(path.join(home, 'environment'), { prefix: '' })),
    dockerfile: 'Dockerfile',
    labels: {},
    buildKit: false,
    onProgress: () => undefined,
  });
});

afterAll(async () => {
  for (const attempt of attempts) await deleteWorkspace(engine, attempt);
  await docker.getImage(image).remove({ force: true });
  await rm(home, { recursive: true, force: true });
  engine.close();
});

describe('the workspace container', () => {
  let container: ContainerHandle;

  it('is made from the image, empty but for the spec, which belongs to the workdir’s owner', async () => {
    const made = await createWorkspaceContainer(engine, spec(one));
    container = made.container;
    const { cpus } = await engine.info();
    expect(made.clamped).toEqual([`cpus 64 -> ${cpus}`]);
    expect(
      await sh(
        container,
        'cd /app; ls -A; cat instruction.md; stat -c "%u %g %a" . instruction.md; echo $FROM_TASK',
      ),
    ).toBe('instruction.md\n# Build it\n1234 1234 2775\n1234 1234 644\nyes\n');
    await expect(createWorkspaceContainer(engine, spec(one))).rejects.toMatchObject({ failure: 'refused' });
    expect(await sh(container, 'ls -A /app')).toBe('instruction.md\n');
  });

  it('has the limits, the seven capabilities and nothing more', async () => {
    const { HostConfig, Config, Mounts } = await docker.getContainer(container.id).inspect();
    const { cpus, product } = await engine.info();
    expect(HostConfig).toMatchObject({
      NetworkMode: 'none',
      SecurityOpt: ['no-new-privileges'],
      Init: true,
      PidsLimit: 4096,
      Memory: 512 * 1024 ** 2,
      MemorySwap: 512 * 1024 ** 2,
      NanoCpus: cpus * 1e9,
      LogConfig: { Type: 'none' },
      Privileged: false,
      // Podman tells these in words of its own, and keeps its own limits; what holds is asked inside, below.
      ...(product === 'Podman'
        ? {}
        : {
            CapDrop: ['ALL'],
            CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL'],
            IpcMode: 'private',
            Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
          }),
    });
    expect(Mounts.map(({ Type, Name, Destination }) => [Type, Name, Destination])).toEqual([
      ['volume', `e2e-swe-workspace-${one}`, '/app'],
    ]);
    expect(Config.Labels).toMatchObject({
      'devcontainer.metadata': '[]',
      'dev.e2e-swe.workbench': 'workspace',
      'dev.e2e-swe.workbench.attempt': one,
    });
    expect(await sh(container, 'grep -E "Cap(Eff|Bnd)|NoNewPrivs" /proc/self/status')).toBe(
      'CapEff:\t00000000000000fb\nCapBnd:\t00000000000000fb\nNoNewPrivs:\t1\n',
    );
    if (product === 'Docker') expect(await sh(container, 'ulimit -c')).toBe('0\n');
  });

  it('holds nothing of the host, the tests or the solution: the whole file system, walked as root', async () => {
    const host = (await docker.info()) as { Name: string };
    const found = await sh(
      container,
      `find / -path /proc -prune -o -path /sys -prune -o \\( -name "*${marker}*" -o -path /tests -o -path /solution \\) -print
grep -rlF -e ${marker} -e ${path.basename(home)} --exclude-dir=proc --exclude-dir=sys / 2>/dev/null
find / -xdev -type s`,
    );
    expect(found).toBe('');
    const mounts = (await sh(container, 'cut -d" " -f5 /proc/self/mountinfo')).trim().split('\n');
    // The engine's own: its three files of a network, its init, Podman's word that it is one of its containers.
    const own =
      /^\/(?:(?:proc|sys|dev)(?:\/.*)?|etc\/(?:resolv\.conf|hostname|hosts)|(?:usr\/)?sbin\/docker-init|run\/(?:podman-init|\.containerenv)|app)?$/;
    expect(mounts.filter((mount) => !own.test(mount))).toEqual([]);
    expect(await sh(container, 'hostname')).not.toContain(host.Name);
  });

  it('proves that it is offline', async () => {
    const probe = await probeIsolation(container);
    expect(probe).toMatchObject({ isIsolated: true, interfaces: ['lo'], bridges: [] });
    expect(probe.connection).toContain('Network is unreachable');
    const open = await engine.createContainer({
      name: `e2e-swe-test-open-${process.pid}`,
      image,
      command: ['sleep', '60'],
      labels: {},
      env: { SSH_AUTH_SOCK: '/x' },
      network: 'bridge',
      cpus: null,
      memoryMb: null,
      pidsLimit: 100,
    });
    try {
      await open.start();
      const { interfaces, ...found } = await probeIsolation(open);
      expect(found).toMatchObject({ isIsolated: false, hasNoNetwork: false, bridges: ['$SSH_AUTH_SOCK'] });
      expect(interfaces).toContain('eth0');
    } finally {
      await open.remove();
    }
  });

  it('is found, frozen, thawed, and comes back around the same volume', async () => {
    await sh(container, 'echo work > /app/mine; echo lost > /outside');
    expect((await findWorkspaceContainer(engine, one))?.id).toBe(container.id);
    await container.pause();
    await container.pause();
    expect(await container.details()).toMatchObject({ paused: true });
    expect((await openWorkspaceContainer(engine, spec(one))).how).toBe('was paused');
    await container.unpause();
    await container.unpause();
    expect((await openWorkspaceContainer(engine, spec(one))).how).toBe('was running');
    await container.kill();
    const started = await openWorkspaceContainer(engine, spec(one));
    expect(started).toMatchObject({ how: 'started', container: { id: container.id } });
    expect(await sh(started.container, 'cat /app/mine /outside')).toBe('work\nlost\n');
    await started.container.remove();
    const again = await openWorkspaceContainer(engine, spec(one));
    expect(again.how).toBe('recreated');
    expect(await sh(again.container, 'cat /app/mine; ls /outside 2>&1; stat -c "%u %a" /app')).toContain(
      'work\n',
    );
    // An emptied workspace is not filled from the image.
    await sh(again.container, 'rm -rf /app/* /app/.[!.]*');
    await again.container.remove();
    const empty = await openWorkspaceContainer(engine, spec(one));
    expect(await sh(empty.container, 'ls -A /app; stat -c "%u %a" /app')).toBe('1234 2775\n');
  });

  it('keeps the image’s files where the task begins with them', async () => {
    const { container: made } = await createWorkspaceContainer(engine, spec(two, { start: 'image' }));
    expect(await sh(made, 'ls -A /app; cat /app/seed')).toBe('.hidden\ninstruction.md\nseed\nfrom-image\n');
  });

  it('is no grade container to the reaper; an orphan is listed only when nothing runs; delete takes all', async () => {
    await reapContainers(engine, { kept: true });
    const known = (attemptId: string): boolean => attemptId === one || !attempts.includes(attemptId);
    expect(await listOrphanedWorkspaces(engine, known)).toEqual([]);
    const frozen = await findWorkspaceContainer(engine, two);
    await frozen?.pause();
    expect(await listOrphanedWorkspaces(engine, known)).toEqual([]);
    await frozen?.unpause();
    await frozen?.kill();
    expect(await listOrphanedWorkspaces(engine, known)).toMatchObject([
      { attemptId: two, taskName: 'a task' },
    ]);
    await deleteWorkspace(engine, two);
    await deleteWorkspace(engine, two);
    expect((await listWorkspaces(engine)).map(({ attemptId }) => attemptId)).not.toContain(two);
    await expect(openWorkspaceContainer(engine, spec(two))).rejects.toMatchObject({ failure: 'not-found' });
  });

  it('leaves nothing when it cannot be made, or is cancelled', async () => {
    await expect(
      createWorkspaceContainer(engine, spec(three, { image: 'e2e-swe-test-no-such-image' })),
    ).rejects.toMatchObject({ failure: 'image-missing' });
    await expect(createWorkspaceContainer(engine, spec(three, { workdir: '/' }))).rejects.toThrow('workdir');
    const stop = new AbortController();
    const making = createWorkspaceContainer(engine, spec(three), stop.signal);
    setTimeout(() => stop.abort(), 120);
    await expect(making).rejects.toThrow('Cancelled');
    expect(await findWorkspaceContainer(engine, three)).toBeUndefined();
    expect((await listWorkspaces(engine)).map(({ attemptId }) => attemptId)).not.toContain(three);
  });
});

async function sh(container: ContainerHandle, script: string): Promise<string> {
  const { stdout, stderr } = await container.exec({ command: ['sh', '-c', script], user: '0' });
  return `${stdout}${stderr}`;
}
