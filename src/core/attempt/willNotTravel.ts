import type { ContainerEngine } from '#core/container/engine.ts';
import { findWorkspaceContainer } from '#core/container/workspaceContainer.ts';
import { changesOutside } from '#core/grading/changes.ts';
import type { AttemptContext } from './context.ts';
import type { AttemptRecord } from './types.ts';

/** Nobody expects these to count; the last two are the engine's own init. */
const transient = [
  ...['/tmp', '/logs', '/dev', '/run', '/proc', '/sys'],
  ...['/sbin/docker-init', '/usr/sbin/docker-init'],
];

/**
 * What changed in the container outside of what is submitted, by the engine's own comparison: only the submission
 * counts (design.md §4). The topmost paths. A container that is gone has lost its changes already: none.
 */
export async function willNotTravel(
  { freezes }: AttemptContext,
  engine: ContainerEngine,
  record: AttemptRecord,
  signal: AbortSignal,
): Promise<string[]> {
  const container = await findWorkspaceContainer(engine, record.id, signal);
  if (!container) return [];
  const free = [...record.roots, ...transient];
  const { running, paused } = await container.details(signal);
  const look = async (): Promise<string[]> =>
    changesOutside((await container.changes(free, signal)) ?? [], free).map(({ path }) => path);
  // Looked at only while nothing in there moves.
  return running && !paused ? freezes.during(record.id, container, 'comparison', look) : look();
}
