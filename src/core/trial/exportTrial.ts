import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { UserError } from '#core/base/errors.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import type { Mark } from '#core/report/types.ts';
import type { Task } from '#core/task/types.ts';
import { type ArchiveEntry, isBelow, toBytes } from './archive.ts';
import { type ArtifactPlace, artifactPlaces } from './artifactPlaces.ts';
import type { Trajectory } from './atif.ts';
import { Losses } from './losses.ts';
import { taskChecksum } from './taskChecksum.ts';
import { briefTrialConfig, fullTrialConfig } from './trialConfig.ts';
import { type Unpacked, unpackEntries } from './unpack.ts';

export interface ExportTrialInput {
  readonly task: Task;
  /** The trial's folder: it must not exist, or be empty. Its name is the trial's name. */
  readonly dir: string;
  /** The submission, named by container paths. */
  readonly entries: AsyncIterable<ArchiveEntry>;
  /** What the submission left out when it was taken, with what it is. */
  readonly skipped?: readonly string[];
  /** The grade that goes with it, where there is one. */
  readonly verifier?: {
    readonly rewards: Readonly<Record<string, number | null>> | null;
    /** Our own copy of /logs/verifier (regular files only), to be copied. */
    readonly dir?: string;
    readonly startedAt: string;
    readonly finishedAt: string;
  };
  /** Why there are no rewards, by Harbor's class (harbor.md §4.7). */
  readonly exception?: { readonly type: string; readonly message: string };
  /** What the builder did, for `agent/trajectory.json`. */
  readonly trajectory?: Trajectory;
  /** When the builder worked. */
  readonly agentTimes?: { readonly startedAt: string; readonly finishedAt: string } | undefined;
  /** Without the places of this machine. */
  readonly anonymised?: boolean;
  readonly agent?: { readonly name: string; readonly version: string };
  /** ISO 8601 UTC; of the whole attempt. */
  readonly startedAt: string;
  readonly finishedAt: string;
}

export interface ExportedTrial {
  readonly dir: string;
  readonly name: string;
  readonly manifest: readonly ManifestEntry[];
  /** What a trial folder cannot keep of the submission. */
  readonly losses: readonly Mark[];
}

/** One line of `artifacts/manifest.json` (harbor.md §4.2). */
export interface ManifestEntry {
  readonly source: string;
  readonly destination: string;
  readonly type: 'file' | 'directory';
  readonly status: 'ok' | 'failed' | 'empty' | 'skipped';
  readonly service: string | null;
}

/** `{task}__{7 characters}` as Harbor names trials (harbor.md §6.1). */
export function newTrialName(task: Pick<Task, 'dir'>): string {
  const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const suffix = [...randomBytes(7)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `${path
    .basename(task.dir)
    .slice(0, 32)
    .replace(/[_-]+$/, '')}__${suffix}`;
}

/** Writes a submission as a trial folder of Harbor 0.22 (harbor.md §4.9, §6): what `harbor trial regrade` reads. */
export async function exportTrial(input: ExportTrialInput): Promise<ExportedTrial> {
  const dir = path.resolve(input.dir);
  await makeEmpty(dir);
  for (const name of ['agent', 'verifier', 'artifacts']) await mkdir(path.join(dir, name));
  const losses = new Losses();
  for (const name of input.skipped ?? []) losses.add('not-taken', toBytes(name));
  const places = artifactPlaces(input.task);
  const { unpacked, more } = await unpackArtifacts(
    path.join(dir, 'artifacts'),
    input.entries,
    places,
    losses,
  );
  const manifest = places.map((place) => manifestEntry(place, unpacked));
  await writeJson(path.join(dir, 'artifacts', 'manifest.json'), manifest);
  const from = input.verifier?.dir;
  if (from !== undefined && existsSync(from)) await copyFiles(from, path.join(dir, 'verifier'));
  if (input.trajectory) await writeJson(path.join(dir, 'agent', 'trajectory.json'), input.trajectory);
  const config = {
    taskDir: taskPlace(input),
    trialName: path.basename(dir),
    trialsDir: input.anonymised ? '.' : path.dirname(dir),
  };
  await writeJson(path.join(dir, 'config.json'), briefTrialConfig(config));
  await writeJson(path.join(dir, 'result.json'), await trialResult(input, dir, fullTrialConfig(config)));
  return { dir, name: path.basename(dir), manifest, losses: [...losses.marks(), ...more] };
}

const noUsage = {
  n_input_tokens: null,
  n_cache_tokens: null,
  n_output_tokens: null,
  cost_usd: null,
  rollout_details: null,
  metadata: null,
};

/** Harbor's `TrialResult` (harbor.md §6.2), every key. */
async function trialResult(input: ExportTrialInput, dir: string, config: object): Promise<object> {
  const { task, verifier, exception, agent, agentTimes } = input;
  return {
    id: randomUUID(),
    task_name: task.name,
    trial_name: path.basename(dir),
    trial_uri: input.anonymised ? `file:///${path.basename(dir)}` : pathToFileURL(dir).href,
    task_id: { path: taskPlace(input) },
    source: null,
    task_checksum: await taskChecksum(task.dir),
    config,
    agent_info: {
      name: agent?.name ?? 'e2e-swe-workbench',
      version: agent?.version ?? 'unknown',
      model_info: null,
    },
    // No tokens and no costs: nothing of a model ran.
    agent_result: agentTimes ? noUsage : null,
    verifier_result: verifier?.rewards ? { rewards: verifier.rewards } : null,
    verifier_environment_mode: task.verifierMode,
    exception_info: exception
      ? {
          exception_type: exception.type,
          exception_message: exception.message,
          exception_traceback: '',
          occurred_at: verifier?.finishedAt ?? input.finishedAt,
        }
      : null,
    started_at: input.startedAt,
    finished_at: input.finishedAt,
    environment_setup: null,
    agent_setup: null,
    agent_execution: agentTimes ? timing(agentTimes) : null,
    verifier: verifier ? timing(verifier) : null,
    step_results: null,
  };
}

function taskPlace({ task, anonymised }: ExportTrialInput): string {
  return anonymised ? path.basename(task.dir) : task.dir;
}

function timing({
  startedAt,
  finishedAt,
}: {
  readonly startedAt: string;
  readonly finishedAt: string;
}): object {
  return { started_at: startedAt, finished_at: finishedAt };
}

async function unpackArtifacts(
  folder: string,
  entries: AsyncIterable<ArchiveEntry>,
  places: readonly ArtifactPlace[],
  losses: Losses,
): Promise<{ readonly unpacked: Unpacked; readonly more: readonly Mark[] }> {
  async function* placed(): AsyncGenerator<ArchiveEntry> {
    for await (const { header, body } of entries) {
      const place = places.find(({ root, shadowed }) => !shadowed && isBelow(header.name, root));
      if (place === undefined) {
        if (!places.some(({ root }) => isBelow(root, header.name) || isBelow(header.name, root)))
          losses.add('not-declared', header.name);
        continue;
      }
      const linkName = header.type === 'hardlink' ? moveName(header.linkName, place) : header.linkName;
      const name = moveName(header.name, place);
      if (name !== '') yield { header: { ...header, name, linkName }, body };
    }
  }
  const { unpacked, losses: more } = await unpackEntries(folder, placed());
  // The convention folder is there even when nothing was published.
  const free = (unpacked.get('logs') ?? 'directory') === 'directory' && !unpacked.has('logs/artifacts');
  if (free) await mkdir(path.join(folder, 'logs', 'artifacts'), { recursive: true });
  return { unpacked, more };
}

function moveName(name: string, { root, host }: ArtifactPlace): string {
  const rest = root === '' ? `/${name}` : name.slice(root.length);
  return host === '' ? rest.slice(1) : `${host}${rest}`;
}

function manifestEntry({ artifact, host, shadowed }: ArtifactPlace, unpacked: Unpacked): ManifestEntry {
  const kind = unpacked.get(host);
  const below = [...unpacked.keys()].some((name) => name !== host && isBelow(name, host));
  const isConvention = artifact.source.replace(/\/+$/, '') === '/logs/artifacts';
  const found = kind !== undefined || below;
  const status = shadowed
    ? 'skipped'
    : found
      ? below || kind !== 'directory'
        ? 'ok'
        : 'empty'
      : isConvention
        ? 'empty'
        : 'failed';
  // As Harbor guesses where it finds nothing: a suffix makes a file.
  const isFolder = found ? kind === 'directory' || below : path.posix.extname(artifact.source) === '';
  return {
    source: artifact.source,
    destination: ['artifacts', Buffer.from(host, 'latin1').toString('utf8')].filter(Boolean).join('/'),
    type: isFolder ? 'directory' : 'file',
    status,
    service: artifact.service,
  };
}

/** Makes a folder. Errors: `UserError` for one that holds something. */
export async function makeEmpty(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  if ((await readdir(dir)).length === 0) return;
  throw new UserError(`The folder "${dir}" is not empty, so no trial is written there.`, {
    nextStep: 'Choose a new folder.',
  });
}

async function copyFiles(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: async (source) => !(await isOdd(source)),
  });
}

async function isOdd(source: string): Promise<boolean> {
  const info = await lstat(source);
  return !info.isFile() && !info.isDirectory();
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFileAtomic(file, `${JSON.stringify(value, null, 4)}\n`);
}
