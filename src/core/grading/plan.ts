import { existsSync } from 'node:fs';
import path from 'node:path';
import type { EngineInfo } from '#core/container/engine.ts';
import type { ImagePlan } from '#core/container/images.ts';
import { normaliseArtifacts } from '#core/task/artifacts.ts';
import { readContract, type TwoScriptContract } from '#core/task/contract.ts';
import type { ArtifactConfig, EnvironmentConfig, Task } from '#core/task/types.ts';
import { excludeMatcher } from './excludes.ts';
import { NotGradedError } from './reasons.ts';
import type { SubmissionSource } from './types.ts';

/** Everything that a grade will do, decided before anything is done. */
export interface GradePlan {
  readonly task: Task;
  readonly source: SubmissionSource;
  /** `separate` as the task asks; `fresh` where it asked for the shared verifier (design.md §4). */
  readonly mode: 'separate' | 'fresh (task asked shared)' | 'hardened';
  /** The scripts of a hardened grade. */
  readonly contract?: TwoScriptContract;
  readonly image: ImagePlan;
  /** The image that solve.sh runs in; the verifier's when it is the same. */
  readonly solutionImage: ImagePlan;
  /** Overrides the image's own working directory. */
  readonly workdir: string | undefined;
  /** Declared artifacts and Harbor's `/logs/artifacts`; the workdir comes on top. */
  readonly artifacts: readonly ArtifactConfig[];
  /** Entries that the artifacts' `exclude` lists leave out. */
  readonly exclude: (name: string) => boolean;
  /** Folder merged onto /tests; undefined where the verifier's image owns /tests. */
  readonly testsDir: string | undefined;
  readonly user: string | undefined;
  readonly timeoutSec: number;
  readonly limits: Limits;
  /** Of the builder's own container: the reference solution and collect commands run in one. */
  readonly agentLimits: Limits;
  /** The task allows the verifier a network; it is graded without one all the same. */
  readonly networkWanted: boolean;
  readonly expected: number | undefined;
}

export interface Limits {
  readonly cpus: number | null;
  readonly memoryMb: number | null;
  readonly pids: number;
  /** What was lowered to what the host has, in words. */
  readonly clamped: readonly string[];
}

/** Docker's own default is no limit; below this real test suites fail (design.md §4.2). */
const pidsLimit = 4096;

export interface PlanOptions {
  /** Seconds; overrides `[verifier].timeout_sec`. */
  readonly timeoutSec?: number | undefined;
  /** Setup and tests apart, as the task's two-script contract has them; `false`: as Harbor runs it. */
  readonly hardened?: boolean | 'where declared' | undefined;
  /** harbor.md §8.3, by folder. */
  readonly environmentId: (folder: string) => Promise<string>;
}

/** Decides a grade. Errors: `NotGradedError` when the task has no way to be graded. */
export async function planGrade(
  task: Task,
  source: SubmissionSource,
  engine: EngineInfo,
  options: PlanOptions,
): Promise<GradePlan> {
  const separate = task.verifierMode === 'separate';
  const environment = separate ? task.verifierEnvironment : task.config.environment;
  const taskImage = await imageOfTask(task, options);
  const image = separate ? await imageOfVerifier(task, taskImage, options) : taskImage;
  const ownsTests = image.kind === 'build' && image.context === path.join(task.dir, 'tests');
  const testsDir = path.join(task.dir, 'tests');
  const artifacts = normaliseArtifacts(task);
  const contract = contractOf(task, options.hardened ?? false, !ownsTests && existsSync(testsDir));
  const network = task.config.verifier.network_mode ?? environment.network_mode;
  return {
    task,
    source,
    ...modeOf(separate, contract),
    image,
    solutionImage: taskImage,
    workdir: environment.workdir ?? undefined,
    artifacts,
    exclude: excludeMatcher(artifacts),
    testsDir: !ownsTests && existsSync(testsDir) ? testsDir : undefined,
    user: userText(task.config.verifier.user),
    timeoutSec: options.timeoutSec ?? task.config.verifier.timeout_sec,
    limits: clampLimits(environment, engine),
    agentLimits: clampLimits(task.config.environment, engine),
    networkWanted: network !== 'no-network',
    expected: task.testCaseCount,
  };
}

function modeOf(
  separate: boolean,
  contract: TwoScriptContract | undefined,
): Pick<GradePlan, 'mode' | 'contract'> {
  if (contract) return { mode: 'hardened', contract };
  return { mode: separate ? 'separate' : 'fresh (task asked shared)' };
}

function contractOf(
  task: Task,
  hardened: NonNullable<PlanOptions['hardened']>,
  hasTests: boolean,
): TwoScriptContract | undefined {
  if (!hardened) return undefined;
  const read = readContract(task.config.metadata);
  const nextStep = 'Grade it without "hardened", or declare the scripts in [metadata.e2e_swe_workbench].';
  if (read === undefined) {
    if (hardened === 'where declared') return undefined;
    throw new NotGradedError(
      'task-unsupported',
      'The task cannot be graded hardened: it declares no setup and test script.',
      { nextStep },
    );
  }
  if ('problem' in read) throw new NotGradedError('task-invalid', `task.toml: ${read.problem}`, { nextStep });
  const { contract } = read;
  const missing = [contract.setup, contract.test].find(
    (name) => !existsSync(path.join(task.dir, 'tests', name)),
  );
  if (!hasTests || missing !== undefined)
    throw new NotGradedError(
      'task-invalid',
      missing === undefined
        ? "The task cannot be graded hardened: its verifier's image has the tests."
        : `task.toml names tests/${missing}, which does not exist.`,
      { nextStep },
    );
  return contract;
}

/** The image that a builder works in: `docker_image` wins over a Dockerfile (harbor.md §3.1). */
export async function imageOfTask(
  task: Task,
  options: Pick<PlanOptions, 'environmentId'>,
): Promise<ImagePlan> {
  const { docker_image, build_timeout_sec } = task.config.environment;
  if (docker_image) return { kind: 'reference', reference: docker_image };
  const context = path.join(task.dir, 'environment');
  if (existsSync(path.join(context, 'Dockerfile')))
    return buildPlan(task, context, '', build_timeout_sec, options);
  throw new NotGradedError(
    'task-invalid',
    'The task has neither [environment].docker_image nor environment/Dockerfile.',
  );
}

/** design.md §4.2: the effective environment's image, else tests/Dockerfile, else the task's image. */
async function imageOfVerifier(task: Task, taskImage: ImagePlan, options: PlanOptions): Promise<ImagePlan> {
  const { docker_image, build_timeout_sec } = task.verifierEnvironment;
  if (docker_image) return { kind: 'reference', reference: docker_image };
  const context = path.join(task.dir, 'tests');
  if (existsSync(path.join(context, 'Dockerfile')))
    return buildPlan(task, context, '-verifier', build_timeout_sec, options);
  return taskImage;
}

async function buildPlan(
  task: Task,
  context: string,
  suffix: string,
  timeoutSec: number,
  options: Pick<PlanOptions, 'environmentId'>,
): Promise<ImagePlan> {
  return {
    kind: 'build',
    context,
    name: `${path.basename(task.dir)}${suffix}`,
    environmentId: await options.environmentId(context),
    timeoutSec,
  };
}

/** Limits of task.toml, lowered to what the engine has: Docker refuses more CPUs than there are (harbor.md §2.6). */
export function clampLimits(
  environment: EnvironmentConfig,
  engine: Pick<EngineInfo, 'cpus' | 'memoryBytes'>,
): Limits {
  const clamped: string[] = [];
  const lower = (what: string, wanted: number | null, available: number): number | null => {
    if (wanted === null || wanted <= 0) return null;
    if (wanted <= available) return wanted;
    clamped.push(`${what} ${wanted} -> ${available}`);
    return available;
  };
  return {
    cpus: lower('cpus', environment.cpus, engine.cpus),
    memoryMb: lower('memory_mb', environment.memory_mb, Math.floor(engine.memoryBytes / 1024 ** 2)),
    pids: pidsLimit,
    clamped,
  };
}

/**
 * Every folder or file of the container that a submission covers, the workdir first, nested ones left out. An image
 * without a WORKDIR runs in `/`, which is no submission: there the declared artifacts are, the first as the workdir.
 */
export function submissionRoots(plan: Pick<GradePlan, 'artifacts'>, workdir: string): string[] {
  const declared = plan.artifacts.map(({ source }) => normalise(source));
  const convention = '/logs/artifacts';
  const first = [normalise(workdir), ...declared].find((root) => root !== '/' && root !== convention);
  if (first === undefined)
    throw new NotGradedError(
      'task-unsupported',
      'The task has no folder to grade: its image has no WORKDIR, and task.toml declares no artifact.',
      { nextStep: 'Set WORKDIR in the image, or [environment].workdir or artifacts in task.toml.' },
    );
  const roots = [first];
  for (const root of declared) {
    if (root !== '/' && !roots.some((known) => isInside(root, known))) roots.push(root);
  }
  return roots;
}

export function isInside(child: string, parent: string): boolean {
  return parent === '/' || child === parent || child.startsWith(`${parent}/`);
}

/** Absolute, without empty or `.` parts or a slash at the end; relative sources resolve against `/` (harbor.md §2.7). */
function normalise(containerPath: string): string {
  return `/${containerPath
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`;
}

function userText(user: string | number | null): string | undefined {
  return user === null || user === '' ? undefined : String(user);
}
