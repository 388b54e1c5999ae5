import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyLine, type ClockState, clockAt, newClock } from '#core/attempt/clock.ts';
import { hostClock, momentOf } from '#core/attempt/hostClock.ts';
import { readRecordLog } from '#core/attempt/readRecordLog.ts';
import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { TextReplay } from '#core/attempt/replayText.ts';
import { randoms } from '../core/attempt/support.ts';
import { canRunDaemon, SecondDaemon, tinyImage } from '../docker/secondDaemon.ts';
import { waitFor } from '../docker/support.ts';
import { makeTask } from '../fixtures/tasks/makeTask.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { clearNotifications, gradeMs, showTasks, startPractice } from './support/steps.ts';

/** `npm run test:kill` runs all 20. */
const points = Number(process.env.E2E_SWE_KILL_WINDOW_POINTS ?? 2);
const seed = Number(process.env.E2E_SWE_KILL_SEED ?? 1);
/** What may be lost. */
const boundMs = 1_000;
const pointMs = 90_000;

const victims = ['extension host', 'window', 'engine', 'extension host', 'window'] as const;
type Victim = (typeof victims)[number];

interface Outcome {
  readonly victim: Victim;
  readonly lost: number;
  readonly lostOutput: number;
  readonly stalled: number;
  readonly frozenMs: number;
}

describe.skipIf(!canRunDaemon)('a window that is worked in', () => {
  let daemon: SecondDaemon;
  let first: Workbench;
  let window: Workbench;
  let dir = '';
  let attemptDir = '';
  let container = '';
  let url = '';
  const outcomes: Outcome[] = [];

  beforeAll(async () => {
    daemon = await SecondDaemon.start();
    dir = await mkdtemp(path.join(tmpdir(), 'kill-'));
    await makeTask(path.join(dir, 'tasks', 'killed'), {
      environment: `docker_image = "${tinyImage}"\nallow_internet = false`,
      dockerfile: null,
    });
    first = await openWorkbench({
      folder: path.join(dir, 'tasks'),
      extensionFrom: REPO,
      env: { DOCKER_HOST: daemon.address },
      settings: {
        'e2eSwe.storeFolder': path.join(dir, 'store'),
        'editor.quickSuggestions': { other: 'off' },
      },
    });
    window = first;
    await showTasks(first);
    window = await first.newWindow(() => startPractice(first, 'killed'));
    await status('killed: running').waitFor({ timeout: 60_000 });
    url = window.page.url();
    container = daemon.docker(['ps', '--format', '{{.Names}}']);
    attemptDir = path.join(dir, 'store/attempts/killed', container.replace('e2e-swe-workspace-', ''));
    await reopen();
  }, gradeMs);

  afterAll(async () => {
    await window?.page.close().catch(() => undefined);
    await first?.close();
    await daemon?.dispose();
    await rm(dir, { recursive: true, force: true });
  });

  shootFailures(() => window);

  const status = (text: string | RegExp) => window.page.locator('.statusbar-item', { hasText: text });
  const paused = () => daemon.docker(['inspect', '-f', '{{.State.Status}}', container]) === 'paused';

  async function lockPid(): Promise<number | undefined> {
    const text = await readFile(path.join(attemptDir, 'lock.json'), 'utf8').catch(() => '{}');
    return (JSON.parse(text || '{}') as { pid?: number }).pid;
  }

  async function linesOf(): Promise<RecordLine[]> {
    const lines: RecordLine[] = [];
    for await (const read of readRecordLog(path.join(attemptDir, 'record.jsonl'))) {
      if ('line' in read) lines.push(read.line);
      else expect(read.damage.what).toMatch(/^The last line is torn/);
    }
    return lines;
  }

  /** A file of its own with a terminal that tells the time beside it; then what is typed, each word with its moment. */
  async function work(name: string, forMs: number): Promise<{ at: number; text: string }[]> {
    const { page } = window;
    daemon.docker(['exec', container, 'sh', '-c', `echo begin > /app/${name}`]);
    await window.runCommand('E2E-SWE: New container terminal');
    // VS Code may open one more by itself, where its panel was open when the window ended: the one in front counts.
    const shown = page.locator('.terminal-wrapper .xterm-rows:visible');
    await shown.filter({ hasText: /[#$]/ }).first().waitFor();
    // A preview that is drawn only now takes the focus, and what is typed goes nowhere.
    for (let tries = 1; ; tries++) {
      await window.runCommand('Terminal: Focus Terminal');
      await page.keyboard.type('while :; do date +%s%3N; sleep 0.05; done\n');
      const told = shown.filter({ hasText: /\d{13}/ }).first();
      try {
        await told.waitFor({ timeout: 5_000 });
        break;
      } catch (error) {
        if (tries === 4) throw error;
      }
    }
    await window.runCommand('E2E-SWE: Go to file in workspace…');
    await window.pick(name);
    await page.locator('.tab.active', { hasText: name }).waitFor();
    await page.locator('.monaco-editor.focused').waitFor();
    await page.keyboard.press('Control+End');
    const typed: { at: number; text: string }[] = [];
    const until = Date.now() + forMs;
    for (let i = 0; Date.now() < until; i++) {
      const text = `${i} `;
      await page.keyboard.type(text);
      typed.push({ at: Date.now(), text });
      await delay(20);
    }
    return typed;
  }

  async function kill(victim: Victim): Promise<void> {
    if (victim === 'engine') return daemon.kill();
    if (victim === 'extension host') {
      process.kill((await lockPid()) as number, 'SIGKILL');
      return;
    }
    const session = await window.page.context().newCDPSession(window.page);
    // The renderer ends as by a signal; there is no answer.
    void session.send('Page.crash').catch(() => undefined);
    await delay(100);
  }

  /** Again until it is no second one: an editor may have begun again by itself, and its lock goes with its page. */
  async function reopen(): Promise<void> {
    for (let tries = 1; ; tries++) {
      await window.page.close().catch(() => undefined);
      await first.page.bringToFront();
      // A renderer of its own: one that another window opened shares that one's.
      window = await first.newWindow(async () => {
        const page = await first.page.context().newPage();
        await page.goto(url);
      });
      await status('killed: running').waitFor({ timeout: 60_000 });
      if (!((await status('killed: running').textContent()) ?? '').includes('read-only')) break;
      if (tries === 5) throw new Error('Another window keeps the attempt.');
      await delay(2_000);
    }
    await clearNotifications(window);
  }

  async function castEnd(lines: readonly RecordLine[]): Promise<number> {
    const casts = lines.flatMap((line) => (line.kind === 'terminal' ? [line.cast] : []));
    const texts = await Promise.all(casts.map((cast) => readFile(path.join(attemptDir, cast), 'utf8')));
    const times = texts.flatMap((text) => text.slice(0, text.lastIndexOf('\n')).match(/\b1\d{12}\b/g) ?? []);
    return Math.max(...times.map(Number));
  }

  async function point(index: number, victim: Victim, forMs: number): Promise<void> {
    const name = `p${index}.txt`;
    const typed = await work(name, forMs);
    const pid = await lockPid();
    await kill(victim);
    const killedAt = Date.now();
    // What the machine itself let wait: keystrokes take milliseconds.
    const recent = typed.filter(({ at }) => at > killedAt - 2 * boundMs);
    const stalled = Math.max(0, ...recent.map(({ at }, i) => (recent[i + 1]?.at ?? killedAt) - at - 100));
    if (victim === 'extension host') await waitFor('the freeze', paused, 15);
    else await delay(1_500);
    const frozenAt = Date.now();
    const lines = await linesOf();
    const replay = new TextReplay();
    for (const line of lines) replay.apply(line);
    const replayed = replay.get(`/app/${name}`)?.text.replace('begin\n', '');
    const prefixes = typed.map((_, i) =>
      typed
        .slice(0, i + 1)
        .map(({ text }) => text)
        .join(''),
    );
    // Byte for byte what was typed up to some keystroke; before the first one nothing is recorded of a file.
    if (replayed !== undefined && replayed !== '')
      expect(
        prefixes.some((prefix) => prefix.startsWith(replayed)),
        replayed,
      ).toBe(true);
    const kept = prefixes.filter((prefix) => prefix.length <= (replayed ?? '').length).length;
    const lost = killedAt - (typed[kept]?.at ?? killedAt);
    const lostOutput = killedAt - (await castEnd(lines));
    outcomes.push({ victim, lost, lostOutput, stalled, frozenMs: frozenAt - killedAt });
    process.stdout.write(
      `${index}: ${victim}, ${forMs} ms after the first key: ${Math.round(lost)} ms of the record lost, ${Math.round(lostOutput)} ms of the terminal (the machine stalled ${Math.round(stalled)} ms)\n`,
    );
    expect(lost).toBeLessThan(boundMs + stalled);
    expect(lostOutput).toBeLessThan(boundMs + stalled);
    if (victim === 'extension host') await reopenAfterCrash(frozenAt, boundMs + stalled);
    else if (victim === 'engine') {
      await daemon.relaunch();
      await reopen();
    } else {
      // A server keeps the extension host for a window that may come back; in the end it ends it, as here.
      process.kill(pid as number, 'SIGTERM');
      await waitFor('the freeze', paused, 15);
      await reopenAfterCrash(Date.now(), boundMs + stalled);
    }
    // Wall time is all of it; one container, and one guard that is of this session.
    const clock = await clockNow();
    const began = (await linesOf()).find(({ kind }) => kind === 'thawed')?.utc ?? '';
    expect(Math.abs(clock.wallMs - (Date.now() - Date.parse(began)))).toBeLessThan(boundMs + stalled);
    const stood = clock.pauses.reduce((sum, { ms }) => sum + ms, 0);
    expect(Math.abs(clock.wallMs - clock.unpausedMs - stood)).toBeLessThan(5);
    expect(daemon.docker(['ps', '-aq']).split('\n')).toHaveLength(1);
    expect(guards()).toHaveLength(1);
  }

  /** The time from the freeze on is a pause, and says why. */
  async function reopenAfterCrash(frozenAt: number, bound: number): Promise<void> {
    await reopen();
    const told = (await clockNow()).pauses.filter(
      ({ since, reason }) =>
        Math.abs(Date.parse(since) - frozenAt) < bound && (reason === 'crash' || reason === 'closed'),
    );
    expect(told).not.toEqual([]);
  }

  async function clockNow(): Promise<ClockState> {
    const lines = await linesOf();
    return clockAt(lines.reduce(applyLine, newClock), momentOf(hostClock));
  }

  /** Processes that stand by the attempt. */
  function guards(): string[] {
    return readdirSync('/proc').filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words.includes(attemptDir) && words.some((word) => word.endsWith('guard.cjs'));
      } catch {
        return false;
      }
    });
  }

  test(
    `killed at ${points} points, nothing older than a second is lost, the clock is right, and nothing runs on`,
    async () => {
      const random = randoms(seed);
      for (let i = 0; i < points; i++)
        await point(i, victims[i % victims.length] as Victim, 400 + Math.floor(random() * 3_000));
      const most = (of: (outcome: Outcome) => number): number => Math.round(Math.max(...outcomes.map(of)));
      process.stdout.write(
        `Killed at ${outcomes.length} points (seed ${seed}): at most ${most(({ lost }) => lost)} ms of the record lost, ${most(({ lostOutput }) => lostOutput)} ms of terminals; frozen after ${most(({ victim, frozenMs }) => (victim === 'extension host' ? frozenMs : 0))} ms at most.\n`,
      );
      await window.runCommand('E2E-SWE: Close workspace');
      await waitFor('the last freeze', () => paused() && guards().length === 0, 15);
    },
    30_000 + points * pointMs,
  );
});
