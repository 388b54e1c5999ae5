import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { throwIfCancelled } from '#core/base/errors.ts';
import { parsePythonJson } from '#core/report/pythonJson.ts';

/** Folders of a trial itself: whatever lies in them is no trial. */
const inside: readonly string[] = [
  ...['agent', 'user-agent', 'verifier', 'artifacts', 'steps', 'tests', 'solution', 'environment'],
  ...['sessions', 'panes', 'agent-logs', 'node_modules', '.git'],
];
/** A folder of jobs, its jobs, their tasks (terminal-bench v1), their trials. */
const maxDepth = 4;
const maxTrials = 20_000;
/** Bytes of a result that is looked at to tell a job from a trial. */
const resultCap = 64 * 1024 ** 2;

/**
 * The trial folders in a folder: itself, those of a job, or those of the jobs in it, in the order of their names; finished
 * or not. Links are not followed. Nothing is written, and what cannot be read holds none.
 */
export async function findTrials(dir: string, signal?: AbortSignal): Promise<readonly string[]> {
  const found: string[] = [];
  await look(path.resolve(dir), 0, found, signal);
  return found;
}

async function look(
  dir: string,
  depth: number,
  found: string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal) throwIfCancelled(signal);
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const names = new Set(entries.map(({ name }) => name));
  const kind = await kindOf(dir, names);
  if (kind === 'trial') {
    found.push(dir);
    return;
  }
  const before = found.length;
  if (depth < maxDepth)
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      if (entry.isDirectory() && !inside.includes(entry.name) && found.length < maxTrials)
        await look(path.join(dir, entry.name), depth + 1, found, signal);
  // Half a result, and no trial below: it was to be one.
  if (kind === 'unclear' && found.length === before) found.push(dir);
}

async function kindOf(
  dir: string,
  names: ReadonlySet<string>,
): Promise<'trial' | 'job' | 'unclear' | undefined> {
  const result = ['result.json', 'results.json'].find((name) => names.has(name));
  if (result === undefined) {
    const isTrial = names.has('trial.log') || (names.has('config.json') && names.has('agent'));
    return isTrial ? 'trial' : undefined;
  }
  const value = await readResult(path.join(dir, result));
  if (typeof value !== 'object' || value === null) return 'unclear';
  if ('n_total_trials' in value || Array.isArray((value as { results?: unknown }).results)) return 'job';
  return 'task_name' in value || 'task_id' in value ? 'trial' : 'unclear';
}

async function readResult(file: string): Promise<unknown> {
  try {
    const info = await lstat(file);
    if (!info.isFile() || info.size > resultCap) return undefined;
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return parsePythonJson(await handle.readFile('utf8'));
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
