import type { ContainerEngine } from './engine.ts';
import { isDeadOwner, keepLabel, ownerLabel, parseOwner, workbenchLabel } from './labels.ts';

/**
 * Removes grade containers of this host whose owner is dead; never one that may still be in use, never a workspace,
 * never a volume (design.md §4.9). With `kept`, also those that a dead run was asked to leave. Returns their names.
 */
export async function reapContainers(
  engine: ContainerEngine,
  options: { readonly kept: boolean },
): Promise<string[]> {
  const removed: string[] = [];
  for (const { id, name, labels } of await engine.listContainers(`${workbenchLabel}=grade`)) {
    const owner = parseOwner(labels[ownerLabel]);
    if (!owner || !isDeadOwner(owner) || (labels[keepLabel] && !options.kept)) continue;
    await engine.removeContainer(id);
    removed.push(name);
  }
  return removed;
}
