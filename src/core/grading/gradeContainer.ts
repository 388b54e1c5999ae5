import { randomBytes } from 'node:crypto';
import type { Log } from '#core/base/log.ts';
import type { ContainerEngine, ContainerHandle, ImageInfo } from '#core/container/engine.ts';
import { gradeLabels } from '#core/container/labels.ts';
import type { Limits } from './plan.ts';

export interface GradeContainerOptions {
  readonly image: ImageInfo;
  readonly limits: Limits;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string | undefined;
  readonly network: 'none' | 'bridge';
  readonly keep: boolean;
  readonly log: Log;
}

/**
 * Makes a container, hands it to `use` to be started, and removes it whatever happened (unless it is to be kept).
 * A removal that fails is logged: the reaper finds the container by its label.
 */
export async function withContainer<T>(
  engine: ContainerEngine,
  options: GradeContainerOptions,
  use: (container: ContainerHandle) => Promise<T>,
  onRemoving: () => void = () => undefined,
): Promise<T> {
  const name = `e2e-swe-grade-${randomBytes(6).toString('hex')}`;
  // Not aborted half-way: a create whose answer is lost would leave a container behind.
  const container = await engine.createContainer({
    name,
    image: options.image.id,
    // As Harbor starts it; the image's ENTRYPOINT stays in front (harbor.md §3.1).
    command: ['sh', '-c', 'sleep infinity'],
    labels: gradeLabels({ keep: options.keep }),
    env: options.env,
    ...(options.workdir === undefined ? {} : { workdir: options.workdir }),
    network: options.network,
    cpus: options.limits.cpus,
    memoryMb: options.limits.memoryMb,
    pidsLimit: options.limits.pids,
  });
  options.log.debug(`Made container ${name} (${container.id.slice(0, 12)})`);
  try {
    return await use(container);
  } finally {
    onRemoving();
    if (options.keep) await leaveRunning(container, options.log);
    else {
      try {
        await container.remove();
      } catch (error) {
        options.log.warn(
          `Container ${name} could not be removed: ${String(error)}. "e2e-swe clean" removes it later.`,
        );
      }
    }
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
