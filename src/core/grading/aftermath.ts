import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { networkFiles } from '#core/container/bareNetwork.ts';
import { type ContainerHandle, EngineError } from '#core/container/engine.ts';
import type { Mark } from '#core/report/types.ts';
import { alteredTests } from './alteredTests.ts';
import { changesOutside } from './changes.ts';
import { collectVerifierFolder } from './collect.ts';
import type { Inspection } from './copyIn.ts';
import { killContainer } from './gradeContainer.ts';
import { judge } from './judge.ts';
import { NotGradedError } from './reasons.ts';
import type { GradeRecord } from './record.ts';
import { ownCommands, type RunOutcome } from './verify.ts';
import type { VerifyInput } from './verifySubmission.ts';

export function recordInspection(inspection: Inspection, record: GradeRecord): void {
  record.evidence({
    network: { mode: 'none', probe: inspection.probe, detail: inspection.probeDetail },
    arrival: { checked: inspection.checked, differing: inspection.differing },
  });
  if (inspection.probe === 'connected')
    record.marks([
      {
        rule: 'network-reached',
        message: 'A connection out of the grade container was made: it was not offline.',
      },
    ]);
}

/** Nothing counts of a grade whose submission did not arrive whole, or that had no tests. */
export function requireArrival(inspection: Inspection, record: GradeRecord): void {
  recordInspection(inspection, record);
  if (inspection.differing.length > 0)
    throw new NotGradedError(
      'copy-incomplete',
      `The submission did not arrive whole: ${inspection.differing.slice(0, 3).join('; ')}.`,
    );
  if (!inspection.hasTestScript) throw new NotGradedError('test-script-missing');
  if (!inspection.hasBash) throw new NotGradedError('bash-missing');
}

/** Whether something in a container was killed for want of memory: only an event tells (docker.md §D). */
export interface OomWatch {
  readonly seen: boolean;
}

export async function watchingOom<T>(
  container: ContainerHandle,
  use: (oom: OomWatch) => Promise<T>,
): Promise<T> {
  const oom = { seen: false };
  const unwatch = await container.watchOom(() => {
    oom.seen = true;
  });
  try {
    return await use(oom);
  } finally {
    unwatch();
  }
}

/**
 * A stopped engine ends what runs in its containers by signal, and still answers meanwhile. That must not count
 * against the submission, whose script ended otherwise, or was killed by itself under an engine that stayed.
 */
export async function requireEngine(container: ContainerHandle, exitCode: number | null): Promise<void> {
  if (exitCode !== null && exitCode <= 128) return;
  if (!(await container.engineStayed()))
    throw new EngineError('lost', 'The container engine was stopped or restarted while the grade ran.');
}

/** How long the event of a process that was killed for want of memory may lag behind the process. */
const oomLagMs = 500;

/** What follows a run: processes left, the end of them, results, evidence, verdict (design.md §4, steps 6 to 8). */
export async function settle(
  container: ContainerHandle,
  input: VerifyInput,
  outcome: RunOutcome,
  oom: OomWatch,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<void> {
  record.phase('collect', 'Reading the results');
  if (!outcome.timedOut) await requireEngine(container, outcome.exitCode);
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

/** What a run may change without its being evidence. */
export function freePaths(roots: readonly string[]): string[] {
  return [...roots, '/logs', '/tmp', '/tests', '/dev', ...networkFiles];
}

/** A submission that makes such paths must not keep its grade from being made. */
const unlistedChanges: Mark = {
  rule: 'changes-not-listed',
  message:
    'What changed outside of the workdir is not known: the engine cannot list paths as long as some in the container.',
};

/** What the run changed outside of what it may change, and whether the tests are still themselves. */
async function recordChanges(
  container: ContainerHandle,
  input: VerifyInput,
  record: GradeRecord,
  killed: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const free = freePaths(input.roots);
  const [changes, altered] = await Promise.all([
    container.changes(free, signal),
    killed.then(() => (input.plan.testsDir ? alteredTests(container, input.plan.testsDir, signal) : [])),
  ]);
  record.evidence({ testsAltered: altered });
  if (changes) record.changedOutside(changesOutside(changes, free));
  else record.marks([unlistedChanges]);
  if (altered.length > 0)
    record.marks([
      {
        rule: 'tests-altered',
        message: `${altered.length} file${altered.length === 1 ? '' : 's'} of /tests changed while the tests ran: ${altered.slice(0, 3).join(', ')}.`,
      },
    ]);
}
