import { connectEngine } from '#core/container/connect.ts';
import { reapContainers } from '#core/container/reaper.ts';
import { type CliContext, parseCommand, UsageError } from './context.ts';

/** `e2e-swe clean` */
export async function cleanCommand(args: string[], context: CliContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  if (positionals.length > 0) throw new UsageError('"clean" takes no arguments.');
  const engine = await connectEngine({ env: context.env });
  const removed = await reapContainers(engine, { kept: true });
  context.stdout(removed.length === 0 ? 'Nothing to remove.\n' : `Removed ${removed.join(', ')}.\n`);
  return 0;
}
