import type { AttemptClock } from '#core/attempt/attemptClock.ts';
import { type AttemptCommandContext, oneId, requireYes } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';

/** `e2e-swe attempt pause ID [--reason TEXT]` */
export async function pauseCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { reason: { type: 'string' } });
  const id = oneId(positionals);
  await context.attempts.pause(id, values.reason);
  context.stderr(`Paused ${id}; "e2e-swe attempt resume ${id}" starts its clock again.\n`);
  return 0;
}

/** `e2e-swe attempt resume ID`: its clock goes on once somebody works in it. */
export async function resumeCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const id = oneId(positionals);
  await context.attempts.resume(id);
  context.stderr(`Resumed ${id}: its clock goes on when it is opened.\n`);
  return 0;
}

/** `e2e-swe attempt note ID TEXT` */
export async function noteCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const [id, ...words] = positionals;
  if (id === undefined || words.length === 0) throw new UsageError('Name one attempt and say the note.');
  await context.attempts.note(id, words.join(' '));
  return 0;
}

/** `e2e-swe attempt clock ID [--json]` */
export async function clockCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  const clock = await context.attempts.clock(oneId(positionals));
  context.stdout(values.json ? `${JSON.stringify(clock, null, 2)}\n` : renderClock(clock));
  return 0;
}

/** `e2e-swe attempt disqualify ID --reason TEXT --yes` */
export async function disqualifyCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    reason: { type: 'string' },
    yes: { type: 'boolean' },
  });
  const id = oneId(positionals);
  if (values.reason === undefined) throw new UsageError('Say why, with --reason.');
  requireYes(values.yes, `The attempt ${id} will not count, for good.`);
  await context.attempts.disqualify(id, values.reason);
  context.stderr(`Disqualified ${id}.\n`);
  return 0;
}

function renderClock(clock: AttemptClock): string {
  const rows: [string, number][] = [
    ['wall', clock.wallMs],
    ['unpaused', clock.unpausedMs],
    ['focused', clock.focusedMs],
    ['active', clock.activeMs],
    ['waiting', clock.waitingMs],
    ['idle', clock.idleMs],
  ];
  const { phase, budgetSec, leftSec } = clock;
  const budget =
    budgetSec === null ? '' : `, ${duration((leftSec ?? 0) * 1000)} of ${duration(budgetSec * 1000)} left`;
  return `${[
    `${phase}${budget}`,
    ...rows.map(([name, ms]) => `  ${name.padEnd(8)}  ${duration(ms)}`),
    ...clock.pauses.map(
      ({ since, ms, reason }) => `  ${since}  paused ${duration(ms)}: ${JSON.stringify(reason).slice(1, -1)}`,
    ),
  ].join('\n')}\n`;
}

/** `1:02:03.4` */
function duration(ms: number): string {
  const tenths = Math.round(ms / 100);
  const [hours, minutes, seconds] = [
    Math.floor(tenths / 36_000),
    Math.floor(tenths / 600) % 60,
    (tenths % 600) / 10,
  ];
  return `${hours}:${String(minutes).padStart(2, '0')}:${seconds.toFixed(1).padStart(4, '0')}`;
}
