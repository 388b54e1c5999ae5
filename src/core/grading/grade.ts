import path from 'node:path';
import { Channel } from '#core/base/channel.ts';
import { errorMessage, isCancellation, isDiskFull, orDiskFull, UserError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { type ContainerEngine, EngineError, type ImageInfo } from '#core/container/engine.ts';
import { FolderChangedError } from '#core/container/folderTar.ts';
import { ensureImage } from '#core/container/images.ts';
import { removeAbandoned } from '#core/container/reaper.ts';
import { TarFormatError } from '#core/container/tarHeader.ts';
import { contentDigest, environmentId, testsDigest } from '#core/task/digest.ts';
import { readStart } from '#core/task/folder.ts';
import type { Task } from '#core/task/types.ts';
import { collectFrom } from './collectHooks.ts';
import { type Environments, resolveEnvironments } from './environments.ts';
import { gradeNetwork } from './networkCache.ts';
import { compareWithOracle } from './oracle.ts';
import { type GradePlan, planGrade, submissionRoots } from './plan.ts';
import type { Preparation } from './prepared.ts';
import { NotGradedError, reasonOf } from './reasons.ts';
import { GradeRecord } from './record.ts';
import { solveAndTake } from './solution.ts';
import { makeGradeDir } from './store.ts';
import {
  checkSource,
  emptySubmission,
  type Submission,
  submissionFromAttempt,
  submissionFromFolder,
  submissionFromTar,
} from './submission.ts';
import { Tee } from './tee.ts';
import type { GradeEvent, GradeResult, SubmissionSource } from './types.ts';
import { verifyHardened } from './verifyHardened.ts';
import { verifySubmission } from './verifySubmission.ts';

export interface GradeOptions {
  /** Grades are kept in `<storeDir>/grades/<task>/<id>`. */
  readonly storeDir: string;
  /** Keeps this one here instead. */
  readonly outDir?: string | undefined;
  /** Seconds; overrides `[verifier].timeout_sec`. */
  readonly timeoutSec?: number | undefined;
  /** The set-up and the tests in containers of their own (`verifyHardened`); default: as Harbor runs it. */
  readonly hardened?: boolean | 'where declared';
  /** Leave the container running for a look inside. */
  readonly keep?: boolean;
  /** Emit the verifier's output while it runs. */
  readonly live?: boolean;
  /** Asked before a host variable goes into a container; without it none goes (harbor.md §2.10). */
  readonly allowHostEnv?: (names: readonly string[]) => Promise<boolean>;
}

export interface GradeDeps {
  readonly connect: () => Promise<ContainerEngine>;
  readonly log: Log;
  readonly hostEnv: NodeJS.ProcessEnv;
  readonly prepared?: Preparation;
}

/**
 * Grades one submission in one fresh container (design.md §4) and tells what happens. The last event is `finished`;
 * an infrastructure failure finishes as `not graded`. Errors: `UserError` for a source that does not exist,
 * `CancelledError` when the signal fired (the container is removed first).
 */
export async function* gradeTask(
  task: Task,
  source: SubmissionSource,
  options: GradeOptions,
  deps: GradeDeps,
  signal: AbortSignal,
): AsyncGenerator<GradeEvent> {
  const events = new Channel<GradeEvent>();
  const stopped = new AbortController();
  const run = runGrade(
    task,
    source,
    options,
    deps,
    (event) => events.push(event),
    AbortSignal.any([signal, stopped.signal]),
  ).then(
    () => events.end(),
    (error: unknown) => events.end(error),
  );
  try {
    yield* events;
  } finally {
    // A consumer that walks away cancels the grade; nothing of it may stay behind.
    stopped.abort();
    await run;
  }
}

async function runGrade(
  task: Task,
  source: SubmissionSource,
  options: GradeOptions,
  deps: GradeDeps,
  emit: (event: GradeEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  await checkSource(source);
  checkOutDir(task, source, options.outDir);
  const dir = await makeGradeDir(options, task).catch((error: unknown) => {
    throw orDiskFull(error, options.outDir ?? options.storeDir);
  });
  const record = new GradeRecord(task, source, dir, emit);
  let result: GradeResult;
  try {
    await gradeInto(record, task, source, dir, options, deps, signal);
    result = record.finish();
  } catch (error) {
    if (signal.aborted || isCancellation(error)) {
      await record.discard();
      throw error;
    }
    const failure = asNotGraded(error);
    if (failure === undefined) {
      await record.discard();
      throw error;
    }
    deps.log.warn(`Not graded (${failure.reason}): ${failure.message}`);
    result = record.finish(failure);
  }
  result = await compareWithOracle(result, task, options.storeDir);
  await record.save(result).catch((error: unknown) => {
    if (!isDiskFull(error)) throw error;
    deps.log.warn(`The grade is not kept: ${errorMessage(orDiskFull(error, dir))}`);
  });
  emit({ kind: 'finished', result });
}

async function gradeInto(
  record: GradeRecord,
  task: Task,
  source: SubmissionSource,
  dir: string,
  options: GradeOptions,
  deps: GradeDeps,
  signal: AbortSignal,
): Promise<void> {
  if (source.kind === 'attempt') record.marks(source.marks);
  record.taskDigest(await contentDigest(task.dir));
  const engine = await connect(deps);
  const info = await engine.info();
  void removeAbandoned(engine).catch((error: unknown) =>
    deps.log.warn(`What an earlier grade left could not be removed: ${errorMessage(error)}`),
  );
  const plan = await planGrade(task, source, info, {
    timeoutSec: options.timeoutSec,
    hardened: options.hardened,
    environmentId,
  });
  record.planned(plan, info);
  await checkTestScript(plan);
  if (plan.testsDir) record.evidence({ testsDigest: await testsDigest(task.dir) });
  const env = await resolveEnvironments(plan, deps.hostEnv, options.allowHostEnv);

  record.phase('image', 'Preparing the image');
  const imageOptions = { onProgress: (message: string) => record.progress(message), log: deps.log, signal };
  const image = await ensureImage(engine, plan.image, imageOptions);
  record.image(image, info, plan);
  const workdir = plan.workdir ?? image.workdir;
  const roots = submissionRoots(plan, workdir);

  // A healthcheck runs before the files of a bare network are in.
  const network = plan.task.config.environment.healthcheck
    ? ('none' as const)
    : await gradeNetwork(engine, info, image, { storeDir: options.storeDir, log: deps.log, signal });

  // The container starts while a folder is still being read; the reference solution needs a container of its own first.
  const stopTaking = new AbortController();
  const tee = teeFor(plan, roots);
  const context = { workdir, roots, dir, env, tee, options: imageOptions };
  const taking = takeSubmission(
    record,
    engine,
    plan,
    image,
    context,
    AbortSignal.any([signal, stopTaking.signal]),
  );
  taking.catch(() => undefined);
  if (plan.source.kind === 'solution') await taking;
  const submission = taking.then((taken) => {
    record.submission(taken);
    requireArtifacts(plan, taken, roots);
    return taken;
  });
  submission.then(
    () => tee?.end(),
    (error: unknown) => tee?.end(error),
  );
  try {
    const input = {
      ...{ plan, image, workdir, roots, submission, tee, network, dir, env },
      prepared: deps.prepared,
      keep: options.keep ?? false,
      live: options.live ?? false,
      log: deps.log,
    };
    await (plan.contract
      ? verifyHardened(engine, { ...input, contract: plan.contract }, record, signal)
      : verifySubmission(engine, input, record, signal));
  } finally {
    stopTaking.abort();
    tee?.leave();
    await submission.catch(() => undefined);
  }
}

/** Of a submission that is all in its first root, and that nothing changes once it is taken. */
function teeFor({ source, task }: GradePlan, roots: readonly string[]): Tee | undefined {
  const isInFirst = source.kind === 'folder' || source.kind === 'empty' || roots.length === 1;
  const isTaken = source.kind !== 'solution' && task.config.verifier.collect.length === 0;
  return isInFirst && isTaken ? new Tee() : undefined;
}

interface TakeContext {
  readonly workdir: string;
  readonly roots: readonly string[];
  readonly dir: string;
  readonly env: Environments;
  readonly tee: Tee | undefined;
  readonly options: Parameters<typeof ensureImage>[2];
}

async function takeSubmission(
  record: GradeRecord,
  engine: ContainerEngine,
  plan: GradePlan,
  image: ImageInfo,
  context: TakeContext,
  signal: AbortSignal,
): Promise<Submission> {
  const { roots, dir, workdir, env, tee, options } = context;
  const take = { roots, dir, exclude: plan.exclude, tee, signal };
  const builderImage = (): Promise<ImageInfo> =>
    plan.solutionImage === plan.image
      ? Promise.resolve(image)
      : ensureImage(engine, plan.solutionImage, options);
  if (plan.source.kind === 'solution') {
    record.phase('solution', 'Running the reference solution');
    const solving = {
      image: await builderImage(),
      workdir,
      roots,
      dir,
      containerEnv: env.agent,
      env: env.solution,
      log: options.log,
    };
    const solved = await solveAndTake(engine, plan, solving, signal);
    record.marks(solved.marks);
    return solved.submission;
  }
  const taken = await takeFrom(plan.source, take);
  if (plan.task.config.verifier.collect.length === 0) return taken;
  const staging = { image: await builderImage(), workdir, roots, dir, env: env.agent, log: options.log };
  const collected = await collectFrom(engine, plan, taken, staging, signal);
  record.marks(collected.marks);
  return collected.submission;
}

function takeFrom(
  source: Exclude<SubmissionSource, { kind: 'solution' }>,
  take: Parameters<typeof emptySubmission>[0],
): Promise<Submission> {
  switch (source.kind) {
    case 'folder':
      return submissionFromFolder(source.path, take);
    case 'tar':
      return submissionFromTar(source.path, take);
    case 'attempt':
      return submissionFromAttempt(source, take);
    case 'empty':
      return emptySubmission(take);
  }
}

/** A workdir or declared artifact that is missing is no grade, never the image's own copy (design.md §4.1). */
function requireArtifacts(plan: GradePlan, submission: Submission, roots: readonly string[]): void {
  const convention = '/logs/artifacts';
  for (const root of roots) {
    if (root === convention) continue;
    const name = Buffer.from(root.slice(1), 'utf8').toString('latin1');
    if (!submission.entries.some((entry) => entry.name === name || entry.name.startsWith(`${name}/`))) {
      throw new NotGradedError(
        'artifact-missing',
        `${root}, which is graded, is not in the submission (${plan.source.kind}).`,
      );
    }
  }
}

/** A grade that grows inside what it reads would never be of one moment. */
function checkOutDir(task: Task, source: SubmissionSource, outDir: string | undefined): void {
  if (outDir === undefined) return;
  const isWithin = (folder: string): boolean => {
    const relative = path.relative(path.resolve(folder), path.resolve(outDir));
    return relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
  };
  const what =
    source.kind === 'folder' && isWithin(source.path) ? 'workspace' : isWithin(task.dir) ? 'task' : undefined;
  if (what === undefined) return;
  throw new UserError(`The folder "${outDir}" for the grade lies inside the ${what}.`, {
    nextStep: 'Choose a folder outside of it.',
  });
}

async function checkTestScript({ testsDir }: GradePlan): Promise<void> {
  if (testsDir === undefined) return;
  const script = await readStart(path.join(testsDir, 'test.sh'));
  if (
    script
      ?.subarray(0, script.indexOf(10) + 1)
      .toString('latin1')
      .endsWith('\r\n')
  )
    throw new NotGradedError('test-script-crlf');
}

async function connect(deps: GradeDeps): Promise<ContainerEngine> {
  try {
    return await deps.connect();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new NotGradedError('engine-unavailable', error.message, {
      cause: error,
      ...(error.nextStep ? { nextStep: error.nextStep } : {}),
    });
  }
}

/** Failures that end a grade as `not graded`; anything else is the caller's to see. */
function asNotGraded(error: unknown): NotGradedError | undefined {
  if (error instanceof NotGradedError) return error;
  if (error instanceof EngineError)
    return new NotGradedError(reasonOf(error), error.message, { cause: error });
  if (error instanceof FolderChangedError)
    return new NotGradedError('submission-changed', error.message, { cause: error });
  if (error instanceof TarFormatError)
    return new NotGradedError('engine-lost', `The engine's answer was cut short: ${error.message}`, {
      cause: error,
    });
  if (isDiskFull(error))
    return new NotGradedError('disk-full', 'The disk that holds the grades is full.', { cause: error });
  return undefined;
}
