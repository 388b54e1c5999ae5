import type { Log } from '#core/base/log.ts';
import type { BareNetwork } from '#core/container/bareNetwork.ts';
import {
  type ContainerEngine,
  type ContainerHandle,
  EngineError,
  type ImageInfo,
} from '#core/container/engine.ts';
import { type OomWatch, recordInspection, requireArrival, settle, watchingOom } from './aftermath.ts';
import { inspectByArchive, inspectContainer, isHeld, lookScript, noFindExit, readLook } from './copyIn.ts';
import type { Environments } from './environments.ts';
import { beginCopy, copyByEngine, fill, startFor } from './fill.ts';
import { type GradeContainerOptions, withContainer } from './gradeContainer.ts';
import type { GradePlan } from './plan.ts';
import type { Preparation } from './prepared.ts';
import type { GradeRecord } from './record.ts';
import type { Submission } from './submission.ts';
import type { Tee } from './tee.ts';
import { type RunOptions, type RunOutcome, runTests } from './verify.ts';

export interface VerifyInput {
  readonly plan: GradePlan;
  readonly image: ImageInfo;
  readonly workdir: string;
  readonly roots: readonly string[];
  /** May still be under way while the container starts. */
  readonly submission: Promise<Submission>;
  /** Gives its tar while it is kept, of one that is all in the first root. */
  readonly tee?: Tee | undefined;
  readonly network: 'none' | BareNetwork;
  /** The grade's folder. */
  readonly dir: string;
  readonly env: Environments;
  readonly prepared?: Preparation | undefined;
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
  const options: GradeContainerOptions = {
    image,
    limits: plan.limits,
    env: input.env.container,
    workdir: plan.workdir,
    network: input.network,
    keepFor: input.keep ? input.dir : undefined,
    log: input.log,
  };
  // What an ENTRYPOINT or a healthcheck does takes place in the time of its own grade.
  const isPreparable =
    !input.keep && image.entrypoint.length === 0 && !plan.task.config.environment.healthcheck;
  const prepared = isPreparable ? input.prepared : undefined;
  const ready = await prepared?.take(engine, options);
  prepared?.remember(options);
  await withContainer(
    engine,
    options,
    (container) =>
      watchingOom(container, (oom) => verifyIn(container, input, ready !== undefined, record, oom, signal)),
    () => record.phase('remove', 'Removing the container'),
    ready,
  );
}

/** A connection that is cut ends like the command at its other end; tests that ran unseen do not count. */
function requireWholeLook({ firstIsWhole, exitCode, timedOut, died }: RunOutcome): void {
  const isKilled = timedOut || died || exitCode === null || exitCode > 128;
  if (!firstIsWhole && !isKilled && exitCode !== noFindExit)
    throw new EngineError('lost', 'The connection to the engine ended in the look into the container.');
}

async function verifyIn(
  container: ContainerHandle,
  input: VerifyInput,
  isStarted: boolean,
  record: GradeRecord,
  oom: OomWatch,
  signal: AbortSignal,
): Promise<void> {
  const { plan, roots } = input;
  const run = (first?: RunOptions['first']): Promise<RunOutcome> => {
    const onCopied = (): void => record.phase('verify', 'Running the hidden tests');
    if (!first?.input) onCopied();
    return runTests(
      container,
      {
        workdir: input.workdir,
        user: plan.user,
        env: input.env.verifier,
        timeoutSec: plan.timeoutSec,
        first,
        onCopied,
        onOutput: input.live ? (chunk) => record.output(chunk) : undefined,
      },
      signal,
    );
  };
  const owner = await startFor(container, input, signal, isStarted);
  let outcome: RunOutcome;
  if (owner.uid === 0) {
    // Root copies in, looks and tests in one exec: each costs as much as copying a hundred files.
    const unpack = await beginCopy(input, owner, record, signal);
    const first = unpack && (await run({ ...unpack, script: `${unpack.script}\n${lookScript}` }));
    const submission = first?.copied
      ? await input.submission
      : await copyByEngine(container, input, owner, signal);
    const held = roots.filter((root) => isHeld(root, submission));
    outcome = first?.copied ? first : await run({ script: lookScript, args: held });
    requireWholeLook(outcome);
    const inspection =
      outcome.stderr.length > 0 ? readLook(outcome.stdout, outcome.stderr, submission) : undefined;
    // A run that was ended from outside may have cut the look short; its reason is the ending.
    if (inspection && (outcome.timedOut || outcome.died)) recordInspection(inspection, record);
    else if (inspection) requireArrival(inspection, record);
    else if (outcome.exitCode === noFindExit) {
      requireArrival(await inspectByArchive(container, held, outcome.stderr, submission, signal), record);
      outcome = await run();
    }
  } else {
    const submission = await fill(container, input, owner, record, signal);
    requireArrival(await inspectContainer(container, roots, submission, signal), record);
    outcome = await run();
  }
  record.evidence({ exitCode: outcome.exitCode, timeoutSec: plan.timeoutSec });

  await settle(container, input, outcome, oom, record, signal);
}
