import type { Change } from '#core/container/engine.ts';
import { isInside } from './plan.ts';

/** What changed outside of the paths that are free to change, without what follows from another entry; by path. */
export function changesOutside(changes: readonly Change[], free: readonly string[]): Change[] {
  const parents = new Set(free.flatMap(ancestors));
  return topmost(
    changes.filter(
      ({ kind, path }) => !(kind === 'C' && parents.has(path)) && !free.some((root) => isInside(path, root)),
    ),
  ).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Without all below an added or removed folder, and without folders changed by what is listed. */
export function topmost(changes: readonly Change[]): Change[] {
  const whole = new Set(changes.filter(({ kind }) => kind !== 'C').map((change) => change.path));
  const containers = new Set(changes.flatMap((change) => ancestors(change.path)));
  return changes.filter(
    (change) =>
      !ancestors(change.path).some((ancestor) => whole.has(ancestor)) &&
      !(change.kind === 'C' && containers.has(change.path)),
  );
}

function ancestors(file: string): string[] {
  const parts = file.split('/');
  return parts.slice(2).map((_, index) => parts.slice(0, index + 2).join('/'));
}
