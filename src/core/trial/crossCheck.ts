import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { UserError } from '#core/base/errors.ts';
import type { Mark } from '#core/report/types.ts';
import type { Task } from '#core/task/types.ts';
import type { ArchiveEntry } from './archive.ts';
import { type Comparison, compareSides, type Difference, type Side } from './compareSides.ts';
import { type ExportedTrial, exportTrial } from './exportTrial.ts';
import { type HarborCommand, runHarbor } from './harborCommand.ts';
import { harborTask } from './harborTask.ts';
import { readTrialResult } from './readTrialResult.ts';
import type { TrialReading } from './types.ts';

const manifestShape = z.array(z.looseObject({ source: z.string(), status: z.string() }));

export interface CrossCheckInput {
  readonly task: Task;
  /** Of Harbor's trial: see `newTrialName`. */
  readonly trialName: string;
  /** Our grade of the submission. */
  readonly ours: Side;
  readonly submission: {
    /** Gzipped tar, named by container paths. */
    readonly file: string;
    readonly read: () => AsyncIterable<ArchiveEntry>;
    readonly skipped: readonly string[];
    /** It is what the task's own solution made. */
    readonly isSolution: boolean;
  };
  /** The image that we graded in, and the limits that it had. */
  readonly image: string | undefined;
  readonly limits: { readonly cpus: number | null; readonly memoryMb: number | null };
  readonly startedAt: string;
  readonly finishedAt: string;
  /** New folder for the trials and changed copies. */
  readonly into: string;
  readonly harbor: HarborCommand;
  readonly publicNetwork: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onOutput?: (text: string) => void;
}

export interface CrossCheck extends Comparison {
  /**
   * How Harbor got the submission. `regrade`: as a finished trial (harbor.md §4.9). `trial`: as the work of its oracle,
   * through a whole trial: where the task asks for the shared verifier, which regrade refuses, or the submission holds
   * symbolic links, which regrade follows on the host. `oracle`: the task's own solution, for a shared verifier, which
   * sees more of it than the submission.
   */
  readonly way: 'regrade' | 'trial' | 'oracle';
  readonly ours: Side;
  readonly theirs: Side;
  readonly trialDir: string;
  /** In what the two sides were not given the same. */
  readonly notes: readonly string[];
  readonly marks: readonly Mark[];
}

/**
 * What the Compose projects of a trial's containers start with (harbor.md §3.1): a Harbor that is stopped while it tidies
 * up leaves them behind.
 */
export function composeProjectPrefix(trialName: string): string {
  return `${trialName
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .replace(/^(?=[^a-z0-9])/, '0')}__`;
}

/** Lets the real Harbor grade a submission that we graded, and compares. Errors: `UserError` when Harbor leaves no trial. */
export async function crossCheck(input: CrossCheckInput): Promise<CrossCheck> {
  const { task, trialName: name } = input;
  const into = path.resolve(input.into);
  const way = await wayOf(input);
  const [sources, trials] = [path.join(into, 'source'), path.join(into, 'trials')];
  await mkdir(sources, { recursive: true });
  await mkdir(trials, { recursive: true });
  const exported = way === 'regrade' ? await exportSource(input, path.join(sources, name)) : undefined;
  const view = await harborTask(task, {
    into: path.join(into, 'task'),
    image: input.image,
    limits: input.limits,
    publicNetwork: input.publicNetwork,
    carry: way === 'trial' ? { archive: input.submission.file, roots: await topFolders(input) } : undefined,
  });
  const args = exported
    ? ['trial', 'regrade', exported.dir, '-p', view.dir, '-o', trials, '--trial-name', name]
    : ['trial', 'start', '-p', view.dir, '-a', 'oracle', '--trials-dir', trials, '--trial-name', name];
  const { exitCode, output } = await runHarbor(input.harbor, args, {
    cwd: into,
    env: input.env,
    signal: input.signal,
    ...(input.onOutput ? { onOutput: input.onOutput } : {}),
  });
  const trialDir = path.join(trials, name);
  if (!existsSync(path.join(trialDir, 'result.json'))) throw noTrial(exitCode, output);
  const reading = await readTrialResult(trialDir, { expected: task.testCaseCount });
  if (way === 'trial' && existsSync(path.join(trialDir, 'agent', 'exit-code.txt')))
    throw new UserError("The submission could not be unpacked in Harbor's container.", {
      nextStep: `Read ${path.join(trialDir, 'agent', 'oracle.txt')}; the image needs bash, tar and gzip.`,
    });
  const theirs = sideOf(reading);
  const compared = compareSides(input.ours, theirs);
  const lost = way === 'regrade' ? [] : await lostArtifacts(trialDir);
  return {
    outcome: lost.length > 0 && compared.outcome === 'agree' ? 'differ' : compared.outcome,
    differences: [...lost, ...compared.differences],
    way,
    ours: input.ours,
    theirs,
    trialDir,
    notes: [...view.changes, ...(exported?.losses ?? []).map(({ message }) => message), ...hints(reading)],
    marks: reading.marks,
  };
}

/**
 * What Harbor's own collection could not copy, which it records and passes over (harbor.md §4.2): it grades whatever
 * part it has got. Its copy stops, for one, at a relative link that leads out of the artifact.
 */
async function lostArtifacts(trialDir: string): Promise<readonly Difference[]> {
  const text = await readFile(path.join(trialDir, 'artifacts', 'manifest.json'), 'utf8').catch(() => '[]');
  const entries = manifestShape.safeParse(JSON.parse(text)).data ?? [];
  return entries
    .filter(({ status }) => status === 'failed')
    .map(({ source }) => ({
      rule: 'artifact-lost',
      message: `Harbor could not copy ${source} whole out of its container, and graded what it had got (its trial.log says why).`,
    }));
}

function exportSource(input: CrossCheckInput, dir: string): Promise<ExportedTrial> {
  return exportTrial({
    task: input.task,
    dir,
    entries: input.submission.read(),
    skipped: input.submission.skipped,
    startedAt: input.startedAt,
    finishedAt: input.finishedAt,
  });
}

/** Harbor's regrade copies by following links: a link of the submission would be read on the machine that runs Harbor. */
async function wayOf({ task, submission }: CrossCheckInput): Promise<CrossCheck['way']> {
  if (task.verifierMode !== 'separate') return submission.isSolution ? 'oracle' : 'trial';
  for await (const { header } of submission.read()) if (header.type === 'symlink') return 'trial';
  return 'regrade';
}

/** The folders whose content the submission replaces: its topmost entries that have content of their own. */
async function topFolders({ submission }: CrossCheckInput): Promise<readonly string[]> {
  const tops: string[] = [];
  for await (const { header } of submission.read()) {
    const name = Buffer.from(header.name, 'latin1').toString('utf8');
    if (header.type === 'directory' && !tops.some((top) => name === top || name.startsWith(`${top}/`)))
      tops.push(name);
  }
  return tops.map((top) => `/${top}`);
}

function sideOf({ verdict, reason, rewards, report, exception }: TrialReading): Side {
  return {
    verdict,
    ...(reason === undefined ? {} : { reason }),
    rewards,
    tests: report.tests,
    ...(exception && { exception }),
  };
}

const needsPulledImages = /network_mode=.*not supported|egress/i;
const openNetworkHint =
  'Harbor\'s "no network" needs images that it pulls; --public-network leaves the network open on its side.';

/** What people meet first when they run a task of this kind on an unpatched or offline Harbor. */
function hints({ exception }: TrialReading): readonly string[] {
  if (exception === undefined) return [];
  if (needsPulledImages.test(exception.message)) return [openNetworkHint];
  if (exception.type === 'RewardFileNotFoundError')
    return [
      "An unpatched Harbor copies no tests into a separate verifier that takes its image from docker_image (harbor's skip_tests_upload): E2E-SWE's one-line patch mends that.",
    ];
  return [];
}

function noTrial(exitCode: number, output: string): UserError {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const at = lines.findLastIndex((line) => /error/i.test(line));
  const said = (at < 0 ? lines.slice(-1) : lines.slice(at, at + 4)).join(' ') || 'it printed nothing';
  return new UserError(`Harbor left no result (exit code ${exitCode}): ${said.slice(0, 400)}`, {
    nextStep: needsPulledImages.test(lines.join(' '))
      ? openNetworkHint
      : 'Check that Harbor reaches Docker with Compose v2, then try again.',
  });
}
