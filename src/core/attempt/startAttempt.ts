import { throwIfCancelled, UserError } from '#core/base/errors.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { ensureImage } from '#core/container/images.ts';
import {
  createWorkspaceContainer,
  deleteWorkspace,
  workspaceName,
} from '#core/container/workspaceContainer.ts';
import { probeIsolation } from '#core/container/workspaceProbe.ts';
import { awaitHealthy } from '#core/grading/healthcheck.ts';
import { imageOfTask, isInside, submissionRoots } from '#core/grading/plan.ts';
import { normaliseArtifacts } from '#core/task/artifacts.ts';
import { contentDigest, environmentId } from '#core/task/digest.ts';
import { wantedHostVariables } from '#core/task/env.ts';
import { readSpec } from '#core/task/spec.ts';
import type { Task } from '#core/task/types.ts';
import { metadataWarning } from './attachedMode.ts';
import { makeAttemptId } from './attemptStore.ts';
import { type AttemptContext, workspaceSpec } from './context.ts';
import { withStoreLabel } from './orphans.ts';
import type { AttemptProtocol } from './protocol.ts';
import { notStartedReason } from './states.ts';
import type { AttemptEvent, AttemptRecord, StartOptions } from './types.ts';

/** Makes the attempt, or leaves nothing of it. */
export async function startAttempt(
  context: AttemptContext,
  task: Task,
  options: StartOptions,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { store, locks, log } = context;
  const allowedHostEnv = await askForHostEnv(task, options, context.hostEnv);
  const engine = await context.connect();
  const record = newRecord(task, await contentDigest(task.dir), allowedHostEnv, options.protocol);
  await store.create(record);
  const release = await locks.require(record.id);
  context.busy.add(record.id);
  try {
    emit({ kind: 'preparing', attempt: record });
    await recordProtocol(context, record);
    emit(await prepare(context, engine, task, record, emit, signal));
  } catch (error) {
    await deleteWorkspace(engine, record.id).catch((failure: unknown) =>
      log.warn(`The workspace of the attempt ${record.id} could not be removed: ${String(failure)}`),
    );
    await store.delete(record.id);
    throw error;
  } finally {
    context.busy.delete(record.id);
    await release();
  }
}

async function prepare(
  context: AttemptContext,
  engine: ContainerEngine,
  task: Task,
  record: AttemptRecord,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<AttemptEvent> {
  emit({ kind: 'phase', phase: 'image', title: 'Preparing the image' });
  const image = await ensureImage(engine, await imageOfTask(task, { environmentId }), {
    onProgress: (message) => emit({ kind: 'progress', message }),
    log: context.log,
    signal,
  });
  if (image.devcontainerMetadata !== undefined) {
    context.log.warn(metadataWarning(image.reference));
    emit({ kind: 'progress', message: metadataWarning(image.reference) });
  }
  const roots = submissionRoots(
    { artifacts: normaliseArtifacts(task) },
    task.config.environment.workdir ?? image.workdir,
  );
  const workdir = roots[0] as string;
  const made = await context.store.update(record.id, (old) => ({
    ...old,
    image: { reference: image.reference, id: image.id },
    workdir,
    roots,
  }));

  emit({ kind: 'phase', phase: 'container', title: 'Starting the workspace' });
  const labelled = withStoreLabel(engine, context.store.storeDir);
  const files = isWholeRepository(task, workdir) ? { 'instruction.md': await readSpec(task) } : {};
  const { container, clamped } = await createWorkspaceContainer(
    labelled,
    { ...workspaceSpec(made, context.hostEnv), files },
    signal,
  );
  await makeHarborFolders(container, signal);
  if (task.config.environment.healthcheck)
    await awaitHealthy(container, task.config.environment.healthcheck, workdir, signal);

  emit({ kind: 'phase', phase: 'probe', title: 'Checking that it is offline' });
  const isolation = await probeIsolation(container, {
    signal,
    ...(made.user === undefined ? {} : { user: made.user }),
  });
  await container.pause();
  throwIfCancelled(signal);
  return { kind: 'ready', attempt: await makeReady(context, record.id), isolation, clamped };
}

/** Its environment is there and frozen; the clock of a measured attempt stands until its builder starts it. */
export async function makeReady({ store, recorders }: AttemptContext, id: string): Promise<AttemptRecord> {
  const ready = await store.move(id, 'ready');
  if (!ready.protocol) return ready;
  recorders.append(id, { kind: 'milestone', what: 'environment-ready' });
  return store.move(id, 'paused', { reason: notStartedReason });
}

/** The first line of the record of a measured attempt, whose lock the caller has. */
export async function recordProtocol(
  { recorders }: AttemptContext,
  { id, protocol }: AttemptRecord,
): Promise<void> {
  if (protocol) (await recorders.open(id)).append({ kind: 'protocol', protocol });
}

/** Where Harbor's agents may leave artifacts (harbor.md §0). */
export async function makeHarborFolders(container: ContainerHandle, signal: AbortSignal): Promise<void> {
  const script = 'mkdir -p /logs/agent /logs/artifacts && chmod 777 /logs/agent /logs/artifacts';
  await container.exec({ command: ['sh', '-c', script], user: '0', workdir: '/' }, signal);
}

/** As in E2E-SWE: a separate verifier gets the workdir, which begins as the spec alone. */
function isWholeRepository(task: Task, workdir: string): boolean {
  return (
    task.verifierMode === 'separate' &&
    normaliseArtifacts(task).some(({ source }) => isInside(workdir, source.replace(/\/+$/, '') || '/'))
  );
}

function newRecord(
  task: Task,
  digest: string,
  allowedHostEnv: readonly string[],
  protocol: AttemptProtocol | undefined,
): AttemptRecord {
  const id = makeAttemptId();
  const { environment, agent } = task.config;
  const createdAt = new Date().toISOString();
  const limit = (value: number | null): number | null => (value !== null && value > 0 ? value : null);
  return {
    schemaVersion: 3,
    id,
    task: { name: task.name, path: task.dir, digest },
    state: 'preparing',
    mode: 'channel',
    createdAt,
    workdir: '',
    ...(agent.user === null || agent.user === '' ? {} : { user: String(agent.user) }),
    image: { reference: '', id: '' },
    volume: workspaceName(id),
    roots: [],
    limits: { cpus: limit(environment.cpus), memoryMb: limit(environment.memory_mb) },
    budgetSec: limit(agent.timeout_sec),
    env: environment.env,
    allowedHostEnv,
    history: [{ state: 'preparing', at: createdAt }],
    grades: [],
    ...(protocol === undefined ? {} : { protocol }),
  };
}

/** The host variables that the task may read: all that it names and the host has, or the start is refused. */
async function askForHostEnv(
  task: Task,
  options: StartOptions,
  hostEnv: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const names = wantedHostVariables(task.config.environment.env)
    .map(({ name }) => name)
    .filter((name) => hostEnv[name] !== undefined);
  const wanted = [...new Set(names)];
  if (wanted.length === 0 || (await options.allowHostEnv?.(wanted))) return wanted;
  throw new UserError(
    `The task ${task.name} wants ${wanted.join(', ')} of this machine's environment, which was not allowed.`,
    { nextStep: 'Allow it, or start without these variables set.' },
  );
}
