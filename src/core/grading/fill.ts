import type { ContainerHandle } from '#core/container/engine.ts';
import { copyIn, type Owner, prepareContainer, verifierIds } from './copyIn.ts';
import { awaitHealthy } from './healthcheck.ts';
import type { GradeRecord } from './record.ts';
import type { Submission } from './submission.ts';
import { mayUnpack, type Unpacking, unpacking } from './unpack.ts';
import type { VerifyInput } from './verifySubmission.ts';

/** Starts a container for the submission, and tells whose the submission is to be there. */
export async function startFor(
  container: ContainerHandle,
  input: VerifyInput,
  signal: AbortSignal,
  isStarted = false,
): Promise<Owner> {
  const { plan } = input;
  const { healthcheck } = plan.task.config.environment;
  if (!isStarted) await container.start(signal);
  // A shared verifier's container is the builder's, which is healthy before work begins.
  if (healthcheck && plan.task.verifierMode !== 'separate')
    await awaitHealthy(container, healthcheck, input.workdir, signal);
  return verifierIds(container, plan.user, input.image.user, signal);
}

/** The exec that copies everything in; undefined where the engine is to do it. */
export async function beginCopy(
  input: VerifyInput,
  owner: Owner,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<Unpacking | undefined> {
  const isInside = mayUnpack(input.plan.limits);
  if (!isInside) input.tee?.leave();
  if (!isInside || !input.tee) {
    record.phase('submission', 'Taking the submission');
    await input.submission;
  }
  record.phase('copy', 'Copying the submission and the tests in');
  return isInside ? unpacking(input, owner, signal) : undefined;
}

/** Copies in by the engine, also where an exec could not: its reason, if it cannot either, is the one to tell. */
export async function copyByEngine(
  container: ContainerHandle,
  input: VerifyInput,
  owner: Owner,
  signal: AbortSignal,
): Promise<Submission> {
  const { plan, network } = input;
  input.tee?.leave();
  const submission = await input.submission;
  await prepareContainer(container, input.roots, submission, signal);
  await copyIn(container, { submission, testsDir: plan.testsDir, owner, network }, signal);
  return submission;
}

/** Copies the submission in, and the tests where the plan puts them in. */
export async function fill(
  container: ContainerHandle,
  input: VerifyInput,
  owner: Owner,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<Submission> {
  const unpack = await beginCopy(input, owner, record, signal);
  if (unpack) {
    const { exitCode } = await container.exec(
      { command: ['sh', '-c', unpack.script, 'sh', ...unpack.args], user: '0', input: unpack.input },
      signal,
    );
    if (exitCode === 0) return input.submission;
  }
  return copyByEngine(container, input, owner, signal);
}
