import type { OrphanedWorkspace } from '#core/attempt/types.ts';
import type { AttemptCommandContext } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';

/** `e2e-swe attempt orphans [ID…] [--remove] [--json]` */
export async function orphansCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    json: { type: 'boolean' },
    remove: { type: 'boolean' },
  });
  const all = await context.attempts.orphans();
  const missing = positionals.find((id) => !all.some(({ attemptId }) => attemptId === id));
  if (missing !== undefined)
    throw new UsageError(
      `${JSON.stringify(missing)} is no left-over workspace: an attempt has it, or it runs.`,
    );
  const orphans =
    positionals.length === 0 ? all : all.filter(({ attemptId }) => positionals.includes(attemptId));
  if (values.remove) for (const { name } of orphans) await context.attempts.removeOrphan(name);
  if (values.json) {
    const rows = orphans.map((orphan) => ({ ...orphan, removed: values.remove ?? false }));
    context.stdout(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  for (const orphan of orphans) context.stdout(renderOrphan(orphan));
  context.stderr(`${sentence(orphans.length, values.remove ?? false)}\n`);
  return 0;
}

function renderOrphan({ attemptId, taskName, name, storeDir }: OrphanedWorkspace): string {
  const task = taskName === '' ? 'unknown task' : taskName;
  // Labels of an engine that others use too: nothing of them may steer a terminal.
  const text = [attemptId, task, name, storeDir ?? ''].map((part) => JSON.stringify(part).slice(1, -1));
  return `${text.filter(Boolean).join('  ')}\n`;
}

function sentence(count: number, isRemoved: boolean): string {
  if (count === 0) return 'No workspace is left over: each belongs to an attempt, or its container runs.';
  const what = count === 1 ? '1 workspace' : `${count} workspaces`;
  return isRemoved
    ? `Removed ${what} with container and volume.`
    : `${what} left over from attempts whose record is gone; --remove removes container and volume.`;
}
