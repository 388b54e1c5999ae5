import { connectEngine } from '#core/container/connect.ts';
import { ensureImage } from '#core/container/images.ts';
import { imageOfTask } from '#core/grading/plan.ts';
import { environmentId } from '#core/task/digest.ts';
import { loadTask } from '#core/task/load.ts';
import { type CliContext, exitCodes, parseCommand, stderrLog, taskFolder, UsageError } from './context.ts';

/** `e2e-swe prepare TASK` */
export async function prepareCommand(args: string[], context: CliContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new UsageError('Name one task folder.');
  const entry = await loadTask(taskFolder(name));
  if (!entry.task)
    throw new UsageError(
      `"${name}" is not a valid task: ${entry.problems[0]?.message ?? 'see "e2e-swe tasks"'}`,
    );
  const engine = await connectEngine({ env: context.env });
  const plan = await imageOfTask(entry.task, {
    environmentId,
  });
  const image = await ensureImage(engine, plan, {
    onProgress: (line) => context.stderr(`  ${line}\n`),
    log: stderrLog(context),
    signal: context.signal,
  });
  context.stdout(`${image.reference} is ready (${Math.round(image.sizeBytes / 1e6)} MB).\n`);
  return exitCodes.resolved;
}
