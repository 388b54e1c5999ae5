import { UserError } from '#core/base/errors.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { ensureImage } from '#core/container/images.ts';
import { workspaceName } from '#core/container/workspaceContainer.ts';
import { awaitHealthy } from '#core/grading/healthcheck.ts';
import { imageOfTask, isInside, submissionRoots } from '#core/grading/plan.ts';
import { normaliseArtifacts } from '#core/task/artifacts.ts';
import { contentDigest, environmentId } from '#core/task/digest.ts';
import { wantedHostVariables } from '#core/task/env.ts';
import { readSpec } from '#core/task/spec.ts';
import type { Task } from '#core/task/types.ts';
import { metadataWarning } from './attachedMode.ts';
import { makeAttemptId } from './attemptStore.ts';
import type { AttemptContext } from './context.ts';
import { makeWorkspace, type WorkspaceRecipe } from './makeWorkspace.ts';
import type { AttemptProtocol } from './protocol.ts';
import type { AttemptEvent, AttemptRecord, StartOptions } from './types.ts';

/** Makes the attempt, or leaves nothing of it. */
export async function startAttempt(
  context: AttemptContext,
  task: Task,
  options: StartOptions,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const allowedHostEnv = await askForHostEnv(task, options, context.hostEnv);
  const engine = await context.connect();
  const record = newRecord(task, await contentDigest(task.dir), allowedHostEnv, options.protocol);
  const recipe: WorkspaceRecipe = {
    settle: (on) => settle(context, on, task, record, emit, signal),
    files: async ({ workdir }) =>
      isWholeRepository(task, workdir) ? { 'instruction.md': await readSpec(task) } : {},
    async fill(container, { workdir }) {
      const { healthcheck } = task.config.environment;
      if (healthcheck) await awaitHealthy(container, healthcheck, workdir, signal);
    },
  };
  await makeWorkspace(context, engine, record, recipe, emit, signal);
}

/** The record with the task's image, made or fetched where the engine lacks it, and the folders that are submitted. */
async function settle(
  context: AttemptContext,
  engine: ContainerEngine,
  task: Task,
  record: AttemptRecord,
  emit: (event: AttemptEvent) => void,
  signal: AbortSignal,
): Promise<AttemptRecord> {
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
  const { reference, id } = image;
  return context.store.update(record.id, (old) => ({ ...old, image: { reference, id }, workdir, roots }));
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
  const id = makeAttemptId(task.name);
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
