import { stat } from 'node:fs/promises';
import path from 'node:path';
import { readSubmission } from '#core/grading/submission.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import type { Side } from '#core/trial/compareSides.ts';
import { type CrossCheck, composeProjectPrefix, crossCheck } from '#core/trial/crossCheck.ts';
import { newTrialName } from '#core/trial/exportTrial.ts';
import type { HarborCommand } from '#core/trial/harborCommand.ts';

/** The part of a container engine that clears up after a cancelled Harbor. */
export interface ContainerSweeper {
  listContainers(
    label: string,
  ): Promise<readonly { readonly id: string; readonly labels: Readonly<Record<string, string>> }[]>;
  removeContainer(id: string): Promise<void>;
}

export interface HarborCheckOptions {
  readonly harbor: HarborCommand;
  /** Give Harbor's verifier a network: its own "no network" needs images that must be pulled. */
  readonly publicNetwork: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly connect: () => Promise<ContainerSweeper>;
  readonly signal: AbortSignal;
  /** Gets what Harbor prints. */
  readonly onOutput?: (text: string) => void;
}

/**
 * Lets the real Harbor grade the submission of one of our grades, and compares. Undefined where that grade ended before
 * there was a submission. Harbor's files are kept in `<grade>/harbor`. Errors: `UserError` when Harbor leaves no trial.
 */
export async function checkWithHarbor(
  task: Task,
  ours: GradeResult,
  options: HarborCheckOptions,
): Promise<CrossCheck | undefined> {
  const file = path.join(ours.dir, 'submission.tar.gz');
  const { submission, image, limits } = ours.evidence;
  if (submission === undefined || !(await stat(file).catch(() => undefined))) return undefined;
  const { sha256, bytes, skipped } = submission;
  const trialName = newTrialName(task);
  try {
    return await crossCheck({
      task,
      trialName,
      ours: sideOf(ours),
      submission: {
        file,
        read: () => readSubmission({ file, sha256, bytes, entries: [], skipped: [] }),
        skipped,
        isSolution: ours.evidence.source === 'solution',
      },
      image: image?.reference,
      limits: { cpus: limits?.cpus ?? null, memoryMb: limits?.memoryMb ?? null },
      startedAt: ours.startedAt,
      finishedAt: ours.finishedAt,
      into: path.join(ours.dir, 'harbor'),
      harbor: options.harbor,
      publicNetwork: options.publicNetwork,
      env: options.env,
      signal: options.signal,
      ...(options.onOutput ? { onOutput: options.onOutput } : {}),
    });
  } finally {
    if (options.signal.aborted) await removeLeftovers(trialName, options);
  }
}

/** A Harbor that was cancelled while it tidied up leaves its containers running. */
async function removeLeftovers(trialName: string, { connect }: HarborCheckOptions): Promise<void> {
  const engine = await connect();
  const label = 'com.docker.compose.project';
  const prefix = composeProjectPrefix(trialName);
  const left = await engine.listContainers(label);
  for (const { id } of left.filter(({ labels }) => labels[label]?.startsWith(prefix)))
    await engine.removeContainer(id);
}

function sideOf({ verdict, reason, rewards, tests }: GradeResult): Side {
  return { verdict, ...(reason === undefined ? {} : { reason }), rewards: rewards ?? null, tests };
}
