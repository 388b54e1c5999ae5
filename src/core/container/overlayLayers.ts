import type { Stats } from 'node:fs';
import { access, constants, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Change } from './engine.ts';
import { walkFolder } from './folderTar.ts';
import type { TarEntry } from './tarStream.ts';

/**
 * The folders on this host that an overlay2 container is made of. Where they are at hand (a local engine, root),
 * questions about a container's files cost no trip through the engine, whose own answers start a process each or
 * compare the whole image. What is asked here is asked only when no process of the container runs.
 */
export interface OverlayLayers {
  /** What the container changed. */
  readonly upper: string;
  /** The image, top layer first. */
  readonly lowers: readonly string[];
  /** Container paths that are mounts: nothing of them is in the layers. */
  readonly mounts: readonly string[];
}

/** The parts of an inspected container that tell its layers. */
export interface InspectedStorage {
  readonly GraphDriver?: { readonly Name?: string; readonly Data?: Readonly<Record<string, string>> | null };
  readonly Mounts?: readonly { readonly Destination?: string }[];
}

/** Undefined where the layers are not at hand: another host, another storage driver, no permission. */
export async function findLayers(storage: InspectedStorage): Promise<OverlayLayers | undefined> {
  const { Name, Data } = storage.GraphDriver ?? {};
  const upper = Name === 'overlay2' ? Data?.UpperDir : undefined;
  const lowers = (Data?.LowerDir ?? '').split(':').filter(Boolean);
  if (!upper || lowers.length === 0) return undefined;
  try {
    for (const layer of [upper, ...lowers]) await access(layer, constants.R_OK | constants.X_OK);
  } catch {
    return undefined;
  }
  const mounts = (storage.Mounts ?? []).flatMap(({ Destination }) => Destination ?? []);
  return { upper, lowers, mounts };
}

/**
 * What differs from the image, excluded paths left out. A character device 0/0 is a deletion, all else was added or
 * changed (kernel docs, "Overlay Filesystem").
 */
export async function layerChanges(layers: OverlayLayers, exclude: readonly string[]): Promise<Change[]> {
  const changes: Change[] = [];
  const walk = async (folder: string): Promise<void> => {
    // A folder whose name is no UTF-8 cannot be entered by its text; it is listed itself.
    const entries = await readdir(path.join(layers.upper, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const name = path.posix.join(folder, entry.name);
      if (exclude.includes(name)) continue;
      if (entry.isCharacterDevice() && (await isWhiteout(path.join(layers.upper, name)))) {
        changes.push({ kind: 'D', path: name });
        continue;
      }
      const before = await inImage(layers, name);
      const at = changes.push({ kind: before ? 'C' : 'A', path: name });
      if (!entry.isDirectory()) continue;
      if (!isTooDeep(name)) await walk(name);
      // A folder is copied up for what was done below it; without a trace of that it is as it was.
      const isSame =
        before?.isDirectory() &&
        changes.length === at &&
        isSameFolder(before, await lstat(path.join(layers.upper, name)));
      if (isSame) changes.pop();
    }
  };
  await walk('/');
  return changes;
}

/**
 * A folder that the container itself made or filled, as tar entries named from its last part on, as the engine's own
 * archive names them. Undefined where the layers cannot tell: a mount, or a link on the way.
 */
export async function readLayerFolder(
  layers: OverlayLayers,
  folder: string,
): Promise<AsyncIterable<TarEntry> | undefined> {
  if (isMounted(layers.mounts, folder) || (await resolve(layers.upper, folder)) !== 'folder')
    return undefined;
  const entries = walkFolder(path.join(layers.upper, folder), {
    prefix: path.posix.basename(folder),
    includeRoot: true,
    exclude: isTooDeep,
  });
  return entries;
}

/** A container can make paths that this host cannot open: what lies so deep is neither entered nor read. */
const maxDepth = 200;
const maxPathBytes = 2048;

function isTooDeep(relative: string): boolean {
  return relative.length > maxPathBytes || relative.split('/').length > maxDepth;
}

async function isWhiteout(file: string): Promise<boolean> {
  return lstat(file).then(
    ({ rdev }) => rdev === 0,
    () => false,
  );
}

async function inImage(layers: OverlayLayers, name: string): Promise<Stats | undefined> {
  for (const lower of layers.lowers) {
    try {
      return await lstat(path.join(lower, name));
    } catch {
      // Not in this layer.
    }
  }
  return undefined;
}

/** As the engine's own diff compares folders. */
function isSameFolder(a: Stats, b: Stats): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}

/** Follows no link: every part must be a folder of this layer. */
async function resolve(layer: string, target: string): Promise<'folder' | 'absent' | 'odd'> {
  let at = layer;
  for (const part of target.split('/').filter(Boolean)) {
    at = path.join(at, part);
    try {
      if (!(await lstat(at)).isDirectory()) return 'odd';
    } catch {
      return 'absent';
    }
  }
  return 'folder';
}

/** Whether a mount is at a path, above it or below it. */
function isMounted(mounts: readonly string[], target: string): boolean {
  return mounts.some(
    (mount) => mount === target || target.startsWith(`${mount}/`) || mount.startsWith(`${target}/`),
  );
}
