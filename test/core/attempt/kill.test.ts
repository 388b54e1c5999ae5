import { spawn } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import type { ClockState } from '#core/attempt/clock.ts';
import { hostClock } from '#core/attempt/hostClock.ts';
import { guardEventsOf } from '#core/attempt/hostGuard.ts';
import { type ReadRecord, readRecordLog } from '#core/attempt/readRecordLog.ts';
import type { RecordEvent, RecordLine } from '#core/attempt/recordEvents.ts';
import { Recorder, recordFileOf } from '#core/attempt/recorder.ts';
import { nullLog } from '#core/base/log.ts';
import { type Fault, faults } from './kill/faultyFile.ts';
import { textsOf } from './kill/readBack.ts';
import { type ModelText, ScriptedSession } from './kill/scriptedSession.ts';
import { randoms, record } from './support.ts';

/** `npm run test:kill` runs all 180. */
const points = Number(process.env.E2E_SWE_KILL_POINTS ?? 18);
const seed = Number(process.env.E2E_SWE_KILL_SEED ?? 1);
/** Kills of one record, one after the other. */
const lives = 2;
const abreast = 6;
/** What may be lost, and how far the clock may be out. */
const boundMs = 1_000;

let dir: string;
let program: string;
let store: AttemptStore;

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-kill-'));
  store = new AttemptStore(path.join(dir, 'store'));
  program = path.join(dir, 'session.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL('kill/killedSession.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['cpu-features'],
    loader: { '.node': 'empty' },
    outfile: program,
  });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** What became of the container after the kill. */
type Aftermath = 'guard froze it' | 'it was frozen' | 'it ran on';

interface Point {
  readonly fault: Fault;
  readonly seed: number;
  readonly killMs: number;
  readonly aftermath: Aftermath;
  /** Until somebody opens it again: moved clocks, so that nobody waits. */
  readonly gapMs: number;
}

interface Said {
  readonly kind: string;
  readonly at: number;
}

interface Kill {
  readonly said: readonly Said[];
  /** For how long the machine itself, or its disk, let the session wait: that much later may all be. */
  readonly stalledMs: number;
  /** Whether the container ran when it was killed. */
  readonly hasRun: boolean;
  /** Monotonic; undefined where it was killed before it could do anything. */
  readonly beganAt: number | undefined;
  readonly killedAt: number;
}

async function killed(id: string, point: Point): Promise<Kill> {
  const args = [program, store.storeDir, id, point.fault, String(point.seed)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (data: string) => {
    text += data;
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await delay(point.killMs);
  const killedAt = hostClock.monoMs();
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
  const [, ...rows] = text.slice(0, text.lastIndexOf('\n')).split('\n');
  const said = rows.map((row): Said => {
    const [kind = '', at] = row.split(' ');
    return { kind, at: Number(at) };
  });
  const began = said.find(({ kind }) => kind === 'on')?.at;
  const steps = said.filter(({ kind }) => !['on', 'ran'].includes(kind) && !kind.startsWith('sync'));
  const hasRun = said.findLast(({ kind }) => ['on', 'ran', 'frozen'].includes(kind))?.kind !== 'frozen';
  return {
    hasRun,
    said: steps,
    stalledMs: stalledMs(said, killedAt),
    beganAt: began,
    killedAt,
  };
}

/** What is usual: a step every 3 ms, and the syncs of a disk whose faults make them slow. */
const usual = { stepMs: 50, syncMs: 200 };

/** Steps that came late, and syncs that took long, in the seconds before the kill. */
function stalledMs(said: readonly Said[], killedAt: number): number {
  const recent = said.filter(({ at }) => at > killedAt - 2 * boundMs);
  const gaps = recent.map(({ at }, i) => (recent[i + 1]?.at ?? killedAt) - at - usual.stepMs);
  const syncs = recent.flatMap(({ kind, at }, i) => {
    const end = recent.slice(i).find((one) => one.kind === kind.replace('begin', 'end'))?.at ?? killedAt;
    return kind.startsWith('sync-begin') ? [2 * (end - at - usual.syncMs)] : [];
  });
  return Math.max(0, ...gaps) + Math.max(0, ...syncs);
}

/** Not of the script: what the recorder adds by itself. */
const ownKinds: readonly RecordEvent['kind'][] = [
  ...([
    'opened',
    'container',
    'terminal',
    'cast',
    'tick',
    'budget',
    'disk',
    'closed',
    'guard-froze',
  ] as const),
];

async function linesOf(id: string): Promise<RecordLine[]> {
  const read: ReadRecord[] = [];
  for await (const one of readRecordLog(recordFileOf(store.dirOf(id)))) read.push(one);
  expect(read.flatMap((one) => ('damage' in one ? [one.damage.what] : []))).toEqual([]);
  return read.flatMap((one) => ('line' in one ? [one.line] : []));
}

interface Life {
  readonly kill: Kill;
  readonly texts: ReadonlyMap<string, ModelText>;
  readonly before: ClockState | undefined;
  readonly linesBefore: number;
}

/** How long before the kill the first step was that is lost; 0 where none is. */
function lostMs(said: readonly Said[], kept: number, killedAt: number): number {
  const first = said[kept];
  return first ? killedAt - first.at : 0;
}

function checkTexts(now: ReadonlyMap<string, ModelText>, model: ReadonlyMap<string, ModelText>): void {
  expect([...now.keys()].sort()).toEqual([...model.keys()].sort());
  for (const [name, file] of model) {
    const replayed = now.get(name);
    expect(replayed?.text === file.text, `the text of ${name}`).toBe(true);
    expect([replayed?.encoding, replayed?.eol]).toEqual([file.encoding, file.eol]);
    if (file.saved) expect(replayed?.saved?.equals(file.saved), `the file of ${name}`).toBe(true);
  }
}

/** The cast holds what the terminal showed, from its beginning; how many of its steps. */
async function checkCast(id: string, lines: readonly RecordLine[], life: Life, script: readonly string[]) {
  const cast = lines.find((line) => line.kind === 'terminal')?.cast;
  const text = cast ? await readFile(path.join(store.dirOf(id), cast), 'utf8').catch(() => '') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1).replace(/^\0+/, '');
  const events = whole.split('\n').slice(1, -1);
  const shown = events.map((line) => {
    const [, code, data] = JSON.parse(line) as [number, string, string];
    return `${code}${data}`;
  });
  expect(shown).toEqual(script.slice(0, shown.length));
  const said = life.kill.said.filter(({ kind }) => kind === 'cast');
  return lostMs(said, shown.length, life.kill.killedAt);
}

/** Unpaused milliseconds that the script itself tells, until that moment. */
function unpausedBy({ said, beganAt }: Kill, until: number): number {
  let runs = true;
  let since = beganAt ?? until;
  let ms = 0;
  for (const { kind, at } of said) {
    if (kind === 'frozen' && runs) ms += at - since;
    if (kind === 'frozen' || kind === 'thawed') {
      runs = kind === 'thawed';
      since = at;
    }
  }
  return ms + (runs ? Math.max(0, until - since) : 0);
}

/** What whoever opens it next finds and writes; the clock then, and until when the container ran. */
async function reopened(
  id: string,
  { kill }: Life,
  { aftermath, gapMs }: Point,
): Promise<{ clock: ClockState; ranUntil: number }> {
  const folder = store.dirOf(id);
  const frozenAt = hostClock.monoMs();
  const ranOn = kill.hasRun && aftermath === 'it ran on';
  if (aftermath === 'guard froze it') {
    const at = { utc: new Date().toISOString(), mono: frozenAt, boot: hostClock.boot };
    await appendFile(
      guardEventsOf(folder),
      `${JSON.stringify({ kind: 'guard-froze', at, reason: 'crash' })}\n`,
    );
  }
  await delay(50);
  const later = {
    ...hostClock,
    monoMs: () => hostClock.monoMs() + gapMs,
    utcMs: () => hostClock.utcMs() + gapMs,
  };
  const recorder = await Recorder.open(folder, { log: nullLog, reserveBytes: 1 << 12, hostClock: later });
  recorder.append({ kind: 'container', how: ranOn ? 'was running' : 'was paused' });
  await recorder.flush();
  const { clock } = recorder;
  const ranUntil = {
    'guard froze it': frozenAt,
    'it was frozen': kill.killedAt,
    'it ran on': later.monoMs(),
  };
  recorder.append({ kind: 'frozen', reason: 'closed' });
  await recorder.close();
  return { clock, ranUntil: ranOn || aftermath !== 'it ran on' ? ranUntil[aftermath] : kill.killedAt };
}

interface Outcome {
  readonly lost: number;
  readonly lostOutput: number;
  readonly clockOff: number;
  readonly stalled: number;
}

async function check(id: string, life: Life, point: Point): Promise<Outcome> {
  const { kill } = life;
  const { clock, ranUntil } = await reopened(id, life, point);
  const lines = (await linesOf(id)).slice(life.linesBefore);
  const session = new ScriptedSession(point.seed, life.texts);
  const kept = lines.filter(({ kind }, i) => !ownKinds.includes(kind) && i < lines.length - 2).length;
  // The first thaw and the last freeze are not of the script.
  const ofScript = kept - (lines.some(({ kind }) => kind === 'thawed') ? 1 : 0);
  const shown: string[] = [];
  let model = new Map(life.texts);
  for (let seen = 0, i = 0; i < kill.said.length; i++) {
    const step = session.next();
    if ('event' in step && seen++ < ofScript) model = new Map(session.texts);
    else if ('code' in step) shown.push(`${step.code}${step.data}`);
  }
  checkTexts(await textsOf(store.dirOf(id)), model);
  const events = kill.said.filter(({ kind }) => kind !== 'cast');
  expect(lines.filter(({ kind }) => !ownKinds.includes(kind)).map(({ kind }) => kind)).toEqual([
    ...(kept > 0 ? ['thawed', ...events.slice(0, ofScript).map(({ kind }) => kind)] : []),
    'frozen',
  ]);
  const lost = lostMs(events, Math.max(0, ofScript), kill.killedAt);
  const lostOutput = await checkCast(id, lines, life, shown);
  const passed = clock.unpausedMs - (life.before?.unpausedMs ?? 0);
  const isLost = kept === 0;
  const clockOff = isLost ? 0 : Math.abs(passed - unpausedBy(kill, ranUntil));
  const pauses = clock.pauses.slice(life.before?.pauses.length ?? 0).map(({ reason }) => reason);
  const wasRunning = !['frozen', undefined].includes(
    events.slice(0, ofScript).findLast(({ kind }) => kind === 'frozen' || kind === 'thawed')?.kind ??
      (isLost ? undefined : 'thawed'),
  );
  const ranOn = kill.hasRun && point.aftermath === 'it ran on';
  const crashes = wasRunning && !ranOn ? ['crash'] : [];
  expect(pauses.filter((reason) => reason !== 'pause')).toEqual(crashes);
  return { lost, lostOutput, clockOff, stalled: kill.stalledMs };
}

test(`killed at ${points} points, it loses nothing that is older than a second, and the clock is right`, {
  timeout: 30_000 + points * 3_000,
}, async () => {
  const random = randoms(seed);
  const aftermaths: readonly Aftermath[] = ['guard froze it', 'it was frozen', 'it ran on'];
  const plans = Array.from(
    { length: points },
    (_, i): Point => ({
      fault: faults[i % faults.length] as Fault,
      seed: Math.floor(random() * 1e9),
      killMs: Math.floor(random() * 2_400),
      gapMs: i % lives === lives - 1 ? 60_000 : 0,
      aftermath: aftermaths[Math.floor(random() * aftermaths.length)] as Aftermath,
    }),
  );
  const outcomes: Outcome[] = [];
  // The clocks of a record's last life alone are moved: those of another session would go back.
  const follow = async (chain: readonly Point[]): Promise<void> => {
    const attempt = record({ budgetSec: 3_600 });
    await store.create(attempt);
    let before: ClockState | undefined;
    for (const point of chain) {
      const what = `E2E_SWE_KILL_SEED=${seed}: ${JSON.stringify(point)}`;
      const folder = store.dirOf(attempt.id);
      const texts = await textsOf(folder);
      const linesBefore = (await linesOf(attempt.id)).length;
      const kill = await killed(attempt.id, point);
      try {
        const outcome = await check(attempt.id, { kill, texts, before, linesBefore }, point);
        const bound = boundMs + outcome.stalled;
        expect(outcome.lost, 'of the record').toBeLessThan(bound);
        expect(outcome.lostOutput, 'of the terminal').toBeLessThan(bound);
        expect(outcome.clockOff, 'the clock').toBeLessThan(bound);
        outcomes.push(outcome);
      } catch (error) {
        throw new Error(what, { cause: error });
      }
      // Nothing is left of the process, and the next one begins from the clock by the record alone.
      const left = (await readdir(folder)).filter((name) => name !== 'terminals').sort();
      expect(left, what).toEqual(['attempt.json', 'clock.json', 'record.jsonl']);
      const recorder = await Recorder.open(folder, { log: nullLog, reserveBytes: 1 << 12 });
      before = recorder.clock;
      await recorder.close();
    }
  };
  const chains = Array.from({ length: Math.ceil(points / lives) }, (_, i) =>
    plans.slice(i * lives, (i + 1) * lives),
  );
  const queue = [...chains];
  const followed = await Promise.allSettled(
    Array.from({ length: abreast }, async () => {
      for (let chain = queue.shift(); chain; chain = queue.shift()) await follow(chain);
    }),
  );
  for (const one of followed) if (one.status === 'rejected') throw one.reason;
  const most = (of: (outcome: Outcome) => number): string =>
    `${Math.round(Math.max(...outcomes.map(of)))} ms`;
  const beyond = outcomes.filter((one) => Math.max(one.lost, one.lostOutput, one.clockOff) > boundMs);
  process.stdout.write(
    `Killed at ${outcomes.length} points (seed ${seed}): at most ${most(({ lost }) => lost)} of the record lost, ${most(({ lostOutput }) => lostOutput)} of terminals; the clock at most ${most(({ clockOff }) => clockOff)} out; ${beyond.length} beyond a second since the machine stalled (${most(({ stalled }) => stalled)} at most).\n`,
  );
  expect(outcomes).toHaveLength(points);
});
