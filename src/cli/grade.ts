import { statSync } from 'node:fs';
import path from 'node:path';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { requireNoAttempt } from '#core/attempt/hiddenTests.ts';
import { attemptsAt, leaveReveal, type OutsideReveal } from '#core/attempt/outsideReveals.ts';
import { gradeEntry } from '#core/grading/gradeEntry.ts';
import type { SubmissionSource } from '#core/grading/types.ts';
import { contentDigest } from '#core/task/digest.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import { type CliContext, parseCommand, stderrLog, storeFolder, taskFolder, UsageError } from './context.ts';
import { connectAndSweep, followGrade, printGrade } from './followGrade.ts';

/** `e2e-swe grade TASK (--workspace DIR|TAR | --solution | --empty) …` */
export async function gradeCommand(args: string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    workspace: { type: 'string' },
    solution: { type: 'boolean' },
    empty: { type: 'boolean' },
    out: { type: 'string' },
    json: { type: 'boolean' },
    timeout: { type: 'string' },
    keep: { type: 'boolean' },
    hardened: { type: 'boolean' },
    live: { type: 'boolean' },
    'allow-host-env': { type: 'boolean' },
  });
  const [task, ...others] = positionals;
  if (task === undefined || others.length > 0) throw new UsageError('Name one task folder.');
  const source = sourceOf(values);
  const entry = await loadTask(taskFolder(task));
  const log = stderrLog(context);
  if (values.keep && entry.task) await refuseWhileAttempted(entry.task, context);
  if (entry.task) await tellAttempts(entry.task, { what: 'grade', of: source.kind, tier: 'full' }, context);
  const events = gradeEntry(
    entry,
    source,
    {
      storeDir: storeFolder(context.env),
      outDir: values.out,
      timeoutSec: values.timeout === undefined ? undefined : seconds(values.timeout),
      keep: values.keep ?? false,
      hardened: values.hardened ?? false,
      live: values.live ?? false,
      allowHostEnv: () => Promise.resolve(values['allow-host-env'] ?? false),
    },
    { connect: () => connectAndSweep(context, log), log, hostEnv: context.env },
    context.signal,
  );
  return printGrade(await followGrade(events, context), values.json, context);
}

/** A kept container can be looked into by whoever builds at the same task. */
async function refuseWhileAttempted(task: Task, context: CliContext): Promise<void> {
  const records = await new AttemptStore(storeFolder(context.env)).list();
  requireNoAttempt(records, { name: task.name, path: task.dir, digest: await contentDigest(task.dir) });
}

/** What is about to be shown goes into the records of the attempts that have not ended at the task. */
export async function tellAttempts(
  task: Task,
  reveal: OutsideReveal,
  context: CliContext,
  store = new AttemptStore(storeFolder(context.env)),
): Promise<void> {
  const attempts = await attemptsAt(store, task.dir);
  await leaveReveal(store, attempts, reveal);
  for (const { id } of attempts.filter(({ protocol }) => protocol))
    context.stderr(
      `The measured attempt ${id} at ${task.name} has not ended: that hidden tests are shown here is recorded in it.\n`,
    );
}

export function sourceOf(values: {
  workspace?: string | undefined;
  solution?: boolean | undefined;
  empty?: boolean | undefined;
}): SubmissionSource {
  const chosen = [values.workspace !== undefined, values.solution === true, values.empty === true].filter(
    Boolean,
  ).length;
  if (chosen !== 1)
    throw new UsageError('Choose what to grade: one of --workspace DIR|TAR, --solution, --empty.');
  if (values.workspace === undefined) return { kind: values.solution ? 'solution' : 'empty' };
  const workspace = path.resolve(values.workspace);
  const stats = statSync(workspace, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`The workspace "${values.workspace}" does not exist.`);
  return { kind: stats.isDirectory() ? 'folder' : 'tar', path: workspace };
}

function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0)
    throw new UsageError(`--timeout wants a number of seconds, not "${text}".`);
  return value;
}
