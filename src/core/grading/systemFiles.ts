import { isInside } from './plan.ts';

/** Where installing puts files. Nothing here is looked at by the commands that a hardened grade's tests run on. */
export const installPlaces = ['/usr/local', '/opt', '/srv', '/home', '/root'];
/** Where every set-up leaves traces that nothing depends on. */
const tracePlaces = ['/var/cache', '/var/log', '/var/lib', '/var/tmp', '/run', '/tmp'];

/** What of a set-up's changes is carried to the tests, and what else it changed that matters. */
export function sortChanges(changes: readonly { readonly kind: 'C' | 'A' | 'D'; readonly path: string }[]): {
  readonly carried: readonly string[];
  readonly left: readonly string[];
} {
  const carried: string[] = [];
  const left: string[] = [];
  for (const { kind, path } of changes) {
    const at = (place: string): boolean => isInside(path, place);
    if (kind === 'A' && installPlaces.some(at)) carried.push(path);
    else if (!tracePlaces.some(at)) left.push(`${kind} ${path}`);
  }
  return { carried, left };
}
