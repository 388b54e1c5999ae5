import type Docker from 'dockerode';
import { isCancellation } from '#core/base/errors.ts';
import { runExec } from './runExec.ts';

/** Prints how often the kernel killed something in this container for want of memory, by cgroup 2, else 1. */
const countScript = `
for f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  [ -r "$f" ] && while read -r key value; do [ "$key" = oom_kill ] && echo "$value"; done < "$f"
done; exit 0`;

/**
 * Whether the kernel killed something in a running container for want of memory. Podman (4) tells it neither by an
 * event nor in the container's state. Asked inside, so a root of the container could forge it: it decides no verdict.
 */
export async function wasOomKilled(
  docker: Docker,
  container: Docker.Container,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    const { stdout } = await runExec(
      docker,
      container,
      { command: ['sh', '-c', countScript], user: '0', keepBytes: 64 },
      signal,
    );
    return stdout
      .toString('latin1')
      .split('\n')
      .some((count) => Number(count) > 0);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}
