import type { SnapshotEntry } from './types.ts';

/** What of a path differs; the time of its last change alone is no difference. */
export type ChangedWhat = 'type' | 'content' | 'target' | 'mode' | 'owner';

export interface ChangedPath {
  /** Binary string, as an entry's. */
  readonly name: string;
  readonly what: readonly ChangedWhat[];
}

/** Names are binary strings, in the order of the newer snapshot (removed ones: of the older). */
export interface SnapshotDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly ChangedPath[];
  /** A file that is gone and a new one with the same content; never of empty files. */
  readonly renamed: readonly {
    readonly from: string;
    readonly to: string;
    readonly what: readonly ChangedWhat[];
  }[];
}

export function diffSnapshots(
  older: readonly SnapshotEntry[],
  newer: readonly SnapshotEntry[],
): SnapshotDiff {
  const [before, after] = [resolved(older), resolved(newer)];
  const removed = new Map([...before].filter(([name]) => !after.has(name)));
  const added = new Map([...after].filter(([name]) => !before.has(name)));
  const renamed = pairRenames(removed, added);
  for (const { from, to } of renamed) {
    removed.delete(from);
    added.delete(to);
  }
  const changed: ChangedPath[] = [];
  for (const [name, entry] of after) {
    const old = before.get(name);
    const what = old ? differences(old, entry) : [];
    if (what.length > 0) changed.push({ name, what });
  }
  return { added: [...added.keys()], removed: [...removed.keys()], changed, renamed };
}

function pairRenames(
  removed: ReadonlyMap<string, SnapshotEntry>,
  added: ReadonlyMap<string, SnapshotEntry>,
): SnapshotDiff['renamed'][number][] {
  const sources = new Map<string, string[]>();
  for (const { name, sha256, size } of removed.values())
    if (size > 0) sources.set(sha256, [...(sources.get(sha256) ?? []), name]);
  const renamed: SnapshotDiff['renamed'][number][] = [];
  for (const entry of added.values()) {
    const left = entry.size > 0 ? sources.get(entry.sha256) : undefined;
    if (!left?.length) continue;
    // Moved to another folder is likelier than renamed.
    const same = left.findIndex((name) => baseOf(name) === baseOf(entry.name));
    const [from = ''] = left.splice(Math.max(0, same), 1);
    renamed.push({ from, to: entry.name, what: differences(removed.get(from) as SnapshotEntry, entry) });
  }
  return renamed;
}

/** Empty where nothing but the time differs. */
export function differences(a: SnapshotEntry, b: SnapshotEntry): ChangedWhat[] {
  if (a.type !== b.type) return ['type'];
  const what: ChangedWhat[] = [];
  if (a.sha256 !== b.sha256) what.push('content');
  if (a.type === 'symlink' && a.linkName !== b.linkName) what.push('target');
  if (a.mode !== b.mode) what.push('mode');
  if (a.uid !== b.uid || a.gid !== b.gid) what.push('owner');
  return what;
}

/** Hard links as the files that they are: which of two names comes first is no difference. */
export function resolved(entries: readonly SnapshotEntry[]): Map<string, SnapshotEntry> {
  const found = new Map<string, SnapshotEntry>();
  for (const entry of entries) {
    const target = entry.type === 'hardlink' ? found.get(entry.linkName) : undefined;
    found.set(entry.name, target ? { ...target, name: entry.name } : entry);
  }
  return found;
}

function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
