import type { Log } from '#core/base/log.ts';
import type { ContainerEngine, ContainerHandle, ImageInfo } from '#core/container/engine.ts';
import type { Mark } from '#core/report/types.ts';
import type { CollectConfig } from '#core/task/types.ts';
import { copyIn, prepareContainer, verifierIds } from './copyIn.ts';
import { killContainer, withContainer } from './gradeContainer.ts';
import type { GradePlan } from './plan.ts';
import { archivesOf, type Submission, submissionFromArchives } from './submission.ts';

/**
 * Runs `[[verifier.collect]]` in the builder's container before its artifacts are taken (harbor.md §0 step 5). Best
 * effort, as in Harbor: a command that fails or hangs is marked, and the grade goes on.
 */
export async function runCollectHooks(
  container: ContainerHandle,
  hooks: readonly CollectConfig[],
  workdir: string,
  signal: AbortSignal,
): Promise<Mark[]> {
  const marks: Mark[] = [];
  for (const hook of hooks) {
    const problem = await runHook(container, hook, workdir, signal);
    if (problem)
      marks.push({
        rule: 'collect-failed',
        message: `The task's collect command "${hook.command.slice(0, 100)}" failed: ${problem}.`,
      });
  }
  return marks;
}

export interface StageOptions {
  readonly image: ImageInfo;
  readonly workdir: string;
  readonly roots: readonly string[];
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** For a submission that came from no container: puts it into one of the task's image, runs the hooks, takes it again. */
export async function collectFrom(
  engine: ContainerEngine,
  plan: GradePlan,
  submission: Submission,
  options: StageOptions,
  signal: AbortSignal,
): Promise<{ submission: Submission; marks: Mark[] }> {
  const { config } = plan.task;
  const container = {
    image: options.image,
    limits: plan.agentLimits,
    env: options.env,
    workdir: config.environment.workdir ?? undefined,
    network: 'none' as const,
    log: options.log,
  };
  return withContainer(engine, container, async (staged) => {
    await staged.start(signal);
    await prepareContainer(staged, options.roots, submission, signal);
    const user = config.agent.user === null ? undefined : String(config.agent.user);
    const owner = await verifierIds(staged, user, options.image.user, signal);
    await copyIn(staged, { submission, testsDir: undefined, owner }, signal);
    const marks = await runCollectHooks(staged, config.verifier.collect, options.workdir, signal);
    await killContainer(staged);
    const archives = archivesOf(staged, options.roots, signal);
    const collected = await submissionFromArchives(archives, {
      roots: options.roots,
      dir: options.dir,
      exclude: plan.exclude,
      signal,
    });
    return { submission: { ...collected, skipped: [...submission.skipped, ...collected.skipped] }, marks };
  });
}

async function runHook(
  container: ContainerHandle,
  hook: CollectConfig,
  workdir: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(Math.max(1, hook.timeout_sec * 1000));
  try {
    const { exitCode } = await container.exec(
      {
        command: ['bash', '-c', hook.command],
        workdir,
        ...(hook.user === null ? {} : { user: String(hook.user) }),
      },
      AbortSignal.any([signal, deadline]),
    );
    return exitCode === 0 ? undefined : `exit ${exitCode}`;
  } catch (error) {
    if (deadline.aborted && !signal.aborted) return `no end within ${hook.timeout_sec} s`;
    throw error;
  }
}
