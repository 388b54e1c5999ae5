import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { reapContainers } from '#core/container/reaper.ts';
import type { GradeEvent, GradeResult } from '#core/grading/types.ts';
import { type CliContext, exitCodes } from './context.ts';
import { renderGrade } from './renderGrade.ts';

/** Tells a grade's progress on stderr; its result. */
export async function followGrade(
  events: AsyncIterable<GradeEvent>,
  context: Pick<CliContext, 'stderr'>,
): Promise<GradeResult> {
  let result: GradeResult | undefined;
  for await (const event of events) {
    if (event.kind === 'finished') result = event.result;
    else if (event.kind === 'phase') context.stderr(`${event.title}…\n`);
    else if (event.kind === 'progress') context.stderr(`  ${event.message}\n`);
    else context.stderr(event.chunk);
  }
  if (!result) throw new Error('The grade ended without a result.');
  return result;
}

/** Prints a result for people or as JSON; the exit code. */
export function printGrade(
  result: GradeResult,
  json: boolean | undefined,
  context: Pick<CliContext, 'stdout'>,
): number {
  context.stdout(json ? `${JSON.stringify(result, null, 2)}\n` : renderGrade(result));
  const { resolved, unresolved, notGraded } = exitCodes;
  return { resolved, unresolved, 'not graded': notGraded }[result.verdict];
}

/** Grade containers that a dead run left go at the next grade, in the background. */
export async function connectAndSweep(context: Pick<CliContext, 'env'>, log: Log): Promise<ContainerEngine> {
  const engine = await connectEngine({ env: context.env });
  void reapContainers(engine, { kept: false }).catch((error: unknown) =>
    log.warn(`What a dead run left could not be removed: ${errorMessage(error)}`),
  );
  return engine;
}
