import { tempPrefix } from '#core/container/fsScript.ts';
import { differences, resolved } from './diff.ts';
import type { SnapshotEntry } from './types.ts';

/**
 * Paths of which the container's tools and the engine, a moment later, do not say the same, although by the engine's
 * word nothing of them changed in between: a tool inside may lie. `since`: when the container's listing began, whole
 * seconds; what was changed since then may differ. (A change in that moment that keeps an old time, as `cp -p` makes it,
 * is named too.)
 */
export function unexplained(
  container: readonly SnapshotEntry[],
  engine: readonly SnapshotEntry[],
  since: number,
): string[] {
  const [said, is] = [resolved(container), resolved(engine)];
  // File systems' clocks may be a tick behind.
  const isOld = (entry: SnapshotEntry | undefined): boolean => entry !== undefined && entry.mtime < since - 1;
  const found: string[] = [];
  for (const [name, entry] of is) {
    const other = said.get(name);
    if (isOld(entry) && !name.includes(`/${tempPrefix}`) && (!other || differences(other, entry).length > 0))
      found.push(name);
  }
  // A file that went away leaves its folder changed.
  for (const name of said.keys())
    if (!is.has(name) && isOld(is.get(name.slice(0, name.lastIndexOf('/'))))) found.push(name);
  return found;
}
