import path from 'node:path';
import { discoverTasks } from '#core/task/discover.ts';
import type { TaskEntry } from '#core/task/types.ts';
import { bundledTasks, type CliContext, parseCommand } from './context.ts';

/** `e2e-swe tasks [DIR…] [--json]` */
export async function tasksCommand(args: string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  const folders =
    positionals.length > 0 ? positionals.map((folder) => path.resolve(folder)) : [bundledTasks()];
  const entries: TaskEntry[] = [];
  for (const folder of folders) entries.push(...(await discoverTasks(folder)));
  if (values.json) {
    context.stdout(`${JSON.stringify(entries.map(toJson), null, 2)}\n`);
    return 0;
  }
  for (const entry of entries) context.stdout(describe(entry));
  if (entries.length === 0)
    context.stderr(
      `No tasks in ${folders.join(', ')}: a task is a folder with task.toml, instruction.md, environment/ and tests/.\n`,
    );
  return 0;
}

function toJson({ name, path: folder, valid, gradable, problems, task }: TaskEntry): object {
  return { name, path: folder, valid, gradable, problems, ...(task ? { config: task.config } : {}) };
}

function describe(entry: TaskEntry): string {
  const state = entry.gradable ? '' : entry.valid ? ' (not gradable here)' : ' (not a valid task)';
  const lines = entry.problems.map(
    ({ severity, message, file, line }) =>
      `    ${severity}: ${message}${file ? ` [${file}${line ? `:${line}` : ''}]` : ''}`,
  );
  return `${[`${entry.name}${state}`, `    ${entry.path}`, ...lines].join('\n')}\n`;
}
