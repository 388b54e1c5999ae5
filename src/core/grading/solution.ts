import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '#core/base/log.ts';
import type { ContainerEngine, ImageInfo } from '#core/container/engine.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { writeTar } from '#core/container/tarStream.ts';
import type { Mark } from '#core/report/types.ts';
import { requireEngine } from './aftermath.ts';
import { runCollectHooks } from './collectHooks.ts';
import { killContainer, withContainer } from './gradeContainer.ts';
import { awaitHealthy } from './healthcheck.ts';
import type { GradePlan } from './plan.ts';
import { NotGradedError } from './reasons.ts';
import { archivesOf, type Submission, submissionFromArchives } from './submission.ts';

export interface SolutionOptions {
  readonly image: ImageInfo;
  readonly workdir: string;
  readonly roots: readonly string[];
  readonly dir: string;
  /** `[environment].env`, resolved. */
  readonly containerEnv: Readonly<Record<string, string>>;
  /** `[solution].env`, resolved. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** Bytes of solve.sh's output kept. */
const outputCap = 64 * 1024 ** 2;

/**
 * Runs solution/solve.sh as Harbor's oracle does (harbor.md §5) in a container of its own and takes what it made.
 * Its exit code stops nothing, as in Harbor, but is marked.
 */
export async function solveAndTake(
  engine: ContainerEngine,
  plan: GradePlan,
  options: SolutionOptions,
  signal: AbortSignal,
): Promise<{ submission: Submission; marks: Mark[] }> {
  const { task } = plan;
  const solution = path.join(task.dir, 'solution');
  if (!existsSync(path.join(solution, 'solve.sh'))) throw new NotGradedError('solution-missing');
  const network = task.config.agent.network_mode ?? task.config.environment.network_mode;
  const user = task.config.agent.user;
  return withContainer(
    engine,
    {
      image: options.image,
      limits: plan.agentLimits,
      env: options.containerEnv,
      workdir: task.config.environment.workdir ?? undefined,
      network: network === 'no-network' ? 'none' : 'bridge',
      log: options.log,
    },
    async (container) => {
      await container.start(signal);
      await container.exec(
        {
          command: [
            'sh',
            '-c',
            'mkdir -p /solution /logs/agent /logs/artifacts "$1"; chmod 777 /logs/agent /logs/artifacts',
            'sh',
            options.workdir,
          ],
          user: '0',
        },
        signal,
      );
      await container.putArchive(
        '/',
        writeTar(rootOwned(walkFolder(solution, { prefix: 'solution', includeRoot: true, signal }))),
        signal,
      );
      await container.exec({ command: ['chmod', '+x', '/solution/solve.sh'], user: '0' }, signal);
      if (task.config.environment.healthcheck)
        await awaitHealthy(container, task.config.environment.healthcheck, options.workdir, signal);
      const output = await open(path.join(options.dir, 'solution.txt'), 'w');
      let written = 0;
      try {
        const { exitCode } = await container.exec(
          {
            command: ['bash', '-c', '(/solution/solve.sh) 2>&1'],
            workdir: options.workdir,
            env: { DEBIAN_FRONTEND: 'noninteractive', ...options.env },
            ...(user === null ? {} : { user: String(user) }),
            onOutput: async (data) => {
              if (written < outputCap) await output.write(data);
              written += data.length;
            },
          },
          signal,
        );
        await requireEngine(container, exitCode);
        const collected = await runCollectHooks(
          container,
          task.config.verifier.collect,
          options.workdir,
          signal,
        );
        await killContainer(container);
        const archives = archivesOf(container, options.roots, signal);
        const submission = await submissionFromArchives(archives, {
          roots: options.roots,
          dir: options.dir,
          exclude: plan.exclude,
          signal,
        });
        const marks =
          exitCode === 0
            ? []
            : [
                {
                  rule: 'solution-exit',
                  message: `solution/solve.sh ended with exit code ${exitCode}${network === 'no-network' ? ' (it ran without a network)' : ''}; see solution.txt.`,
                },
              ];
        return { submission, marks: [...marks, ...collected] };
      } finally {
        await output.close();
      }
    },
  );
}

async function* rootOwned(entries: ReturnType<typeof walkFolder>): ReturnType<typeof walkFolder> {
  for await (const { header, body } of entries) yield { header: { ...header, uid: 0, gid: 0 }, body };
}
