import type { ContainerHandle } from '#core/container/engine.ts';
import type { HealthcheckConfig } from '#core/task/types.ts';
import {
  copyIn,
  needsNoPreparing,
  type Owner,
  prepareContainer,
  preparedFolders,
  verifierIds,
} from './copyIn.ts';
import { awaitHealthy } from './healthcheck.ts';
import type { GradeRecord } from './record.ts';
import type { Submission } from './submission.ts';
import type { VerifyInput } from './verifySubmission.ts';

/** A container that holds the submission. */
export interface Filled {
  readonly submission: Submission;
  readonly owner: Owner;
}

/** Starts a container with the submission, and with the tests where the plan puts them in. */
export function startFilled(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<Filled> {
  const { healthcheck } = input.plan.task.config.environment;
  return healthcheck && input.plan.task.verifierMode !== 'separate'
    ? startThenCopy(container, input, record, signal, healthcheck)
    : startAndCopy(container, input, record, signal);
}

/** Into an image with nothing in the way the files go in while the engine starts the container. */
async function startAndCopy(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<Filled> {
  const { plan, roots } = input;
  // Asked first: an engine answers no question about a container that it starts.
  const isEmpty = await needsNoPreparing(container, input.image, roots, plan.user, signal);
  const starting = container.start(signal);
  starting.catch(() => undefined);
  try {
    if (!isEmpty) {
      await starting;
      return await copyIntoStarted(container, input, record, signal);
    }
    const owner = { uid: 0, gid: 0 };
    record.phase('submission', 'Taking the submission');
    const submission = await input.submission;
    record.phase('copy', 'Copying the submission and the tests in');
    const folders = preparedFolders(roots, submission);
    await copyIn(
      container,
      { submission, testsDir: plan.testsDir, owner, folders, network: input.network },
      signal,
    );
    return { submission, owner };
  } finally {
    await starting;
  }
}

async function startThenCopy(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  signal: AbortSignal,
  healthcheck: HealthcheckConfig,
): Promise<Filled> {
  await container.start(signal);
  // A shared verifier's container is the builder's, which is healthy before work begins.
  await awaitHealthy(container, healthcheck, input.workdir, signal);
  return copyIntoStarted(container, input, record, signal);
}

async function copyIntoStarted(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<Filled> {
  const { plan, roots } = input;
  record.phase('submission', 'Taking the submission');
  const submission = await input.submission;
  record.phase('copy', 'Copying the submission and the tests in');
  await prepareContainer(container, roots, submission, signal);
  const owner = await verifierIds(container, plan.user, input.image.user, signal);
  await copyIn(container, { submission, testsDir: plan.testsDir, owner, network: input.network }, signal);
  return { submission, owner };
}
