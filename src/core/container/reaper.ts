import type { ContainerEngine } from './engine.ts';
import { isDeadOwner, keepLabel, ownerLabel, parseOwner, workbenchLabel } from './labels.ts';

/**
 * Removes grade containers of this host whose owner is dead; never one that may still be in use, never a workspace,
 * never a volume (design.md §4.9). With `kept`, also those that a dead run was asked to leave. Returns their names. One that
 * cannot be removed does not keep the others from it; its error is thrown at the end.
 */
export async function reapContainers(
  engine: ContainerEngine,
  options: { readonly kept: boolean },
): Promise<string[]> {
  const removed: string[] = [];
  const failures: unknown[] = [];
  for (const { id, name, labels } of await engine.listContainers(`${workbenchLabel}=grade`)) {
    const owner = parseOwner(labels[ownerLabel]);
    if (!owner || !isDeadOwner(owner) || (labels[keepLabel] && !options.kept)) continue;
    try {
      await engine.removeContainer(id);
      removed.push(name);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  return removed;
}

/** Containers of this process that may have outlived their use, with the address of the engine that they are at. */
const abandoned = new Map<string, string>();

/** Notes a container that could not be removed: while this process lives, no reaper of another one may take it. */
export async function abandonContainer(engine: ContainerEngine, name: string): Promise<void> {
  const known = await engine.info().catch(() => undefined);
  if (known) abandoned.set(name, known.address);
}

/** Removes what this process could not remove when its engine was away. */
export async function removeAbandoned(engine: ContainerEngine): Promise<void> {
  const { address } = await engine.info();
  for (const [name, at] of abandoned) {
    if (at !== address) continue;
    await (await engine.findContainer(name))?.remove();
    abandoned.delete(name);
  }
}
