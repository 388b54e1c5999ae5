import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { bodyOf, type TarEntry } from '#core/container/tarStream.ts';
import { restoreSnapshot } from '#core/snapshot/restore.ts';
import type { SnapshotStore } from '#core/snapshot/store.ts';
import { TarTaker } from '#core/snapshot/takeFromTar.ts';
import type { SnapshotHead, SnapshotReason } from '#core/snapshot/types.ts';

export interface Planted {
  readonly header: TarHeader;
  readonly content: Buffer;
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function planted(
  name: string,
  type: TarHeader['type'],
  more: Partial<TarHeader> & { content?: Buffer } = {},
): Planted {
  const { content = Buffer.alloc(0), ...header } = more;
  return {
    header: {
      name,
      type,
      mode: type === 'directory' ? 0o755 : type === 'symlink' ? 0o777 : 0o644,
      uid: 0,
      gid: 0,
      size: content.length,
      mtime: 1_700_000_000,
      linkName: '',
      devMajor: 0,
      devMinor: 0,
      flag: '',
      ...header,
    },
    content,
  };
}

/**
 * A tree below `app` in an engine's order of entries, with everything that a workspace can hold: odd names, every mode,
 * foreign owners, times before 1970, links of all kinds, empty folders, empty and large files, FIFOs and devices.
 */
export function randomTree(seed: number, options: { readonly special?: boolean } = {}): Planted[] {
  const next = random(seed);
  const int = (below: number): number => Math.floor(next() * below);
  const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
  const names = new Set<string>();
  const tree: Planted[] = [];
  const name = (): string => {
    const odd = pick([
      'plain',
      'a b',
      "it's",
      '\n',
      'x\ny\n',
      '\xff\xfe',
      'caf\xe9',
      '-n',
      '*',
      '$(id)',
      '\\n',
      '.hid',
      '"',
      '\x01',
      ' ',
    ]);
    return next() < 0.1 ? 'n'.repeat(100 + int(150)) : `${odd}${int(1_000)}`;
  };
  const content = (): Buffer => {
    const size = pick([0, 1, 100, 511, 512, 513, 5_000, 70_000, next() < 0.2 ? 1_300_000 : 10]);
    // Some of it compresses, some repeats, some does neither.
    return pick([
      () => Buffer.alloc(size, `text ${int(3)}\n`),
      () => Buffer.from(Array.from({ length: Math.min(size, 70_000) }, () => int(256))),
    ])();
  };
  const meta = (): Partial<TarHeader> => ({
    mode: pick([0o644, 0o600, 0o755, 0o000, 0o4755, 0o2750, 0o1777, 0o444]),
    uid: pick([0, 0, 1_000, 65_534, 3_000_000]),
    gid: pick([0, 0, 1_000, 12]),
    mtime: pick([0, 1, -5, 1_700_000_000, 4_000_000_000]),
  });
  const fill = (folder: string, depth: number): void => {
    for (let i = int(6) + (depth === 0 ? 6 : 0); i > 0; i--) {
      const at = `${folder}/${name()}`;
      if (names.has(at)) continue;
      names.add(at);
      const kind = next();
      const files = tree.filter(({ header }) => header.type === 'file');
      if (kind < 0.25 && depth < 6) {
        tree.push(planted(at, 'directory', { ...meta(), mode: pick([0o755, 0o700, 0o000, 0o2775, 0o1777]) }));
        fill(at, depth + 1);
      } else if (kind < 0.35)
        tree.push(
          planted(at, 'symlink', { linkName: pick(['nowhere', '/etc/passwd', '..', 'l\n', '\xff', at]) }),
        );
      else if (kind < 0.45 && files.length > 0) {
        const target = pick(files).header;
        tree.push(
          planted(at, 'hardlink', { ...target, name: at, type: 'hardlink', linkName: target.name, size: 0 }),
        );
      } else if (kind < 0.5 && options.special)
        tree.push(planted(at, pick(['fifo', 'char'] as const), { devMajor: 1, devMinor: 3 }));
      else tree.push(planted(at, 'file', { ...meta(), content: content() }));
    }
  };
  tree.push(planted('app', 'directory', { mode: 0o755 }));
  fill('app', 0);
  return tree;
}

export async function* entriesOf(tree: readonly Planted[]): AsyncGenerator<TarEntry> {
  for (const { header, content } of tree) yield { header, body: bodyOf(content) };
}

/** What an archive holds, for comparison: what a submission keeps of a header, and the content. */
export async function contentsOf(source: AsyncIterable<TarEntry>): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const { header, body } of source) {
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(Buffer.from(piece));
    const { name, type, mode, uid, gid, size, mtime, linkName } = header;
    const isLink = type === 'symlink' || type === 'hardlink';
    all.push({
      ...{ name, type, mode, uid, gid, size, mtime, linkName: isLink ? linkName : '' },
      content: Buffer.concat(pieces).toString('latin1'),
    });
  }
  return all;
}

export async function takeTar(
  store: SnapshotStore,
  source: AsyncIterable<TarEntry>,
  reason: SnapshotReason = 'manual',
): Promise<SnapshotHead> {
  const { head } = await store.take({ reason, source: 'engine', roots: ['/app'] }, async (writer) => {
    const taker = new TarTaker(writer);
    for await (const _ of taker.through(source));
    return taker.tree();
  });
  return head;
}

export function restored(store: SnapshotStore, head: SnapshotHead): Promise<Record<string, unknown>[]> {
  return contentsOf(restoreSnapshot(store, head));
}

/** A folder for one test file, and how to remove it. */
export async function scratch(): Promise<{ readonly dir: string; dispose(): Promise<void> }> {
  const dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-snapshots-'));
  return { dir, dispose: () => rm(dir, { recursive: true, force: true }) };
}
