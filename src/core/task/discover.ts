import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { throwIfCancelled } from '#core/base/errors.ts';
import { type FolderFacts, folderFacts, looksLikeTask } from './folder.ts';
import { loadWithFacts, requireFolder } from './load.ts';
import type { TaskEntry } from './types.ts';

/** Folders read at the same time. */
const PARALLEL = 8;

/**
 * The tasks of a folder by Harbor's rule (harbor.md §8.1): the folder itself where it is a task, else its immediate
 * children. Children that only look like tasks are listed with the reason; other folders are left out.
 */
export async function discoverTasks(dir: string): Promise<readonly TaskEntry[]> {
  const root = path.resolve(dir);
  await requireFolder(root);
  const facts = await folderFacts(root);
  const own = looksLikeTask(facts) ? await loadWithFacts(root, facts) : undefined;
  if (own !== undefined && isHarborTask(own)) return [own];
  const children = await loadAll(await subfolders(root));
  // A broken task.toml beside tasks is shown too; a folder with mere traces of a task is not.
  if (own !== undefined && (facts.taskToml || children.length === 0)) return sorted([own, ...children]);
  return sorted(children);
}

/** What `findTasks` does beyond its root. */
export interface FindOptions {
  /** Levels below the root; default 6. */
  readonly maxDepth?: number;
  readonly signal?: AbortSignal;
}

/**
 * All tasks below a folder, at any depth. Not entered: task folders, hidden folders, `node_modules`, and a folder that
 * a link leads to a second time.
 */
export async function findTasks(root: string, options: FindOptions = {}): Promise<readonly TaskEntry[]> {
  const { maxDepth = 6, signal } = options;
  const start = path.resolve(root);
  await requireFolder(start);
  const seen = new Set<string>();
  const found: TaskEntry[] = [];
  let level = [start];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth++) {
    const next: string[] = [];
    await forEachParallel(level, async (folder) => {
      throwIfCancelled(signal);
      const real = await realpath(folder).catch(() => folder);
      if (seen.has(real)) return;
      seen.add(real);
      const facts = await folderFacts(folder);
      if (looksLikeTask(facts)) found.push(await loadWithFacts(folder, facts));
      if (!facts.taskToml) next.push(...(await subfolders(folder)).filter(isEntered));
    });
    level = next.sort();
  }
  throwIfCancelled(signal);
  return sorted(found);
}

/** Harbor's `Task.is_valid_dir`. */
function isHarborTask(entry: TaskEntry): boolean {
  return entry.valid && !entry.problems.some((problem) => problem.code === 'missing-file');
}

async function loadAll(folders: readonly string[]): Promise<TaskEntry[]> {
  const out: TaskEntry[] = [];
  await forEachParallel(folders, async (folder) => {
    const facts: FolderFacts = await folderFacts(folder);
    if (looksLikeTask(facts)) out.push(await loadWithFacts(folder, facts));
  });
  return out;
}

function isEntered(folder: string): boolean {
  const name = path.basename(folder);
  return !name.startsWith('.') && name !== 'node_modules';
}

/** Folders and links to folders; one that cannot be listed has none. */
async function subfolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const out: string[] = [];
  for (const entry of entries) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() || (entry.isSymbolicLink() && (await isFolder(full)))) out.push(full);
  }
  return out;
}

async function isFolder(file: string): Promise<boolean> {
  return stat(file).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

async function forEachParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

/** By name, then by path. */
function sorted(entries: readonly TaskEntry[]): readonly TaskEntry[] {
  return [...entries].sort((a, b) => compare(a.name, b.name) || compare(a.path, b.path));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
