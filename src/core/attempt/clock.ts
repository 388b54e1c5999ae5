import type { Moment, RecordLine } from './recordEvents.ts';
import { isOver } from './states.ts';
import type { AttemptState } from './types.ts';

/** Without a sign of activity for this long, unpaused time counts as idle (or as waiting, while a command runs). */
export const idleCutoffMs = 120_000;
/** Somebody records at least this often while the workspace runs. */
export const tickMs = 5_000;
/** UTC that runs ahead of the monotonic clock by more than this between two lines was a sleep of the machine. */
const sleepJumpMs = 5_000;
/** Where the monotonic clock goes on during a sleep, ticks that are missing for longer than this were one. */
const missedTicksMs = 60_000;

/** A time in which the clock stood. `comparison` and the other reasons are those of freezes.ts; besides: */
export interface ClockPause {
  /** ISO 8601 UTC. */
  readonly since: string;
  readonly ms: number;
  /** `crash`, `restart` (of the machine), `sleep`, `closed`, or why it was frozen. */
  readonly reason: string;
}

/** Of an attempt, in milliseconds; `activeMs + waitingMs + idleMs` is `unpausedMs`. */
export interface ClockTotals {
  /** From the first thaw to the end, all pauses included. */
  readonly wallMs: number;
  /** While the workspace was not frozen; the budget is of this. */
  readonly unpausedMs: number;
  /** Of that, while the window had the focus. */
  readonly focusedMs: number;
  /** Of that, within the idle cut-off of the last edit, save, command, note or keystroke. */
  readonly activeMs: number;
  /** Of that, beyond it while a command or a set-up ran. */
  readonly waitingMs: number;
  readonly idleMs: number;
}

export interface ClockState extends ClockTotals {
  readonly phase: 'not started' | 'running' | 'paused' | 'over';
  readonly pauses: readonly ClockPause[];
  readonly boot: string;
  readonly sleep: 'excluded' | 'included';
  readonly last: Moment | undefined;
  readonly isFocused: boolean;
  /** In unpaused time. */
  readonly lastActivityMs: number;
  readonly thawedAtMs: number;
  readonly commands: readonly string[];
  /** A process died while the workspace ran, and nobody has said yet how long that went on. */
  readonly isGapOpen: boolean;
}

export const newClock: ClockState = {
  phase: 'not started',
  ...{ wallMs: 0, unpausedMs: 0, focusedMs: 0, activeMs: 0, waitingMs: 0, idleMs: 0 },
  pauses: [],
  boot: '',
  sleep: 'excluded',
  last: undefined,
  isFocused: false,
  lastActivityMs: Number.NEGATIVE_INFINITY,
  thawedAtMs: 0,
  commands: [],
  isGapOpen: false,
};

/** The clock after one more line of the record. Pure: the record alone decides. */
export function applyLine(before: ClockState, line: RecordLine): ClockState {
  const boot = line.kind === 'opened' ? line.boot : before.boot;
  const now: Moment = { utc: line.utc, mono: line.mono, boot };
  switch (line.kind) {
    case 'opened': {
      // Whatever became of the container meanwhile, `guard-froze` or `container` says it.
      const isGapOpen = before.phase === 'running' || before.isGapOpen;
      const clock = isGapOpen ? before : advance(before, now);
      return { ...clock, isGapOpen, boot, sleep: line.sleep, isFocused: false, commands: [] };
    }
    case 'guard-froze':
      return guardFroze(before, line.at, line.reason === 'crash' ? 'crash' : 'no answer', now);
    case 'container': {
      const hasRun = line.how === 'was running' && before.last?.boot === boot;
      const clock = before.isGapOpen && !hasRun ? pauseFrom(before, lostReason(before, boot)) : before;
      // It ran, whatever the clock of this machine does in a sleep.
      const found = { ...clock, isGapOpen: false, sleep: 'excluded' as const };
      return active({ ...advance(found, now), sleep: before.sleep });
    }
    default:
      return applyEvent(advance(before, now), line);
  }
}

/** The clock as it stands now, without a new line. */
export function clockAt(state: ClockState, now: Moment): ClockState {
  return advance(state, now);
}

function applyEvent(clock: ClockState, line: RecordLine): ClockState {
  switch (line.kind) {
    case 'thawed':
      return clock.phase === 'running' || clock.phase === 'over'
        ? clock
        : { ...clock, phase: 'running', thawedAtMs: clock.unpausedMs };
    case 'frozen':
      return pauseFrom(clock, line.reason);
    case 'state':
      return isOver(line.state as AttemptState) ? { ...clock, phase: 'over' } : clock;
    case 'focus': {
      const focused = { ...clock, isFocused: line.focused };
      return line.focused ? active(focused) : focused;
    }
    case 'edit':
    case 'saved':
    case 'file':
      return line.actor === 'external' ? clock : active(clock);
    case 'note':
    case 'activity':
      return active(clock);
    case 'command':
      return active({ ...clock, commands: [...clock.commands, line.id] });
    case 'command-ended':
      return { ...clock, commands: clock.commands.filter((id) => id !== line.id) };
    default:
      return clock;
  }
}

function active(clock: ClockState): ClockState {
  return { ...clock, lastActivityMs: clock.unpausedMs };
}

function pauseFrom(clock: ClockState, reason: string): ClockState {
  if (clock.phase !== 'running') return clock;
  const pause = { since: clock.last?.utc ?? '', ms: 0, reason };
  return { ...clock, phase: 'paused', pauses: [...clock.pauses, pause] };
}

function lostReason(clock: ClockState, boot: string): string {
  return clock.last?.boot === boot ? 'crash' : 'restart';
}

/** The clock ran until then; what was counted beyond, by a process that did not know, is taken back. */
function guardFroze(clock: ClockState, at: Moment, reason: string, now: Moment): ClockState {
  if (clock.phase !== 'running') return advance(clock, now);
  const { passed } = elapsed(clock.last, at, clock.sleep);
  const until =
    passed > 0 || clock.isGapOpen ? advance({ ...clock, isGapOpen: false }, at) : takeBack(clock, at);
  return advance(pauseFrom(until, reason), now);
}

function takeBack(clock: ClockState, at: Moment): ClockState {
  const { passed } = elapsed(at, clock.last ?? at, clock.sleep);
  const ms = Math.min(passed, clock.unpausedMs - clock.thawedAtMs);
  const idle = Math.min(ms, clock.idleMs);
  const waiting = Math.min(ms - idle, clock.waitingMs);
  return {
    ...clock,
    wallMs: clock.wallMs - ms,
    unpausedMs: clock.unpausedMs - ms,
    focusedMs: Math.max(0, clock.focusedMs - (clock.isFocused ? ms : 0)),
    idleMs: clock.idleMs - idle,
    waitingMs: clock.waitingMs - waiting,
    activeMs: clock.activeMs - (ms - idle - waiting),
    lastActivityMs: Math.min(clock.lastActivityMs, clock.unpausedMs - ms),
    last: at,
  };
}

/** Time goes by, by the rule of the phase. */
function advance(clock: ClockState, to: Moment): ClockState {
  if (clock.isGapOpen) return clock;
  const { passed, slept } = elapsed(clock.last, to, clock.sleep);
  const then = { ...clock, last: to };
  if (clock.phase === 'not started' || clock.phase === 'over') return then;
  if (clock.phase === 'paused') return longer(then, passed + slept);
  const ran = run(then, passed);
  if (slept === 0) return ran;
  const pause = { since: clock.last?.utc ?? '', ms: slept, reason: 'sleep' };
  return { ...ran, wallMs: ran.wallMs + slept, pauses: [...ran.pauses, pause] };
}

function run(clock: ClockState, ms: number): ClockState {
  const isActiveFor = Math.max(0, clock.lastActivityMs + idleCutoffMs - clock.unpausedMs);
  const activeMs = Math.min(ms, isActiveFor);
  const rest = ms - activeMs;
  const isWaiting = clock.commands.length > 0;
  return {
    ...clock,
    wallMs: clock.wallMs + ms,
    unpausedMs: clock.unpausedMs + ms,
    focusedMs: clock.focusedMs + (clock.isFocused ? ms : 0),
    activeMs: clock.activeMs + activeMs,
    waitingMs: clock.waitingMs + (isWaiting ? rest : 0),
    idleMs: clock.idleMs + (isWaiting ? 0 : rest),
  };
}

function longer(clock: ClockState, ms: number): ClockState {
  const last = clock.pauses.at(-1);
  if (!last) return { ...clock, wallMs: clock.wallMs + ms };
  const pauses = [...clock.pauses.slice(0, -1), { ...last, ms: last.ms + ms }];
  return { ...clock, wallMs: clock.wallMs + ms, pauses };
}

/**
 * Between two moments. Of one boot by the monotonic clock, so that a host clock that is set back does no harm; what
 * UTC is ahead of it is a sleep (a clock that was set forward looks the same; it changes wall time alone). Across
 * boots only UTC is left.
 */
function elapsed(
  from: Moment | undefined,
  to: Moment,
  sleep: 'excluded' | 'included',
): { readonly passed: number; readonly slept: number } {
  if (!from) return { passed: 0, slept: 0 };
  const utcMs = Math.max(0, Date.parse(to.utc) - Date.parse(from.utc));
  if (from.boot !== to.boot) return { passed: 0, slept: utcMs };
  const monoMs = Math.max(0, to.mono - from.mono);
  if (sleep === 'included')
    return monoMs > missedTicksMs ? { passed: tickMs, slept: monoMs - tickMs } : { passed: monoMs, slept: 0 };
  const slept = utcMs - monoMs;
  return { passed: monoMs, slept: slept > sleepJumpMs ? slept : 0 };
}
