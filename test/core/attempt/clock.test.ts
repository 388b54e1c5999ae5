import { describe, expect, test } from 'vitest';
import { applyLine, type ClockState, clockAt, idleCutoffMs, newClock } from '#core/attempt/clock.ts';
import type { RecordEvent, RecordLine } from '#core/attempt/recordEvents.ts';
import { randoms } from './support.ts';

/** A machine whose time a test moves; lines of a record are written at it. */
class World {
  clock: ClockState = newClock;
  boot = 'boot-0';
  /** Monotonic, which sleeps with the machine; and what UTC says. */
  mono = 1_000;
  utc = Date.parse('2026-01-02T03:04:05.000Z');
  sleepMode: 'excluded' | 'included' = 'excluded';
  #n = 0;

  pass(ms: number): void {
    this.mono += ms;
    this.utc += ms;
  }

  sleep(ms: number): void {
    if (this.sleepMode === 'included') this.mono += ms;
    this.utc += ms;
  }

  setClock(ms: number): void {
    this.utc += ms;
  }

  reboot(ms: number): void {
    this.boot = `${this.boot}+`;
    this.mono = 10;
    this.utc += ms;
  }

  get moment() {
    return { utc: new Date(this.utc).toISOString(), mono: this.mono, boot: this.boot };
  }

  write(event: RecordEvent): void {
    const { utc, mono } = this.moment;
    const line: RecordLine = { n: this.#n++, utc, mono, ...event };
    this.clock = applyLine(this.clock, line);
  }

  open(how: 'was running' | 'was paused' = 'was paused'): void {
    this.write({ kind: 'opened', boot: this.boot, sleep: this.sleepMode, pid: 1 });
    this.write({ kind: 'container', how });
    this.write({ kind: 'thawed' });
  }

  freeze(reason: string): void {
    this.write({ kind: 'frozen', reason });
  }

  /** Work with its ticks. */
  work(ms: number): void {
    for (let left = ms; left > 0; left -= 5_000) {
      this.pass(Math.min(left, 5_000));
      this.write({ kind: 'tick' });
    }
  }

  get now(): ClockState {
    return clockAt(this.clock, this.moment);
  }

  get pauses(): string[] {
    return this.now.pauses.map(({ reason, ms }) => `${reason} ${ms}`);
  }
}

const edit: RecordEvent & { kind: 'edit' } = {
  ...{ kind: 'edit', path: '/app/a', actor: 'human', version: 1 },
  changes: [],
};

describe('the clock', () => {
  test('does not run before the first thaw, nor in a freeze', () => {
    const world = new World();
    world.write({ kind: 'opened', boot: world.boot, sleep: 'excluded', pid: 1 });
    world.pass(9_000);
    world.write({ kind: 'note', text: 'early' });
    expect(world.now).toMatchObject({ phase: 'not started', wallMs: 0, unpausedMs: 0 });
    world.write({ kind: 'container', how: 'was paused' });
    world.write({ kind: 'thawed' });
    world.pass(1_000);
    expect(world.now).toMatchObject({ phase: 'running', wallMs: 1_000, unpausedMs: 1_000, activeMs: 1_000 });
    world.freeze('grade');
    world.pass(7_000);
    expect(world.now).toMatchObject({ phase: 'paused', wallMs: 8_000, unpausedMs: 1_000 });
    world.write({ kind: 'thawed' });
    world.pass(500);
    world.freeze('pause');
    world.write({ kind: 'state', state: 'submitted' });
    world.pass(10_000);
    world.write({ kind: 'closed' });
    expect(world.now).toMatchObject({ phase: 'over', wallMs: 8_500, unpausedMs: 1_500 });
    expect(world.pauses).toEqual(['grade 7000', 'pause 0']);
  });

  test('tells active, waiting, idle and focused time apart', () => {
    const world = new World();
    world.open();
    world.write({ kind: 'focus', focused: true });
    world.work(60_000);
    world.write(edit);
    world.work(idleCutoffMs + 30_000);
    world.write({ kind: 'focus', focused: false });
    world.write({ kind: 'command', id: 'c1', in: 't1', actor: 'human', command: 'make' });
    world.work(idleCutoffMs + 45_000);
    world.write({ kind: 'command-ended', id: 'c1', exitCode: 0 });
    world.work(20_000);
    world.write({ ...edit, actor: 'external' });
    world.work(1_000);
    expect(world.now).toMatchObject({
      unpausedMs: 60_000 + 2 * idleCutoffMs + 96_000,
      activeMs: 60_000 + 2 * idleCutoffMs,
      waitingMs: 45_000,
      idleMs: 51_000,
      focusedMs: 90_000 + idleCutoffMs,
    });
  });

  test('a sleep of the machine is a pause, by either kind of monotonic clock', () => {
    for (const mode of ['excluded', 'included'] as const) {
      const world = new World();
      world.sleepMode = mode;
      world.open();
      world.work(10_000);
      world.sleep(3_600_000);
      world.work(5_000);
      const { unpausedMs, wallMs } = world.now;
      // Where the clock goes on, the last tick before is the only witness.
      expect(Math.abs(unpausedMs - 15_000)).toBeLessThanOrEqual(5_000);
      expect(wallMs).toBe(3_615_000);
      expect(world.pauses).toEqual([expect.stringMatching(/^sleep 360/)]);
    }
  });

  test('a host clock that is set back or forward changes no unpaused time', () => {
    const world = new World();
    world.open();
    world.work(10_000);
    world.setClock(-86_400_000);
    world.work(10_000);
    expect(world.now).toMatchObject({ unpausedMs: 20_000, wallMs: 20_000, pauses: [] });
    world.setClock(86_400_000);
    world.work(10_000);
    expect(world.now.unpausedMs).toBe(30_000);
  });

  test('after a crash it ran until the guard froze the container', () => {
    const world = new World();
    world.open();
    world.work(10_000);
    world.pass(3_000);
    const at = world.moment;
    world.pass(60_000);
    world.write({ kind: 'opened', boot: world.boot, sleep: 'excluded', pid: 2 });
    world.write({ kind: 'guard-froze', at, reason: 'crash' });
    world.pass(200);
    world.write({ kind: 'container', how: 'was paused' });
    world.write({ kind: 'thawed' });
    world.pass(1_000);
    expect(world.now).toMatchObject({ unpausedMs: 14_000, wallMs: 74_200 });
    expect(world.pauses).toEqual(['crash 60200']);
    expect(world.now.pauses[0]?.since).toBe(at.utc);
  });

  test('a gap in which the container ran is no pause; one in which nobody knows is', () => {
    const gap = (how: 'was running' | 'was paused', reboots = false): World => {
      const world = new World();
      world.open();
      world.work(10_000);
      if (reboots) world.reboot(60_000);
      else world.pass(60_000);
      world.write({ kind: 'opened', boot: world.boot, sleep: 'excluded', pid: 2 });
      // Only looked at meanwhile: that says nothing about the container.
      world.write({ kind: 'note', text: 'from the command line' });
      world.write({ kind: 'closed' });
      world.open(how);
      return world;
    };
    expect(gap('was running').now).toMatchObject({ unpausedMs: 70_000, pauses: [] });
    expect(gap('was paused').now).toMatchObject({ unpausedMs: 10_000, wallMs: 70_000 });
    expect(gap('was paused').pauses).toEqual(['crash 60000']);
    expect(gap('was running', true).pauses).toEqual(['restart 60000']);
  });

  test('what a process counted before it learned of the freeze is taken back', () => {
    const world = new World();
    world.open();
    world.work(10_000);
    const at = world.moment;
    world.pass(20_000);
    world.write({ kind: 'tick' });
    world.write({ kind: 'guard-froze', at, reason: 'no-answer' });
    world.write({ kind: 'thawed' });
    world.pass(1_000);
    expect(world.now).toMatchObject({ unpausedMs: 11_000, activeMs: 11_000, wallMs: 31_000 });
    expect(world.pauses).toEqual(['no answer 20000']);
    // Of a workspace that stood anyway it says nothing new.
    world.freeze('grade');
    world.write({ kind: 'guard-froze', at: world.moment, reason: 'crash' });
    world.pass(100);
    expect(world.pauses).toEqual(['no answer 20000', 'grade 100']);
  });
});

/** What a day may bring, with the truth about it kept beside the record. */
function anyDay(seed: number) {
  const random = randoms(seed);
  const world = new World();
  const some = (max: number): number => Math.floor(random() * max);
  const truth = { unpaused: 0, wall: 0, activities: [] as number[] };
  const passes = (ms: number, isRunning: boolean): void => {
    truth.wall += ms;
    if (isRunning) truth.unpaused += ms;
  };
  const activity = (event: RecordEvent): void => {
    world.write(event);
    truth.activities.push(truth.unpaused);
  };
  const open = (how: 'was running' | 'was paused'): void => {
    world.open(how);
    truth.activities.push(truth.unpaused);
  };
  const steps: (() => void)[] = [
    () => {
      const ms = some(400_000);
      world.work(ms);
      passes(ms, true);
    },
    () => activity(edit),
    () => activity({ kind: 'note', text: 'x' }),
    () => {
      world.setClock(-some(10_000_000));
      world.write({ kind: 'tick' });
    },
    () => {
      world.freeze('grade');
      const ms = some(300_000);
      world.pass(ms);
      passes(ms, false);
      world.write({ kind: 'thawed' });
    },
    () => {
      const ms = 10_000 + some(10_000_000);
      world.sleep(ms);
      world.write({ kind: 'tick' });
      passes(ms, false);
    },
    () => {
      // Killed; the guard freezes within seconds; opened again later.
      const until = some(5_000);
      world.pass(until);
      passes(until, true);
      const at = world.moment;
      const gap = some(1_000_000);
      world.pass(gap);
      passes(gap, false);
      world.write({ kind: 'opened', boot: world.boot, sleep: 'excluded', pid: 2 });
      world.write({ kind: 'guard-froze', at, reason: 'crash' });
      open('was paused');
    },
    () => {
      const ms = some(1_000_000);
      world.pass(ms);
      passes(ms, true);
      open('was running');
    },
    () => {
      const ms = 1 + some(1_000_000);
      world.reboot(ms);
      passes(ms, false);
      open('was paused');
    },
    () => {
      world.freeze('closed');
      world.write({ kind: 'closed' });
      const ms = some(1_000_000);
      world.pass(ms);
      passes(ms, false);
      open('was paused');
    },
  ];
  open('was paused');
  for (let i = 0; i < 60; i++) steps[some(steps.length)]?.();
  return { world, truth };
}

/** The length of the union of [at, at + cut-off], up to the end. */
function unionOf(starts: readonly number[], end: number): number {
  let covered = 0;
  let until = 0;
  for (const at of starts) {
    const from = Math.max(at, until);
    const to = Math.min(at + idleCutoffMs, end);
    if (to > from) covered += to - from;
    until = Math.max(until, to);
  }
  return covered;
}

test('whatever happens, the clock knows what was, and its parts add up', () => {
  for (let seed = 0; seed < 300; seed++) {
    const { world, truth } = anyDay(seed);
    const clock = world.now;
    const close = (ms: number): number => Math.round(ms);
    expect([seed, close(clock.unpausedMs)]).toEqual([seed, close(truth.unpaused)]);
    expect([seed, close(clock.wallMs)]).toEqual([seed, close(truth.wall)]);
    expect([seed, close(clock.activeMs)]).toEqual([seed, close(unionOf(truth.activities, truth.unpaused))]);
    expect(close(clock.activeMs + clock.waitingMs + clock.idleMs)).toBe(close(clock.unpausedMs));
    const paused = clock.pauses.reduce((sum, { ms }) => sum + ms, 0);
    expect([seed, close(clock.unpausedMs + paused)]).toEqual([seed, close(clock.wallMs)]);
  }
});
