import { type Aggregate, type Summary, summarise, type TimeEstimate } from '#core/attempt/summary.ts';
import { toCsv } from '#core/attempt/summaryCsv.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import type { AttemptCommandContext } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';

/** `e2e-swe attempt summary [--task NAME] [--csv [--tasks] | --json] [--practice] [--anonymised] [--out FILE]` */
export async function summaryCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    task: { type: 'string' },
    csv: { type: 'boolean' },
    json: { type: 'boolean' },
    tasks: { type: 'boolean' },
    practice: { type: 'boolean' },
    anonymised: { type: 'boolean' },
    out: { type: 'string' },
  });
  if (positionals.length > 0)
    throw new UsageError('"attempt summary" takes no names; --task chooses a task.');
  if (values.csv && values.json) throw new UsageError('Choose one of --csv and --json.');
  if (values.tasks && !values.csv)
    throw new UsageError('--tasks is for --csv; the others tell the tasks too.');
  const summary = await summarise(context.store, {
    task: values.task,
    anonymised: values.anonymised ?? false,
    practice: values.practice ?? false,
  });
  const text = values.json
    ? `${JSON.stringify(summary, null, 2)}\n`
    : values.csv
      ? toCsv(values.tasks ? summary.tasks.map((task) => ({ ...task })) : summary.attempts)
      : renderSummary(summary);
  if (values.out === undefined) context.stdout(text);
  else await writeFileAtomic(values.out, text);
  if (summary.attempts.length === 0) context.stderr('There are no such attempts.\n');
  else if (values.anonymised)
    context.stderr(
      "Left out: pseudonyms, and everything in people's own words; p1, p2, … are the builders.\n",
    );
  return 0;
}

function renderSummary({ tasks, checklist }: Summary): string {
  const lines = tasks.flatMap((task) => [
    `${task.task}: ${resolvedOf(task)}`,
    ...timeLine('unpaused', task.unpaused_sec),
    ...timeLine('active', task.active_sec),
    ...excludedLine(task),
  ]);
  const { baseliners } = checklist;
  if (tasks.length > 1)
    lines.push(
      `all ${tasks.length} tasks, ${baseliners} ${baseliners === 1 ? 'builder' : 'builders'}: ${resolvedOf(checklist)}`,
    );
  return lines.map((line) => `${line}\n`).join('');
}

function resolvedOf(sum: Aggregate): string {
  const interval = sum.completion_rate_interval;
  const rate =
    interval && sum.completion_rate !== null
      ? ` (${percent(sum.completion_rate)}, 95 % interval ${percent(interval.low)} to ${percent(interval.high)})`
      : '';
  return `${sum.resolved} of ${sum.counted} resolved${rate}`;
}

function timeLine(what: string, time: TimeEstimate | null): string[] {
  if (!time) return [];
  const { interval } = time;
  const range = interval
    ? `, 95 % interval ${minutes(interval.low)} to ${minutes(interval.high)}`
    : ', of one: no interval';
  return [`  ${what} time of the resolved: geometric mean ${minutes(time.mean)} min${range}`];
}

function excludedLine({ excluded }: Aggregate): string[] {
  const reasons = Object.entries(excluded).map(([reason, count]) => `${count} ${reason}`);
  return reasons.length === 0 ? [] : [`  excluded: ${reasons.join(', ')}`];
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(1)} %`;
}

function minutes(seconds: number): string {
  return (seconds / 60).toFixed(1);
}
