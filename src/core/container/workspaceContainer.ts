import { throwIfCancelled } from '#core/base/errors.ts';
import { type ContainerEngine, type ContainerHandle, type ContainerSpec, EngineError } from './engine.ts';
import {
  currentOwner,
  formatOwner,
  metadataLabel,
  noMetadata,
  ownerLabel,
  workbenchLabel,
} from './labels.ts';
import { toBinary } from './tarHeader.ts';
import { bodyOf, type TarEntry, writeTar } from './tarStream.ts';

/** On a workspace's container and volume: the attempt that they belong to. */
export const attemptLabel = 'dev.e2e-swe.workbench.attempt';
/** On a workspace's container and volume: the task's name, for people. */
export const taskLabel = 'dev.e2e-swe.workbench.task';

const workspaceFilter = `${workbenchLabel}=workspace`;

/** What system installs, su and file owners need; all but mknod and chroot work with them (docker.md §E). */
const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL'] as const;
/** Of all sessions in it together; real builds need hundreds. */
const pidsLimit = 4_096;
const attemptIdPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,99}$/;

export interface WorkspaceSpec {
  /** Letters, digits, `_`, `.`, `-`; names the container and the volume. */
  readonly attemptId: string;
  readonly taskName: string;
  /** Present in the engine (`ensureImage`). */
  readonly image: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cpus: number | null;
  readonly memoryMb: number | null;
  /**
   * `empty`: the workdir holds `files` only, as in E2E-SWE; `image`: what the image has there stays, for tasks whose
   * image brings the code to work on.
   */
  readonly start: 'empty' | 'image';
  /** By path in the workdir: the spec's text as `instruction.md`. Owned as the workdir is. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Workspace {
  readonly container: ContainerHandle;
  readonly volume: string;
  /** What was lowered to what the engine's host has, in words. */
  readonly clamped: readonly string[];
}

export interface OpenedWorkspace extends Workspace {
  /** `recreated`: what was outside the workdir is the image's again. */
  readonly how: 'was running' | 'was paused' | 'started' | 'recreated';
}

/** Both bear this name. */
export function workspaceName(attemptId: string): string {
  if (!attemptIdPattern.test(attemptId))
    throw new EngineError('refused', `${JSON.stringify(attemptId)} cannot name a container.`);
  return `e2e-swe-workspace-${attemptId}`;
}

/**
 * Makes and starts an attempt's container: no network, no mount but its volume, the limits of the task. Errors:
 * `EngineError`; nothing is left then. `refused` where the attempt has a container or volume already.
 */
export async function createWorkspaceContainer(
  engine: ContainerEngine,
  spec: WorkspaceSpec,
  signal?: AbortSignal,
): Promise<Workspace> {
  const name = workspaceName(spec.attemptId);
  if (spec.workdir === '/' || !spec.workdir.startsWith('/'))
    throw new EngineError('refused', `A volume cannot be the workdir ${JSON.stringify(spec.workdir)}.`);
  if (await hasVolume(engine, spec.attemptId))
    throw new EngineError('refused', `The attempt ${spec.attemptId} has a workspace already.`);
  if (await engine.findContainer(name, signal))
    throw new EngineError('refused', `There is a container ${name} already.`);
  await engine.createVolume(name, workspaceLabels(spec));
  let made: Awaited<ReturnType<typeof createAndStart>> | undefined;
  try {
    made = await createAndStart(engine, spec, true, signal);
    await fillWorkdir(made.container, spec, signal);
    throwIfCancelled(signal);
    return { ...made, volume: name };
  } catch (error) {
    // Only what is ours: a container that another window made meanwhile keeps its volume, the engine sees to that.
    await made?.container.remove().catch(() => undefined);
    await engine.removeVolume(name).catch(() => undefined);
    throw error;
  }
}

/**
 * The running container of an attempt, whatever became of it: started again, or made again around the same volume.
 * A frozen one stays frozen. `not-found` where the volume is gone: the work is lost.
 */
export async function openWorkspaceContainer(
  engine: ContainerEngine,
  spec: WorkspaceSpec,
  signal?: AbortSignal,
): Promise<OpenedWorkspace> {
  const volume = workspaceName(spec.attemptId);
  if (!(await hasVolume(engine, spec.attemptId)))
    throw new EngineError('not-found', `The volume ${volume} of the attempt is gone.`);
  const { clamped } = await limitsOf(engine, spec);
  const container = await findWorkspaceContainer(engine, spec.attemptId, signal);
  if (container) {
    const { running, paused } = await container.details(signal);
    if (running) return { container, volume, clamped, how: paused ? 'was paused' : 'was running' };
    try {
      await container.start(signal);
      return { container, volume, clamped, how: 'started' };
    } catch (error) {
      if (signal?.aborted || !(error instanceof EngineError) || error.failure === 'unreachable') throw error;
      await container.remove();
    }
  }
  const made = await createAndStart(engine, spec, false, signal);
  return { ...made, volume, how: 'recreated' };
}

/** Undefined when there is none, or one of that name that is not ours. */
export async function findWorkspaceContainer(
  engine: ContainerEngine,
  attemptId: string,
  signal?: AbortSignal,
): Promise<ContainerHandle | undefined> {
  const container = await engine.findContainer(workspaceName(attemptId), signal);
  const labels = (await container?.details(signal))?.labels;
  return labels?.[attemptLabel] === attemptId && labels[workbenchLabel] === 'workspace'
    ? container
    : undefined;
}

/** The container and the volume: the work is gone for good. No error where they are gone. */
export async function deleteWorkspace(engine: ContainerEngine, attemptId: string): Promise<void> {
  const container = await findWorkspaceContainer(engine, attemptId);
  await container?.remove();
  if (await hasVolume(engine, attemptId)) await engine.removeVolume(workspaceName(attemptId));
}

export interface ListedWorkspace {
  readonly attemptId: string;
  readonly taskName: string;
  readonly volume: string;
  /** Undefined where there is only the volume. */
  readonly container: { readonly id: string; readonly running: boolean } | undefined;
}

/** Every workspace volume of ours in the engine; the caller knows which attempts it has. */
export async function listWorkspaces(engine: ContainerEngine): Promise<readonly ListedWorkspace[]> {
  const [volumes, containers] = await Promise.all([
    engine.listVolumes(workspaceFilter),
    engine.listContainers(workspaceFilter),
  ]);
  return volumes.map(({ name, labels }) => {
    const attemptId = labels[attemptLabel] ?? '';
    const container = containers.find((other) => other.labels[attemptLabel] === attemptId);
    return {
      attemptId,
      taskName: labels[taskLabel] ?? '',
      volume: name,
      container: container && { id: container.id, running: container.running },
    };
  });
}

/** Workspaces of attempts that nobody knows any more, and whose container does not run. */
export async function listOrphanedWorkspaces(
  engine: ContainerEngine,
  isKnown: (attemptId: string) => boolean,
): Promise<readonly ListedWorkspace[]> {
  const all = await listWorkspaces(engine);
  return all.filter(({ attemptId, container }) => !isKnown(attemptId) && !container?.running);
}

async function hasVolume(engine: ContainerEngine, attemptId: string): Promise<boolean> {
  const volumes = await engine.listVolumes(`${attemptLabel}=${attemptId}`);
  return volumes.some(({ name }) => name === workspaceName(attemptId));
}

function workspaceLabels(spec: WorkspaceSpec): Record<string, string> {
  return {
    [workbenchLabel]: 'workspace',
    [attemptLabel]: spec.attemptId,
    [taskLabel]: spec.taskName,
    [ownerLabel]: formatOwner(currentOwner()),
    [metadataLabel]: noMetadata,
  };
}

/** The container that an attempt gets, as data: with the limits that the engine's host has. */
export async function planWorkspaceContainer(
  engine: ContainerEngine,
  spec: WorkspaceSpec,
  copyFromImage: boolean,
): Promise<{ readonly plan: ContainerSpec; readonly clamped: readonly string[] }> {
  const name = workspaceName(spec.attemptId);
  const { cpus, memoryMb, clamped } = await limitsOf(engine, spec);
  const plan: ContainerSpec = {
    name,
    image: spec.image,
    command: ['sleep', 'infinity'],
    labels: workspaceLabels(spec),
    env: spec.env,
    workdir: spec.workdir,
    network: 'none',
    cpus,
    memoryMb,
    pidsLimit,
    volumes: [{ volume: name, target: spec.workdir, copyFromImage }],
    capabilities,
    noNewPrivileges: true,
    init: true,
    noSwap: true,
  };
  return { plan, clamped };
}

async function createAndStart(
  engine: ContainerEngine,
  spec: WorkspaceSpec,
  copyFromImage: boolean,
  signal?: AbortSignal,
): Promise<{ container: ContainerHandle; clamped: readonly string[] }> {
  const { plan, clamped } = await planWorkspaceContainer(engine, spec, copyFromImage);
  const container = await engine.createContainer(plan, signal);
  try {
    await container.start(signal);
  } catch (error) {
    await container.remove().catch(() => undefined);
    throw error;
  }
  return { container, clamped };
}

async function limitsOf(
  engine: ContainerEngine,
  { cpus, memoryMb }: Pick<WorkspaceSpec, 'cpus' | 'memoryMb'>,
): Promise<{ cpus: number | null; memoryMb: number | null; clamped: readonly string[] }> {
  const info = await engine.info();
  const hostMb = Math.floor(info.memoryBytes / 1024 ** 2);
  const clamped: string[] = [];
  if (cpus !== null && cpus > info.cpus) clamped.push(`cpus ${cpus} -> ${info.cpus}`);
  if (memoryMb !== null && memoryMb > hostMb) clamped.push(`memory_mb ${memoryMb} -> ${hostMb}`);
  return {
    cpus: cpus === null ? null : Math.min(cpus, info.cpus),
    memoryMb: memoryMb === null ? null : Math.min(memoryMb, hostMb),
    clamped,
  };
}

/** The volume's folder keeps the owner and mode that it has in the image; what is put in gets that owner. */
async function fillWorkdir(
  container: ContainerHandle,
  spec: WorkspaceSpec,
  signal?: AbortSignal,
): Promise<void> {
  const clear = spec.start === 'empty' ? 'rm -rf ./* ./.[!.]* ./..?* &&' : '';
  const { exitCode, stdout, stderr } = await container.exec(
    {
      command: ['sh', '-c', `cd "$1" && ${clear} stat -c '%u %g' .`, 'sh', spec.workdir],
      user: '0',
      workdir: '/',
    },
    signal,
  );
  const [uid = Number.NaN, gid = Number.NaN] = stdout.toString('latin1').trim().split(' ').map(Number);
  if (exitCode !== 0 || !Number.isInteger(uid) || !Number.isInteger(gid)) {
    const said = `${stderr}${stdout}`.trim().slice(0, 500);
    throw new EngineError('start-failed', `The workspace could not be prepared: ${said}`);
  }
  const mtime = Math.floor(Date.now() / 1000);
  const entries = Object.entries(spec.files).map(([file, text]): TarEntry => {
    const content = Buffer.from(text);
    return {
      header: {
        name: toBinary(`${spec.workdir.slice(1)}/${file}`),
        type: 'file',
        mode: 0o644,
        uid,
        gid,
        size: content.length,
        mtime,
        linkName: '',
        devMajor: 0,
        devMinor: 0,
        flag: '0',
      },
      body: bodyOf(content),
    };
  });
  if (entries.length > 0) await container.putArchive('/', writeTar(entries), signal);
}
