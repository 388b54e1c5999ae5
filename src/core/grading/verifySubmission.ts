import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { type BareNetwork, networkFiles } from '#core/container/bareNetwork.ts';
import type { ContainerEngine, ContainerHandle, ImageInfo } from '#core/container/engine.ts';
import { decide } from '#core/report/decide.ts';
import { readReports } from '#core/report/readReports.ts';
import { readReward } from '#core/report/readReward.ts';
import { mainReward } from '#core/report/rewardKind.ts';
import type { HealthcheckConfig } from '#core/task/types.ts';
import { changesOutside } from './changes.ts';
import { alteredTests, type Collected, collectVerifierFolder } from './collect.ts';
import {
  copyIn,
  type Inspection,
  inspectByArchive,
  inspectContainer,
  lookScript,
  needsNoPreparing,
  noFindExit,
  type Owner,
  prepareContainer,
  preparedFolders,
  readLook,
  verifierIds,
} from './copyIn.ts';
import type { Environments } from './environments.ts';
import { killContainer, withContainer } from './gradeContainer.ts';
import { awaitHealthy } from './healthcheck.ts';
import { printsMarkers, readMarkers } from './markers.ts';
import { neededNetwork } from './needsNetwork.ts';
import type { GradePlan } from './plan.ts';
import { NotGradedError } from './reasons.ts';
import type { GradeRecord } from './record.ts';
import { rootName, type Submission } from './submission.ts';
import { ownCommands, type RunOutcome, runTests } from './verify.ts';

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

interface Filled {
  readonly submission: Submission;
  readonly owner: Owner;
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

function recordInspection(inspection: Inspection, record: GradeRecord): void {
  record.evidence({
    network: { mode: 'none', probe: inspection.probe, detail: inspection.probeDetail },
    arrival: { checked: inspection.checked, differing: inspection.differing },
  });
}

/** Nothing counts of a grade whose submission did not arrive whole, or that had no tests. */
function requireArrival(inspection: Inspection, record: GradeRecord): void {
  recordInspection(inspection, record);
  if (inspection.differing.length > 0)
    throw new NotGradedError(
      'copy-incomplete',
      `The submission did not arrive whole: ${inspection.differing.slice(0, 3).join('; ')}.`,
    );
  if (!inspection.hasTestScript) throw new NotGradedError('test-script-missing');
  if (!inspection.hasBash) throw new NotGradedError('bash-missing');
}

async function hasSetup(input: VerifyInput): Promise<boolean> {
  const name = `${rootName(input.workdir)}/setup.sh`;
  return (await input.submission).entries.some((entry) => entry.name === name);
}

async function judge(
  input: VerifyInput,
  outcome: RunOutcome,
  collected: Collected,
  record: GradeRecord,
): Promise<void> {
  const { plan } = input;
  const script = plan.testsDir
    ? await readFile(path.join(plan.testsDir, 'test.sh'), 'utf8').catch(() => '')
    : '';
  const markers = printsMarkers(script)
    ? readMarkers(collected.outputHead + collected.outputTail, outcome.endedAt)
    : {};
  record.phasesFromMarkers(markers);
  if (outcome.timedOut)
    throw new NotGradedError(
      'verifier-timeout',
      `The tests did not end within ${plan.timeoutSec} s; their container was killed.`,
    );

  const setupFailed = markers.setupExit !== undefined && markers.setupExit !== 0;
  if (setupFailed && markers.setupExit !== undefined) record.setup(markers.setupExit, await hasSetup(input));
  const reward = readReward({
    ...pick('rewardJson', collected.files.get('reward.json')),
    ...pick('rewardTxt', collected.files.get('reward.txt')),
  });
  const report = readReports([...collected.files].map(([name, data]) => ({ name, data })));
  record.judged(
    reward,
    report,
    decide({
      reward,
      report,
      expected: plan.expected,
      setupFailed,
    }),
  );
  const fetch =
    mainReward(reward).value === 1
      ? undefined
      : neededNetwork(script, collected.outputHead + collected.outputTail, report);
  if (fetch !== undefined)
    throw new NotGradedError(
      'verifier-needs-network',
      `The task's test.sh fetches something, and the container has no network: "${fetch}".`,
    );
  if (record.isGraded) {
    if (outcome.oomKilled)
      record.marks([
        { rule: 'out-of-memory', message: 'Something in the grade container was killed for want of memory.' },
      ]);
    if (outcome.died)
      record.marks([
        {
          rule: 'container-ended',
          message: 'The container ended before test.sh did; what it had written by then was read.',
        },
      ]);
    return;
  }
  if (outcome.oomKilled)
    throw new NotGradedError(
      'verifier-out-of-memory',
      `The tests ran out of memory (limit ${plan.limits.memoryMb ?? 'none'} MB) and left no readable reward.`,
    );
  if (outcome.died) throw new NotGradedError('verifier-killed');
}

/** How many processes the submission left; undefined where that could not be told. */
async function recordProcesses(
  container: ContainerHandle,
  record: GradeRecord,
  log: Log,
): Promise<number | undefined> {
  try {
    const left = (await container.processes())
      .map((command) => command.trim())
      .filter((command) => !ownCommands.includes(command) && !command.endsWith(' sh -c sleep infinity'));
    record.evidence({ processesLeft: left.slice(0, 50) });
    if (left.length > 0)
      record.marks([
        {
          rule: 'processes-left',
          message: `${left.length} process${left.length === 1 ? ' was' : 'es were'} still running when the tests had ended.`,
        },
      ]);
    return left.length;
  } catch (error) {
    log.debug(`The processes left could not be listed: ${errorMessage(error)}`);
    return undefined;
  }
}

/** What the run changed outside of what it may change, and whether the tests are still themselves. */
async function recordChanges(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  killed: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const free = [...input.roots, '/logs', '/tmp', '/tests', '/dev', ...networkFiles];
  const [changes, altered] = await Promise.all([
    container.changes(free, signal),
    killed.then(() => (input.plan.testsDir ? alteredTests(container, input.plan.testsDir, signal) : [])),
  ]);
  record.evidence({
    changedOutside: changesOutside(changes, free)
      .slice(0, 200)
      .map(({ kind, path: changed }) => `${kind} ${changed}`),
    testsAltered: altered,
  });
  if (altered.length > 0)
    record.marks([
      {
        rule: 'tests-altered',
        message: `${altered.length} file${altered.length === 1 ? '' : 's'} of /tests changed while the tests ran: ${altered.slice(0, 3).join(', ')}.`,
      },
    ]);
}

function pick<K extends string>(key: K, value: Buffer | undefined): { [P in K]?: Buffer } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: Buffer };
}
