import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { decide } from '#core/report/decide.ts';
import { readReports } from '#core/report/readReports.ts';
import { readReward } from '#core/report/readReward.ts';
import { mainReward } from '#core/report/rewardKind.ts';
import type { Collected } from './collect.ts';
import { printsMarkers, readMarkers } from './markers.ts';
import { neededNetwork } from './needsNetwork.ts';
import { NotGradedError } from './reasons.ts';
import type { GradeRecord } from './record.ts';
import { rootName } from './submission.ts';
import type { RunOutcome } from './verify.ts';
import type { VerifyInput } from './verifySubmission.ts';

/** Whether the submission has a setup.sh. */
export async function hasSetup(input: VerifyInput): Promise<boolean> {
  const name = `${rootName(input.workdir)}/setup.sh`;
  return (await input.submission).entries.some((entry) => entry.name === name);
}

/** The verdict on what a run left (design.md §4.7). Errors: `NotGradedError` where there is none. */
export async function judge(
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
  else if (runsSetup(script) && !(await hasSetup(input))) record.setupMissing();
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

/** As E2E-SWE's test.sh does, which tells nothing of how it ended. */
function runsSetup(script: string): boolean {
  return /^[^#\n]*(?<!\/tests\/)\bsetup\.sh\b/m.test(script);
}

function pick<K extends string>(key: K, value: Buffer | undefined): { [P in K]?: Buffer } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: Buffer };
}
