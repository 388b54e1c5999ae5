import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { clearNotifications, gradeMs, row, showTasks, startPractice } from './support/steps.ts';

/** What the scripted user knows: how the task is solved. */
const REFERENCE = join(REPO, 'tasks/tidequery/solution/reference');

let first: Workbench;
let workbench: Workbench;

beforeAll(async () => {
  // The scripted user types whole files: the editor must not indent or close anything by itself.
  const settings = { 'editor.autoIndent': 'none', 'editor.autoClosingBrackets': 'never' };
  first = await openWorkbench({ extensionFrom: REPO, manyThemes: true, settings });
  workbench = first;
});

/** Closes the attempt's window, as a person would, and deletes the attempt in the first one. */
async function deleteAttempt() {
  if (workbench === first) return;
  const window = workbench;
  workbench = first;
  await window.runCommand('E2E-SWE: Close workspace');
  await window.page.locator('.statusbar-item', { hasText: 'tidequery:' }).waitFor({ state: 'detached' });
  await first.page.bringToFront();
  await first.runCommand('E2E-SWE: Delete attempt…');
  await first.pick('tidequery');
  await first.dialog().getByRole('button', { name: 'Delete', exact: true }).click();
  await first.runCommand('E2E-SWE: Refresh tasks');
  await row(first, /^Attempt/).waitFor({ state: 'detached' });
}

afterAll(async () => {
  // Where a test failed, the attempt is still there.
  await deleteAttempt().catch(() => undefined);
  await first?.close();
});

shootFailures(() => workbench);

const statusItem = (state: string) =>
  workbench.page.locator('.statusbar-item', { hasText: `tidequery: ${state}` });

const explorerRow = (name: string) =>
  workbench.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });

test(
  'an attempt starts from the tree, in a window of its own',
  async () => {
    await showTasks(first);
    workbench = await first.newWindow(() => startPractice(first, 'tidequery'));
    await workbench.page.locator('.statusbar-item', { hasText: 'tidequery: running' }).waitFor();
    await workbench.notification(/The container is offline/).waitFor();
    await workbench.page.waitForTimeout(3_000);
    await workbench.shoot('workspace-start');
    expect(await workbench.webview().locator('h1').first().textContent()).not.toBe('');
  },
  gradeMs,
);

/** Makes a file in the explorer, writes it in the editor and saves it. */
async function writeFile(name: string) {
  const { page } = workbench;
  await workbench.runCommand('File: New File...');
  await page.locator('.explorer-folders-view .monaco-inputbox input').fill(name);
  await page.keyboard.press('Enter');
  await page.locator('.tab.active', { hasText: name }).waitFor();
  await page.locator('.monaco-editor.focused').waitFor();
  await page.keyboard.insertText(readFileSync(join(REFERENCE, name), 'utf8'));
  await page.keyboard.press('Control+s');
  await page.locator('.tab.dirty').waitFor({ state: 'detached' });
  await explorerRow(name).waitFor();
}

const terminal = () => workbench.page.locator('.terminal-wrapper.active .xterm-rows');

async function openTerminal() {
  await workbench.runCommand('E2E-SWE: New container terminal');
  await terminal().filter({ hasText: /[#$]/ }).waitFor();
}

test('two files are made, written and saved', async () => {
  await clearNotifications(workbench);
  await writeFile('setup.sh');
  await writeFile('pyproject.toml');
  await workbench.shoot('workspace-edit');
});

test('a terminal of the container: what is typed there is seen in the explorer', async () => {
  await openTerminal();
  await workbench.page.keyboard.type(
    'echo made-$((40+2)) > typed.txt; cat typed.txt; pwd; sha256sum setup.sh\n',
  );
  await terminal().filter({ hasText: 'made-42' }).waitFor();
  const sum = createHash('sha256')
    .update(readFileSync(join(REFERENCE, 'setup.sh')))
    .digest('hex');
  await terminal().filter({ hasText: sum }).waitFor();
  await explorerRow('typed.txt').waitFor();
  await workbench.screenshot('workspace-terminal');
});

test('search in the workspace, and go to file', async () => {
  await workbench.runCommand('E2E-SWE: Search in workspace…');
  await workbench.page.locator('.quick-input-widget:visible').getByText('Any case').waitFor();
  await workbench.shoot('workspace-search-ask');
  await workbench.type('dirname');
  const results = workbench.tree('Search in workspace');
  await results.filter({ hasText: 'cd "$(dirname' }).waitFor();
  await workbench.page.waitForTimeout(500);
  await workbench.shoot('workspace-search');
  await results.filter({ hasText: 'cd "$(dirname' }).click();
  await workbench.page.locator('.tab.active', { hasText: 'setup.sh' }).waitFor();
  await workbench.runCommand('E2E-SWE: Go to file in workspace…');
  await workbench.page.locator('.quick-input-list', { hasText: 'typed.txt' }).waitFor();
  await workbench.shoot('workspace-go-to-file');
  await workbench.pick('typed.txt');
  await workbench.page.locator('.tab.active', { hasText: 'typed.txt' }).waitFor();
});

test('a window cannot attach without Dev Containers: what to install, a link to copy, and what was opened', async () => {
  await clearNotifications(workbench);
  await workbench.runCommand('E2E-SWE: Attach window to workspace container…');
  await workbench.notification(/To attach a window, install the extension Dev Containers/).waitFor();
  await workbench.shoot('workspace-attach');
  await workbench.page.getByRole('button', { name: 'Copy attach link (unverified)' }).click();
  await workbench.notification(/The link was copied/).waitFor();
  const link = (await workbench.page.evaluate('navigator.clipboard.readText()')) as string;
  const [, hex = ''] = /^vscode-remote:\/\/attached-container\+([0-9a-f]+)\/app$/.exec(link) ?? [];
  expect(Buffer.from(hex, 'hex').toString()).toMatch(
    /^\{"containerName":"\/e2e-swe-workspace-tidequery-[a-z0-9]+"\}$/,
  );
  await clearNotifications(workbench);
  // VS Code shows at most three toasts in 800 ms; a fourth goes to the notification center unseen.
  await workbench.page.waitForTimeout(1_000);
  await workbench.runCommand('E2E-SWE: Check workspace for bridges');
  await workbench.notification(/No way out of the container was found/).waitFor();
  await workbench.shoot('workspace-bridges');
});

test('setup is tried: without the code it fails, and says so', async () => {
  await workbench.runCommand('E2E-SWE: Try setup');
  await terminal().filter({ hasText: 'setup.sh failed with exit code' }).waitFor({ timeout: 60_000 });
  await workbench.screenshot('workspace-try-setup');
});

test(
  'a grade of the workspace: unresolved, its tests in the Testing view',
  async () => {
    await clearNotifications(workbench);
    await workbench.runCommand('E2E-SWE: Grade workspace');
    await statusItem('frozen while graded').waitFor();
    await workbench.notification(/The workspace is frozen while it is graded/).waitFor();
    await workbench.screenshot('workspace-grading');
    await workbench.notification(/tidequery: Unresolved/).waitFor({ timeout: gradeMs });
    await workbench.screenshot('workspace-graded');
    await workbench.page.getByRole('button', { name: 'Show tests' }).click();
    await workbench.page.locator('.test-explorer .monaco-list-row').first().waitFor();
    await workbench.page.locator('.statusbar-item', { hasText: 'tidequery: running' }).waitFor();
  },
  gradeMs,
);

async function reload() {
  await workbench.reload();
  const status = workbench.page.locator('.statusbar-item', { hasText: 'tidequery: running' });
  await status.waitFor({ timeout: 60_000 });
  await explorerRow('typed.txt').waitFor();
}

test('a reload of the window loses nothing', async () => {
  await clearNotifications(workbench);
  await reload();
  await workbench.screenshot('workspace-reloaded');
});

test('the rest is pasted into a terminal', async () => {
  await clearNotifications(workbench);
  await openTerminal();
  const rest = ['src', 'README.md', '.gitignore'];
  const archive = execFileSync('tar', ['cz', '-C', REFERENCE, ...rest]).toString('base64');
  const lines = archive.match(/.{1,76}/g)?.join('\n');
  const text = `base64 -d <<'END' | tar xz\n${lines}\nEND\necho unpacked-$((40+2))\n`;
  await workbench.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await workbench.runCommand('Terminal: Paste into Active Terminal');
  const warning = workbench.dialog().getByRole('button', { name: 'Paste', exact: true });
  await Promise.race([warning.click().catch(() => undefined), workbench.page.waitForTimeout(1_000)]);
  await workbench.page.keyboard.press('Enter');
  await terminal().filter({ hasText: 'unpacked-42' }).waitFor({ timeout: 60_000 });
  await explorerRow('src').waitFor();
});

async function killExtensionHost() {
  const pids = [...workbench.serverLog().matchAll(/<(\d+)> Launched Extension Host Process/g)];
  process.kill(Number(pids.at(-1)?.[1]), 'SIGKILL');
  // VS Code starts another one by itself, which opens the attempt again.
  await expect
    .poll(() => workbench.serverLog().split('Launched Extension Host Process').length, { timeout: 30_000 })
    .toBeGreaterThan(pids.length + 1);
  await workbench.page.waitForTimeout(5_000);
}

test('the death of the extension host loses nothing that was saved', async () => {
  await killExtensionHost();
  await reload();
  await explorerRow('src').waitFor();
});

test('its death while the workspace is frozen for a grade: opened again, it is thawed', async () => {
  await clearNotifications(workbench);
  await workbench.runCommand('E2E-SWE: Grade workspace');
  await statusItem('frozen while graded').waitFor({ timeout: 30_000 });
  await killExtensionHost();
  await reload();
  // Right after a reload a view that is restored may take the focus from the terminal: typed again then.
  await expect
    .poll(
      async () => {
        await openTerminal();
        await workbench.page.keyboard.type('echo thawed-$((40+2))\n');
        const echo = terminal().filter({ hasText: 'thawed-42' });
        return echo.waitFor({ timeout: 10_000 }).then(
          () => true,
          () => false,
        );
      },
      { timeout: 60_000 },
    )
    .toBe(true);
});

test(
  'keep working: thawed while the tests still run, and graded all the same',
  async () => {
    await clearNotifications(workbench);
    await workbench.runCommand('E2E-SWE: Grade workspace');
    await statusItem('frozen while graded').waitFor({ timeout: 30_000 });
    await workbench.screenshot('workspace-frozen');
    await workbench.page.getByRole('button', { name: 'Keep working', exact: true }).click();
    await statusItem('running').waitFor({ timeout: 30_000 });
    await workbench.notification(/Grading tidequery/).waitFor();
    await workbench.screenshot('workspace-keep-working');
    await workbench.notification(/tidequery: Resolved/).waitFor({ timeout: gradeMs });
    await statusItem('running').waitFor();
  },
  gradeMs,
);

test(
  'submitted after a yes: resolved, and read-only from then on',
  async () => {
    // The verdict of the grade before is not the one that is waited for.
    await clearNotifications(workbench);
    await workbench.runCommand('E2E-SWE: Submit attempt…');
    await workbench.dialog().waitFor();
    await workbench.shoot('workspace-submit');
    await workbench.dialog().getByRole('button', { name: 'Submit', exact: true }).click();
    await workbench.notification(/tidequery: Resolved\. (\d+) of \1 passed/).waitFor({ timeout: gradeMs });
    await workbench.page.locator('.statusbar-item', { hasText: 'tidequery: submitted' }).waitFor();
    await workbench.shoot('workspace-submitted');
  },
  gradeMs,
);

test('the attempt stands in the tree of the first window, and is deleted there', async () => {
  await first.page.bringToFront();
  await row(first, 'tidequery').locator('.monaco-tl-twistie').click();
  await row(first, /^Attempt/).waitFor();
  await first.shoot('workspace-tree');
  await deleteAttempt();
});
