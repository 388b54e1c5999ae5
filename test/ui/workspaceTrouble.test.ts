import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { makeTask, okScript } from '../fixtures/tasks/makeTask.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import {
  clickStart,
  containerOf,
  engine,
  explorerRow,
  openTerminal,
  removeTraces,
  status,
  terminal,
  typeLine,
  whenOpen,
} from './support/attempt.ts';
import { type EngineProxy, proxyEngine } from './support/engineProxy.ts';
import { clearNotifications, gradeMs, row } from './support/steps.ts';

/** Long enough to look at what stands while it lasts. */
const slowScript = okScript.replace('\n', '\nsleep 25\n');

let first: Workbench;
let workbench: Workbench;
let folder = '';
let store: AttemptStore;
let proxy: EngineProxy;
const windows: Workbench[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trouble-'));
  store = new AttemptStore(path.join(folder, 'store'));
  const corpus = path.join(folder, 'corpus');
  await mkdir(corpus);
  const dockerfile = `FROM debian:bookworm-slim\nWORKDIR /app\nRUN sleep 9; echo ${process.pid}\n`;
  await makeTask(path.join(corpus, 'slow'), { testScript: slowScript, dockerfile });
  await makeTask(path.join(corpus, 'hurry'), { agent: 'timeout_sec = 30.0' });
  proxy = await proxyEngine(path.join(folder, 'engine.sock'));
  first = await openWorkbench({
    ...{ folder: corpus, extensionFrom: REPO, manyThemes: true, env: { DOCKER_HOST: proxy.address } },
    // In a browser VS Code saves by itself after a second.
    settings: {
      'files.autoSave': 'off',
      'e2eSwe.storeFolder': store.storeDir,
      'e2eSwe.showBundledTasks': true,
    },
  });
  workbench = first;
});

afterAll(async () => {
  for (const window of windows) await window.page.close().catch(() => undefined);
  await first?.close();
  await proxy?.down();
  for (const task of ['slow', 'hurry']) removeTraces(task);
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

test(
  'a start tells its steps and the time',
  async () => {
    const opening = clickStart(first, 'slow');
    await first.notification(/Preparing a workspace for slow/).waitFor({ timeout: 60_000 });
    await first.page.waitForTimeout(2_500);
    await first.shoot('starting');
    workbench = await opening;
    windows.push(workbench);
    await workbench.notification(/The container is offline/).waitFor({ timeout: 60_000 });
    await workbench.shoot('opened');
    await whenOpen(workbench, 'slow');
  },
  gradeMs,
);

test('a search without a result, and a view that was cleared, say what to do', async () => {
  await workbench.runCommand('E2E-SWE: Search in workspace…');
  await workbench.type('no such word');
  await workbench.page.getByText('No results for “no such word”.').waitFor();
  await workbench.shoot('search-none');
  await workbench.runCommand('E2E-SWE: Clear search results');
  await workbench.page.getByText("VS Code's own search does not reach them").waitFor();
  await workbench.shoot('search-empty');
  await workbench.showContainer('Explorer');
});

test('setup is tried: while it runs, when it fails, when it succeeds', async () => {
  await openTerminal(workbench);
  const script = 'echo working; sleep 4; echo x >>/etc/motd; test -e ok.txt';
  await typeLine(workbench, `echo '${script}' >setup.sh; clear`);
  await workbench.runCommand('E2E-SWE: Try setup');
  await terminal(workbench).filter({ hasText: 'working' }).waitFor({ timeout: 60_000 });
  await workbench.shoot('setup-running');
  await terminal(workbench)
    .filter({ hasText: 'setup.sh failed with exit code 1' })
    .waitFor({ timeout: 60_000 });
  await workbench.shoot('setup-failed');
  engine('exec', containerOf('slow'), 'touch', '/app/ok.txt');
  await workbench.runCommand('E2E-SWE: Try setup');
  await terminal(workbench).filter({ hasText: 'setup.sh succeeded after' }).waitFor({ timeout: 60_000 });
  await terminal(workbench).filter({ hasText: '/etc/motd' }).waitFor();
  await workbench.shoot('setup-succeeded');
});

test(
  'what will not travel is told before a grade, and a name in it is no link; frozen, then working on',
  async () => {
    await workbench.runCommand('Terminal: Kill All Terminals');
    await openTerminal(workbench);
    const link = '/opt/[free lunch](command:workbench.action.files.newUntitledFile)';
    engine('exec', containerOf('slow'), 'sh', '-c', `touch '${link}' /usr/local/bin/tool; rm /etc/issue`);
    await explorerRow(workbench, 'setup.sh').click();
    await workbench.page.locator('.tab.active', { hasText: 'setup.sh' }).waitFor();
    await workbench.runCommand('E2E-SWE: Grade workspace');
    const warning = workbench.notification(/will not travel: .*free lunch/);
    await warning.waitFor();
    expect(await warning.locator('a').count()).toBe(0);
    await status(workbench, 'slow: frozen while graded').waitFor({ timeout: 60_000 });
    await workbench.page.locator('.terminal-wrapper.active .xterm-screen').click();
    await workbench.page.keyboard.type('x');
    await terminal(workbench).filter({ hasText: 'What you type waits' }).waitFor();
    await workbench.shoot('frozen');
    await status(workbench, 'slow: frozen while graded').click();
    await workbench.page.locator('.quick-input-list', { hasText: 'Keep working' }).waitFor();
    await workbench.shoot('frozen-menu');
    await workbench.pick('Keep working');
    await status(workbench, 'slow: running').waitFor({ timeout: 30_000 });
    await workbench.shoot('keep-working');
    await workbench.notification(/slow: Resolved/).waitFor({ timeout: gradeMs });
    await workbench.shoot('graded');
    await clearNotifications(workbench);
  },
  gradeMs,
);

test('a pause asks why; paused, and on again', async () => {
  const clock = status(workbench, /\d:\d\d:\d\d \/ 1:00:00/);
  await clock.click();
  await workbench.page.locator('.quick-input-widget:visible').getByText('Why do you pause?').waitFor();
  await workbench.shoot('pause-ask');
  await workbench.type('lunch');
  await status(workbench, 'slow: paused').waitFor();
  await workbench.shoot('paused');
  await status(workbench, 'slow: paused').click();
  await workbench.page.locator('.quick-input-list', { hasText: 'Resume' }).waitFor();
  await workbench.shoot('paused-menu');
  await workbench.pick('Resume');
  await status(workbench, 'slow: running').waitFor();
});

/** Kills every process whose command line is a file channel's. */
const killChannels = `for p in /proc/[0-9]*; do n=\${p#/proc/}; [ "$n" = $$ ] && continue
read -r l <"$p/cmdline" && case $l in *LC_ALL=C*) kill -9 "$n" ;; esac; done 2>/dev/null; :`;

test('a channel that is killed in the container comes back, which is said; nothing that is edited is lost', async () => {
  await clearNotifications(workbench);
  await explorerRow(workbench, 'setup.sh').click();
  await workbench.page.locator('.tab.active', { hasText: 'setup.sh' }).waitFor();
  await workbench.page.locator('.monaco-editor .view-line').first().click();
  await workbench.page.keyboard.type('# kept\n');
  await workbench.page.locator('.tab.dirty').waitFor();
  engine('exec', containerOf('slow'), 'sh', '-c', killChannels);
  await workbench.notification(/The connection to the files of the container was restarted/).waitFor();
  await workbench.shoot('channel-restarted');
  await workbench.page.keyboard.press('Control+s');
  await workbench.page.locator('.tab.dirty').waitFor({ state: 'detached' });
  expect(engine('exec', containerOf('slow'), 'cat', '/app/setup.sh')).toContain('# kept\n');
  await clearNotifications(workbench);
});

test('a container that is stopped under the window is started again, with every file', async () => {
  engine('kill', containerOf('slow'));
  await expect.poll(() => containerOf('slow'), { timeout: 60_000 }).not.toBe('');
  await status(workbench, 'slow: running').waitFor({ timeout: 60_000 });
  await workbench.page.waitForTimeout(1_500);
  await workbench.shoot('container-stopped');
  // Its clock goes on.
  const clock = status(workbench, /\d:\d\d:\d\d \/ 1:00:00/);
  const before = await clock.textContent();
  await expect.poll(() => clock.textContent()).not.toBe(before);
  await openTerminal(workbench);
  await typeLine(workbench, 'ls');
  await terminal(workbench).filter({ hasText: 'ok.txt' }).waitFor();
});

test(
  'an engine that goes away under an open workspace: said with the next step, and “Try again” opens it once it is back',
  async () => {
    await clearNotifications(workbench);
    await proxy.down();
    await status(workbench, 'Workspace: not open').waitFor({ timeout: 90_000 });
    await workbench
      .notification(/engine/)
      .first()
      .waitFor();
    await workbench.shoot('engine-down');
    await status(workbench, 'Workspace: not open').click();
    await workbench.page.locator('.quick-input-list', { hasText: 'Try again' }).waitFor();
    await workbench.shoot('engine-down-menu');
    await proxy.up();
    await workbench.pick('Try again');
    await status(workbench, 'slow: running').waitFor({ timeout: 60_000 });
    await explorerRow(workbench, 'ok.txt').waitFor();
    await clearNotifications(workbench);
  },
  gradeMs,
);

test(
  'an attempt whose time is up is submitted, and that is said',
  async () => {
    workbench = await whenOpen(await clickStart(first, 'hurry'), 'hurry');
    windows.push(workbench);
    await workbench
      .notification(/left for hurry/)
      .first()
      .waitFor({ timeout: 60_000 });
    await workbench.shoot('time-nearly-up');
    await status(workbench, 'hurry: out of time').waitFor({ timeout: gradeMs });
    await workbench.notification(/The time for hurry was up/).waitFor({ timeout: 60_000 });
    await workbench.shoot('timed-out');
    await status(workbench, 'hurry: out of time').click();
    await workbench.page.locator('.quick-input-list').waitFor();
    await workbench.screenshot('timed-out-menu');
    await workbench.page.keyboard.press('Escape');
  },
  gradeMs,
);

test('a disqualified attempt can be read, and says so', async () => {
  const [timedOut] = (await store.list()).filter(({ task }) => task.name === 'hurry');
  await workbench.runCommand('E2E-SWE: Close workspace');
  await workbench.page.waitForTimeout(2_000);
  await store.move(timedOut?.id ?? '', 'disqualified', { reason: 'it looked at the tests' });
  await first.page.bringToFront();
  await first.runCommand('E2E-SWE: Open attempt');
  workbench = await first.newWindow(() => first.pick('hurry'));
  windows.push(workbench);
  await status(workbench, 'hurry: disqualified').waitFor({ timeout: 60_000 });
  await explorerRow(workbench, 'instruction.md').click();
  await workbench.page.locator('.tab.active', { hasText: 'instruction.md' }).waitFor();
  await workbench.shoot('disqualified');
});

test('a workspace whose attempt is in no store is listed, and removed by a click', async () => {
  await workbench.runCommand('E2E-SWE: Close workspace');
  await workbench.page.waitForTimeout(3_000);
  const [gone] = (await store.list()).filter(({ task }) => task.name === 'hurry');
  const name = `e2e-swe-workspace-${gone?.id}`;
  engine('rm', '-f', name);
  await store.delete(gone?.id ?? '');
  workbench = first;
  await first.page.bringToFront();
  await first.runCommand('E2E-SWE: Clean up left-over workspaces');
  await first.notification(/1 workspace is left over from deleted attempts: hurry/).waitFor();
  await first.shoot('orphans');
  await first.page.getByRole('button', { name: 'Remove it' }).click();
  await first.notification(/It was removed/).waitFor();
  expect(engine('volume', 'ls', '-q', '--filter', `name=${name}`)).toBe('');
  await first.runCommand('E2E-SWE: Refresh tasks');
  await row(first, 'slow').locator('.monaco-tl-twistie').click();
  await row(first, /^Attempt/).waitFor();
  await first.shoot('attempts-tree');
});
