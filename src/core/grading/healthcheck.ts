import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { HealthcheckConfig } from '#core/task/types.ts';
import { NotGradedError } from './reasons.ts';

/**
 * Waits until `[environment.healthcheck]` succeeds, as the agent's container does before work begins (harbor.md §0
 * step 3; the rules are Docker's): failures in the start period do not count, after it `retries` in a row end it.
 */
export async function awaitHealthy(
  container: ContainerHandle,
  check: HealthcheckConfig,
  workdir: string,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = Date.now();
  let failures = 0;
  for (;;) {
    const problem = await runOnce(container, check, workdir, signal);
    if (problem === undefined) return;
    const starting = Date.now() - startedAt < check.start_period_sec * 1000;
    if (!starting && ++failures >= Math.max(1, check.retries))
      throw new NotGradedError(
        'healthcheck-failed',
        `The task's healthcheck failed ${failures} times: ${problem}.`,
      );
    await pause(starting ? check.start_interval_sec : check.interval_sec, signal);
  }
}

async function runOnce(
  container: ContainerHandle,
  check: HealthcheckConfig,
  workdir: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(Math.max(1, check.timeout_sec * 1000));
  try {
    const { exitCode, stdout, stderr } = await container.exec(
      { command: ['bash', '-c', check.command], workdir },
      AbortSignal.any([signal, deadline]),
    );
    if (exitCode === 0) return undefined;
    const output = Buffer.concat([stdout, stderr]).toString('utf8').trim().split('\n').at(-1);
    return `exit ${exitCode}${output ? ` (${output.slice(0, 200)})` : ''}`;
  } catch (error) {
    if (deadline.aborted && !signal.aborted) return `no answer within ${check.timeout_sec} s`;
    throw error;
  }
}

async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(Math.max(0, seconds * 1000), undefined, { signal });
  } catch {
    throw new CancelledError();
  }
}
