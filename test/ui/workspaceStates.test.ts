import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTask } from '../fixtures/tasks/makeTask.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import * as find from './support/attempt.ts';
import {
  clickStart,
  containerOf,
  engine,
  explorerRow,
  openTerminal,
  removeTraces,
  removeWorkspace,
  typeLine,
  whenOpen,
} from './support/attempt.ts';
import { clearNotifications, gradeMs, row } from './support/steps.ts';

/** Fails at a line of the workspace, at one of a hidden test, and passes once. */
const report = {
  results: {
    tool: { name: 'shell' },
    tests: [
      {
        ...{ name: 'totals add up', status: 'failed', filePath: '/app/src/total.py', line: 3 },
        ...{ message: 'total([1, 2]) gave 2 instead of 3', expected: '3', actual: '2', duration: 4 },
      },
      {
        ...{
          name: 'an empty list',
          status: 'failed',
          filePath: '/tests/test_total.py',
          line: 8,
          duration: 1,
        },
        message: 'total([]) did not answer 0',
        trace: 'Traceback:\n  File "/app/src/total.py", line 2, in total\nTypeError: no items',
      },
      { name: 'one item', status: 'passed', duration: 1 },
    ],
  },
};
const testScript = `#!/bin/bash
echo "3 tests"
cat > /logs/verifier/ctrf.json <<'END'
${JSON.stringify(report)}
END
echo 0 > /logs/verifier/reward.txt
`;

let first: Workbench;
let workbench: Workbench;
let folder = '';
const windows: Workbench[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'corpus-'));
  await makeTask(path.join(folder, 'totals'), {
    testScript,
    verifier: 'environment_mode = "separate"\ntimeout_sec = 60.0\ntest_case_count = 3',
  });
  first = await openWorkbench({ folder, extensionFrom: REPO, manyThemes: true });
  workbench = first;
});

afterAll(async () => {
  for (const window of windows) await window.page.close().catch(() => undefined);
  // The extension hosts end with the server; what they had in the engine is the tests'.
  await first?.close();
  removeTraces('totals');
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

const status = (text: string | RegExp) => find.status(workbench, text);
const terminal = () => find.terminal(workbench);

const start = async (): Promise<Workbench> => {
  const window = await clickStart(first, 'totals');
  windows.push(window);
  return whenOpen(window, 'totals');
};

test(
  'failed tests are shown at the lines that they are about: in the editor, in Problems, in the Testing view',
  async () => {
    workbench = await start();
    const { page } = workbench;
    await openTerminal(workbench);
    await typeLine(
      workbench,
      String.raw`mkdir src && printf 'def total(items):\n    first = items[0]\n    return first + len(items) - 1\n' > src/total.py && echo ma$((1))de`,
    );
    await terminal().filter({ hasText: 'ma1de' }).waitFor();
    await workbench.runCommand('E2E-SWE: Grade workspace');
    await workbench.notification(/totals: Unresolved/).waitFor({ timeout: gradeMs });
    await clearNotifications(workbench);
    await workbench.runCommand('Problems: Focus on Problems View');
    const problems = page.locator('.markers-panel .monaco-list-row');
    await problems.filter({ hasText: 'totals add up: total([1, 2]) gave 2 instead of 3' }).waitFor();
    await problems.filter({ hasText: 'an empty list: total([]) did not answer 0' }).waitFor();
    expect(await problems.allTextContents()).toHaveLength(3);
    await problems.filter({ hasText: 'totals add up' }).dblclick();
    await page.locator('.tab.active', { hasText: 'total.py' }).waitFor();
    await page.locator('.squiggly-error').first().waitFor();
    await workbench.shoot('inline-problems');
    await workbench.runCommand('Testing: Focus on Test Explorer View');
    await page.locator('.test-explorer .monaco-list-row', { hasText: 'totals' }).first().click();
    await page.keyboard.press('ArrowRight');
    await page.locator('.test-explorer .monaco-list-row', { hasText: 'totals add up' }).waitFor();
    await workbench.screenshot('inline-testing');
    await page.locator('.monaco-editor .view-line', { hasText: 'return first' }).click();
    await workbench.runCommand('Test: Peek Output');
    await page.locator('.test-output-peek').waitFor();
    await page.waitForTimeout(1_000);
    await workbench.screenshot('inline-peek');
    expect(await page.locator('.test-output-peek').textContent()).toContain('gave 2 instead of 3');
    await page.keyboard.press('Escape');
    await workbench.runCommand("E2E-SWE: Clear grade's problems");
    await problems.first().waitFor({ state: 'detached' });
    await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
  },
  gradeMs,
);

test('a second window on the attempt reads only, and says why', async () => {
  const main = workbench;
  await first.page.bringToFront();
  await first.runCommand('E2E-SWE: Open attempt');
  const second = await first.newWindow(() => first.pick('totals'));
  windows.push(second);
  workbench = second;
  await status('totals: running, read-only').waitFor({ timeout: 60_000 });
  await second.notification(/Another window works in this attempt/).waitFor();
  await explorerRow(workbench, 'instruction.md').click();
  await second.page.locator('.tab.active', { hasText: 'instruction.md' }).waitFor();
  await second.screenshot('second-window-opened');
  await clearNotifications(second);
  await second.page.locator('.monaco-editor').first().click();
  await second.page.keyboard.type('x');
  await second.page.waitForTimeout(500);
  await workbench.shoot('second-window');
  await second.runCommand('E2E-SWE: New container terminal');
  await second.notification(/cannot be entered: Another window works in this attempt/).waitFor();
  await second.screenshot('second-window-terminal');
  await clearNotifications(second);
  await status('totals: running, read-only').click();
  await second.page.locator('.quick-input-list').waitFor();
  await second.screenshot('second-window-menu');
  expect(await second.page.locator('.quick-input-list .monaco-list-row').allTextContents()).not.toContain(
    'Submit…',
  );
  await second.page.keyboard.press('Escape');
  await second.runCommand('E2E-SWE: Close workspace');
  await second.page.waitForTimeout(2_000);
  workbench = main;
  await workbench.page.bringToFront();
});

test('a flood in one terminal: what is skipped is marked, and a second terminal echoes', async () => {
  const { page } = workbench;
  await openTerminal(workbench);
  await page.waitForTimeout(500);
  // The terminal's own line ends are slow to make: without them a flood is one also beside a browser.
  await typeLine(workbench, String.raw`stty -opost; yes "$(printf 'a line of a flood, again and again\r')"`);
  await terminal().filter({ hasText: 'again and again' }).waitFor();
  await page.waitForTimeout(4_000);
  await workbench.runCommand('E2E-SWE: New container terminal');
  await expect.poll(() => terminal().textContent()).toMatch(/[#$]\s*$/);
  const since = Date.now();
  await typeLine(workbench, 'echo ec$((1))ho');
  await terminal().filter({ hasText: 'ec1ho' }).waitFor();
  const echoMs = Date.now() - since;
  await workbench.screenshot('flood-second-terminal');
  // Typing itself takes most of this.
  expect(echoMs).toBeLessThan(5_000);
  await workbench.runCommand('Terminal: Focus Previous Terminal Group');
  await page.keyboard.press('Control+c');
  await expect.poll(() => terminal().textContent(), { timeout: 10_000 }).toMatch(/\^C/);
  await page.waitForTimeout(1_500);
  await page.keyboard.press('Control+f');
  await page.waitForTimeout(500);
  await page.keyboard.type('of output not shown');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(500);
  expect(await terminal().textContent()).toMatch(/of output not shown\]/);
  await workbench.shoot('flood');
});

test('a search says what it did not look into', async () => {
  const name = containerOf('totals');
  const make = `cd /app && head -c 11000000 /dev/zero >large.bin && echo needle >"$(printf 'two\\nlines')" && echo needle >notes.txt`;
  engine('exec', name, 'sh', '-c', make);
  await workbench.runCommand('E2E-SWE: Search in workspace…');
  await workbench.type('needle');
  const results = workbench.tree('Search in workspace');
  await results.filter({ hasText: 'Larger than 10 MB' }).click();
  await results.filter({ hasText: 'large.bin' }).waitFor();
  await results.filter({ hasText: 'Name with a line break' }).waitFor();
  await workbench.shoot('search-skipped');
});

test('the menu of a workspace', async () => {
  await clearNotifications(workbench);
  await workbench.runCommand('Terminal: Kill All Terminals').catch(() => undefined);
  await status('totals: running').click();
  await workbench.page.locator('.quick-input-list', { hasText: 'Give up' }).waitFor();
  await workbench.shoot('menu');
  await workbench.page.keyboard.press('Escape');
});

test('VS Code’s “+” opens a shell in the container, none of this machine', async () => {
  await workbench.runCommand('Terminal: Kill All Terminals').catch(() => undefined);
  await workbench.runCommand('Terminal: Create New Terminal');
  await workbench.notification(/Terminals of this window run in the container/).waitFor();
  await terminal().filter({ hasText: '/app#' }).waitFor();
  await typeLine(workbench, 'hostname; echo in-$((1))-container');
  await terminal().filter({ hasText: 'in-1-container' }).waitFor();
  await workbench.page.waitForTimeout(1_000);
  await workbench.screenshot('terminal-plus');
  expect(await workbench.page.locator('.terminal-wrapper').count()).toBe(1);
  await clearNotifications(workbench);
});

test('settings and tasks that a program in the container wrote run nothing on this machine', async () => {
  const marker = path.join(folder, 'ran-on-the-host');
  const files = {
    'settings.json': {
      'task.allowAutomaticTasks': 'on',
      'git.path': `${marker}-git`,
      'terminal.integrated.defaultProfile.linux': 'planted',
      'terminal.integrated.profiles.linux': { planted: { path: '/bin/touch', args: [`${marker}-shell`] } },
      'workbench.colorCustomizations': { 'statusBar.background': '#ff0000' },
    },
    'tasks.json': {
      version: '2.0.0',
      tasks: [
        {
          ...{ label: 'planted', type: 'shell', command: `touch ${marker}-task`, options: { cwd: '/' } },
          runOptions: { runOn: 'folderOpen' },
        },
      ],
    },
    'launch.json': { version: '0.2.0', configurations: [] },
  };
  const text = Object.entries(files)
    .map(([name, value]) => `cat > .vscode/${name} <<'END'\n${JSON.stringify(value)}\nEND\n`)
    .join('');
  const name = containerOf('totals');
  engine('exec', name, 'sh', '-c', `cd /app && mkdir -p .vscode && ${text}`);
  await workbench.reload();
  await status('totals: running').waitFor({ timeout: 60_000 });
  await workbench.page.waitForTimeout(8_000);
  await workbench.runCommand('Terminal: Create New Terminal');
  await terminal().filter({ hasText: '/app#' }).waitFor();
  await workbench.runCommand('Tasks: Run Task');
  await workbench.page.waitForTimeout(3_000);
  await workbench.screenshot('planted-settings');
  await workbench.page.keyboard.press('Escape');
  expect(await workbench.page.locator('.quick-input-list', { hasText: 'planted' }).count()).toBe(0);
  expect((await readdir(folder)).filter((entry) => entry.startsWith('ran-on'))).toEqual([]);
  expect(await workbench.page.evaluate(statusBarColour)).not.toBe('rgb(255, 0, 0)');
  expect(engine('exec', name, 'ls', '/app/.vscode').trim().split('\n')).toHaveLength(3);
});

const statusBarColour = "getComputedStyle(document.querySelector('.part.statusbar')).backgroundColor";

test('an attempt that was given up: its files can be read', async () => {
  await workbench.runCommand('E2E-SWE: Give up attempt…');
  await workbench.dialog().waitFor();
  await workbench.screenshot('give-up-ask');
  await workbench.dialog().getByRole('button', { name: 'Give up', exact: true }).click();
  await status('totals: given up').waitFor();
  await workbench.page.waitForTimeout(1_500);
  await workbench.shoot('given-up');
  await status('totals: given up').click();
  await workbench.page.locator('.quick-input-list').waitFor();
  await workbench.screenshot('given-up-menu');
  await workbench.page.keyboard.press('Escape');
});

test(
  'a submitted attempt: read-only, with its verdict',
  async () => {
    workbench = await start();
    await workbench.runCommand('E2E-SWE: Submit attempt…');
    await workbench.dialog().getByRole('button', { name: 'Submit', exact: true }).click();
    await workbench.notification(/totals: Unresolved/).waitFor({ timeout: gradeMs });
    await status('totals: submitted').waitFor();
    await workbench.shoot('submitted');
    await status('totals: submitted').click();
    await workbench.page.locator('.quick-input-list').waitFor();
    await workbench.screenshot('submitted-menu');
    await workbench.page.keyboard.press('Escape');
  },
  gradeMs,
);

test(
  'a workspace that was removed behind its back is lost, and what can be done is said',
  async () => {
    workbench = await start();
    const [, id = ''] = (await workbench.page.title()).match(/\b([a-z0-9-]+-[a-z0-9]{11})\b/) ?? [];
    expect(id).not.toBe('');
    removeWorkspace(`e2e-swe-workspace-${id}`);
    // Nobody asks for a file: it is noticed all the same.
    await workbench
      .notification(/is lost/)
      .first()
      .waitFor({ timeout: 60_000 });
    await status('Workspace: not open').waitFor();
    await workbench.screenshot('lost-live');
    await clearNotifications(workbench);
    await workbench.reload();
    await workbench
      .notification(/is lost/)
      .first()
      .waitFor({ timeout: 60_000 });
    await workbench.shoot('lost');
    expect(await workbench.notification(/is lost/).count()).toBe(1);
    await status('Workspace: not open').click();
    await workbench.page.locator('.quick-input-list', { hasText: 'Try again' }).waitFor();
    await workbench.screenshot('lost-menu');
    await workbench.page.keyboard.press('Escape');
    await first.page.bringToFront();
    await first.runCommand('E2E-SWE: Refresh tasks');
    await row(first, 'totals').locator('.monaco-tl-twistie').click();
    await row(first, /^Attempt.*lost/).waitFor();
    await first.screenshot('lost-tree');
  },
  gradeMs,
);
