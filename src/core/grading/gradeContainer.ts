import { randomBytes } from 'node:crypto';
import { errorMessage, isCancellation } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import {
  type ContainerEngine,
  type ContainerHandle,
  type ContainerSpec,
  EngineError,
  type ImageInfo,
} from '#core/container/engine.ts';
import { gradeLabels } from '#core/container/labels.ts';
import { abandonContainer } from '#core/container/reaper.ts';
import type { Limits } from './plan.ts';
import { NotGradedError } from './reasons.ts';

export interface GradeContainerOptions {
  readonly image: ImageInfo;
  readonly limits: Limits;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string | undefined;
  readonly network: ContainerSpec['network'];
  /** The grade's folder, where its container is to be kept for a look inside. */
  readonly keepFor?: string | undefined;
  readonly noNewPrivileges?: boolean;
  readonly log: Log;
}

/** What a container is made of; its name apart. */
export function containerSpec(options: GradeContainerOptions): Omit<ContainerSpec, 'name'> {
  return {
    image: options.image.id,
    // As Harbor starts it; the image's ENTRYPOINT stays in front (harbor.md §3.1).
    command: ['sh', '-c', 'sleep infinity'],
    labels: gradeLabels({ keepFor: options.keepFor }),
    env: options.env,
    ...(options.workdir === undefined ? {} : { workdir: options.workdir }),
    network: options.network,
    cpus: options.limits.cpus,
    memoryMb: options.limits.memoryMb,
    pidsLimit: options.limits.pids,
    ...(options.noNewPrivileges ? { noNewPrivileges: true } : {}),
  };
}

/** Makes a container that is still to be started. */
export async function makeContainer(
  engine: ContainerEngine,
  options: GradeContainerOptions,
): Promise<ContainerHandle> {
  const name = `e2e-swe-grade-${randomBytes(6).toString('hex')}`;
  // Not aborted half-way: a create whose answer is lost would leave a container behind.
  const container = await engine
    .createContainer({ ...containerSpec(options), name })
    .catch(async (error: unknown) => {
      // It may have been made all the same.
      if (error instanceof EngineError && error.failure === 'lost') await abandonContainer(engine, name);
      throw error;
    });
  options.log.debug(`Made container ${name} (${container.id.slice(0, 12)})`);
  return container;
}

/**
 * Makes a container for `use` to start, or takes one that is ready, and removes it whatever happened (unless it is to be
 * kept).
 */
export async function withContainer<T>(
  engine: ContainerEngine,
  options: GradeContainerOptions,
  use: (container: ContainerHandle) => Promise<T>,
  onRemoving: () => void = () => undefined,
  ready?: ContainerHandle,
): Promise<T> {
  const container = ready ?? (await makeContainer(engine, options));
  let isKept = options.keepFor !== undefined;
  try {
    return await use(container);
  } catch (error) {
    // Of a grade that was stopped nothing is left.
    if (isCancellation(error)) isKept = false;
    throw (await endedByItself(engine, container, options.image, error)) ?? error;
  } finally {
    onRemoving();
    if (isKept) await leaveRunning(container, options.log);
    else await removeContainer(engine, container, options.log);
  }
}

/** A removal that fails is logged: the next grade finds the container. */
export async function removeContainer(
  engine: ContainerEngine,
  container: ContainerHandle,
  log: Log,
): Promise<void> {
  try {
    await bounded(container.remove(), 'removing a container', removeMs);
  } catch (error) {
    await abandonContainer(engine, container.name);
    log.warn(
      `Container ${container.name} could not be removed: ${errorMessage(error)} The next grade removes it.`,
    );
  }
}

/** How long an engine may take to kill a container, and to remove one with all its files. */
const killMs = 30_000;
const removeMs = 120_000;

/** A container in which nothing can be run because its own first process is over: an ENTRYPOINT that does not run its command. */
async function endedByItself(
  engine: ContainerEngine,
  container: ContainerHandle,
  image: ImageInfo,
  error: unknown,
): Promise<NotGradedError | undefined> {
  if (!(error instanceof EngineError) || error.failure !== 'exec-failed') return undefined;
  const state = await container.state().catch(() => undefined);
  if (!state || state.running) return undefined;
  const { arch } = await engine.info();
  // Another architecture's programs run where the engine's host emulates it, and else end at once.
  if (image.arch !== arch)
    return new NotGradedError(
      'image-platform',
      `The grade container ended at once (exit ${state.exitCode}): its image ${image.reference} is for ${image.arch}, and this engine's ${arch} does not run that.`,
      { cause: error },
    );
  return new NotGradedError(
    'container-start-failed',
    `The grade container ended by itself (exit ${state.exitCode}) before anything could run in it.`,
    { cause: error },
  );
}

/** Ends everything in the container. An engine that does not answer is lost, and does not hang the grade. */
export async function killContainer(container: ContainerHandle): Promise<void> {
  await bounded(container.kill(), 'killing a container', killMs);
}

async function bounded(call: Promise<void>, doing: string, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new EngineError('lost', `The engine did not finish ${doing} within ${ms / 1000} s.`)),
      ms,
    );
  });
  try {
    await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Its processes ended with the grade; its files are as the tests left them. */
async function leaveRunning(container: ContainerHandle, log: Log): Promise<void> {
  try {
    await container.start();
    log.warn(`Kept container ${container.name}. Look inside with: docker exec -it ${container.name} bash`);
  } catch (error) {
    log.warn(`Kept container ${container.name}, which does not start again: ${String(error)}`);
  }
}
