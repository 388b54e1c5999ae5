import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { networkFiles } from '#core/container/bareNetwork.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { changesOutside } from './changes.ts';
import { alteredTests } from './collect.ts';
import type { Inspection } from './copyIn.ts';
import { NotGradedError } from './reasons.ts';
import type { GradeRecord } from './record.ts';
import { ownCommands } from './verify.ts';
import type { VerifyInput } from './verifySubmission.ts';

export function recordInspection(inspection: Inspection, record: GradeRecord): void {
  record.evidence({
    network: { mode: 'none', probe: inspection.probe, detail: inspection.probeDetail },
    arrival: { checked: inspection.checked, differing: inspection.differing },
  });
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

/** How many processes the submission left; undefined where that could not be told. */
export async function recordProcesses(
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
export async function recordChanges(
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
