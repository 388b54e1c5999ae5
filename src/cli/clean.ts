import { connectEngine } from '#core/container/connect.ts';
import { reapContainers } from '#core/container/reaper.ts';
import { listKept } from '#core/grading/keptContainers.ts';
import { type CliContext, parseCommand, UsageError } from './context.ts';

/** `e2e-swe clean` */
export async function cleanCommand(args: string[], context: CliContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  if (positionals.length > 0) throw new UsageError('"clean" takes no arguments.');
  const engine = await connectEngine({ env: context.env });
  const removed = await reapContainers(engine, { kept: true });
  // Those of windows that still run; a grade that is under way is not among them.
  for (const { id, name } of await listKept(engine)) {
    await engine.removeContainer(id);
    removed.push(name);
  }
  context.stdout(removed.length === 0 ? 'Nothing to remove.\n' : `Removed ${removed.join(', ')}.\n`);
  return 0;
}
