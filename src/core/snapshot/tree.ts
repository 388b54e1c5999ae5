import { z } from 'zod';
import type { SnapshotEntry } from './types.ts';

/**
 * The entries of a snapshot as text: a line that names the version, then one an entry, in the order in which an archive
 * has them (what a hard link names comes before it). The same entries give the same text, so its hash tells trees apart.
 */
export function encodeTree(entries: readonly SnapshotEntry[]): Buffer {
  const lines = entries.map(({ type, name, mode, uid, gid, mtime, size, sha256, linkName }) =>
    JSON.stringify(
      type === 'file'
        ? [letters[type], name, mode, uid, gid, mtime, sha256, size]
        : [letters[type], name, mode, uid, gid, mtime, linkName],
    ),
  );
  return Buffer.from(`${[header, ...lines].join('\n')}\n`, 'utf8');
}

/** Errors: one that says what is wrong with the text. */
export function decodeTree(content: Buffer): SnapshotEntry[] {
  const [first, ...lines] = content.toString('utf8').split('\n');
  if (first !== header) throw new Error(`it is of a version that is not known here (${first?.slice(0, 40)})`);
  if (lines.pop() !== '') throw new Error('its last line is torn');
  return lines.map((line) => {
    const [type, name, mode, uid, gid, mtime, target, size = 0] = entryLine.parse(JSON.parse(line));
    const isFile = type === 'f';
    return {
      name,
      type: types[type],
      mode,
      uid,
      gid,
      mtime,
      size,
      linkName: isFile ? '' : target,
      sha256: isFile ? target : '',
    };
  });
}

const header = '{"snapshotTree":1}';
const letters = { file: 'f', directory: 'd', symlink: 's', hardlink: 'h' } as const;
const types = { f: 'file', d: 'directory', s: 'symlink', h: 'hardlink' } as const;

const int = z.number().int();
const meta = [z.string(), int, int, int, int] as const;
const entryLine = z.union([
  z.tuple([z.literal('f'), ...meta, z.string().regex(/^[0-9a-f]{64}$/), int.min(0)]),
  z.tuple([z.enum(['d', 's', 'h']), ...meta, z.string()]),
]);
