import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#core/base/log.ts';
import type { BareNetwork } from '#core/container/bareNetwork.ts';
import type { ContainerEngine, ContainerHandle, ImageInfo } from '#core/container/engine.ts';
import { recordChanges, recordInspection, recordProcesses, requireArrival } from './aftermath.ts';
import { collectVerifierFolder } from './collect.ts';
import { inspectByArchive, inspectContainer, lookScript, noFindExit, readLook } from './copyIn.ts';
import type { Environments } from './environments.ts';
import { startAndCopy, startThenCopy } from './fill.ts';
import { killContainer, withContainer } from './gradeContainer.ts';
import { judge } from './judge.ts';
import type { GradePlan } from './plan.ts';
import type { GradeRecord } from './record.ts';
import type { Submission } from './submission.ts';
import { type RunOutcome, runTests } from './verify.ts';

export interface VerifyInput {
  readonly plan: GradePlan;
  readonly image: ImageInfo;
  readonly workdir: string;
  readonly roots: readonly string[];
  /** May still be under way while the container starts. */
  readonly submission: Promise<Submission>;
  readonly network: 'none' | BareNetwork;
  /** The grade's folder. */
  readonly dir: string;
  readonly env: Environments;
  readonly keep: boolean;
  readonly live: boolean;
  readonly log: Log;
}

/** Steps 2 to 9 of design.md §4: container, copy, tests, results, evidence, removal, verdict. */
export async function verifySubmission(
  engine: ContainerEngine,
  input: VerifyInput,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<void> {
  const { plan, image } = input;
  record.phase('container', 'Starting a fresh container');
  const options = {
    image,
    limits: plan.limits,
    env: input.env.container,
    workdir: plan.workdir,
    network: input.network,
    keepFor: input.keep ? input.dir : undefined,
    log: input.log,
  };
  await withContainer(
    engine,
    options,
    (container) => watched(container, input, record, signal),
    () => record.phase('remove', 'Removing the container'),
  );
}

/** How long the event of a process that was killed for want of memory may lag behind the process. */
const oomLagMs = 500;

async function watched(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<void> {
  const oom = { seen: false };
  const unwatch = await container.watchOom(() => {
    oom.seen = true;
  });
  try {
    await verifyIn(container, input, record, oom, signal);
  } finally {
    unwatch();
  }
}

async function verifyIn(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  oom: { readonly seen: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { plan, roots } = input;
  const { healthcheck } = plan.task.config.environment;
  const { submission, owner } =
    healthcheck && plan.mode !== 'separate'
      ? await startThenCopy(container, input, record, signal, healthcheck)
      : await startAndCopy(container, input, record, signal);
  const run = (first?: ReturnType<typeof lookScript>): Promise<RunOutcome> => {
    record.phase('verify', 'Running the hidden tests');
    return runTests(
      container,
      {
        workdir: input.workdir,
        user: plan.user,
        env: input.env.verifier,
        timeoutSec: plan.timeoutSec,
        first,
        onOutput: input.live ? (chunk) => record.output(chunk) : undefined,
      },
      signal,
    );
  };
  let outcome: RunOutcome;
  if (owner.uid === 0) {
    // Root looks and tests in one exec, which spares a third of the time that copying takes.
    const look = lookScript(roots, submission);
    outcome = await run(look);
    const inspection =
      outcome.stderr.length > 0 ? readLook(outcome.stdout, outcome.stderr, submission) : undefined;
    // A run that was ended from outside may have cut the look short; its reason is the ending.
    if (inspection && (outcome.timedOut || outcome.died)) recordInspection(inspection, record);
    else if (inspection) requireArrival(inspection, record);
    else if (outcome.exitCode === noFindExit) {
      requireArrival(
        await inspectByArchive(container, look.args, outcome.stderr, submission, signal),
        record,
      );
      outcome = await run();
    }
  } else {
    requireArrival(await inspectContainer(container, roots, submission, signal), record);
    outcome = await run();
  }
  record.evidence({ exitCode: outcome.exitCode, timeoutSec: plan.timeoutSec });

  record.phase('collect', 'Reading the results');
  const left =
    outcome.timedOut || outcome.died ? undefined : await recordProcesses(container, record, input.log);
  // Once it is killed nothing of the submission runs: what is read is what was there.
  const killed = killContainer(container);
  // Where nothing is left that could change a file, the list of changes, which can take long, need not wait.
  if (left !== 0) await killed;
  const [collected] = await Promise.all([
    killed.then(() => collectVerifierFolder(container, path.join(input.dir, 'verifier'), signal)),
    recordChanges(container, input, record, killed, signal),
  ]);
  record.marks(collected.marks);
  const silent = !collected.files.has('reward.json') && !collected.files.has('reward.txt');
  if (silent && !outcome.timedOut && !oom.seen) await delay(oomLagMs);
  const oomKilled = outcome.oomKilled || oom.seen;
  record.evidence({ oomKilled });
  await judge(input, { ...outcome, oomKilled }, collected, record);
}
