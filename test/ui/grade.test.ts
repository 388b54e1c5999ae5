import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import {
  clearNotifications,
  expandTests,
  gradeMs,
  gradeTidequery,
  row,
  showTasks,
  taskRow,
  useTheme,
} from './support/steps.ts';

let workbench: Workbench;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'my-try-'));
  await writeFile(path.join(folder, 'setup.sh'), 'exit 0\n');
  workbench = await openWorkbench({ folder, extensionFrom: REPO });
});

afterAll(async () => {
  await workbench?.close();
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

test('the Tasks view lists the bundled tasks', async () => {
  await showTasks(workbench);
  await row(workbench, 'tidequery').waitFor();
  expect(await row(workbench, 'tidequery').textContent()).toMatch(/python.*tests/s);
  await workbench.screenshot('tasks-tree');
  await row(workbench, 'tidequery').hover();
  await workbench.page.locator('.monaco-hover').filter({ hasText: 'Hidden tests expected' }).waitFor();
  await workbench.screenshot('tasks-tooltip');
  await workbench.page.keyboard.press('Escape');
});

test('the spec opens rendered', async () => {
  await row(workbench, 'tidequery').hover();
  await row(workbench, 'tidequery').getByRole('button', { name: 'Open spec' }).click();
  await workbench.webview().locator('h1').first().waitFor();
  await workbench.screenshot('spec');
  expect(await workbench.webview().locator('body').textContent()).not.toMatch(/canary/i);
});

test(
  'the reference solution: progress that counts, a verdict, green tests',
  async () => {
    await workbench.runCommand('E2E-SWE: Grade…');
    await workbench.pick('tidequery');
    await workbench.screenshot('grade-choose-source');
    await workbench.pick('Reference solution');
    await workbench
      .notification(/Grading tidequery \(Reference solution\).* \d+ s/)
      .first()
      .waitFor();
    await workbench.page.waitForTimeout(2_000);
    await workbench.screenshot('grade-progress');
    const verdict = workbench.notification(/tidequery: Resolved\. \d+ of \d+ passed/);
    await verdict.waitFor({ timeout: gradeMs });
    await workbench.screenshot('grade-resolved');
    await workbench.page.getByRole('button', { name: 'Show tests' }).click();
    await taskRow(workbench).waitFor();
    await expandTests(workbench);
    await workbench.screenshot('testing-resolved');
    expect(await taskRow(workbench).getAttribute('aria-label')).toMatch(
      /^tidequery \(Reference solution\) \(Passed\)/,
    );
  },
  gradeMs,
);

test(
  'an empty workspace: failures first, the reason in the tree',
  async () => {
    await clearNotifications(workbench);
    await gradeTidequery(workbench, 'Empty workspace');
    await workbench.screenshot('grade-unresolved');
    await workbench.page.getByRole('button', { name: 'Show tests' }).click();
    const failed = taskRow(workbench);
    await expect.poll(() => failed.getAttribute('aria-label')).toMatch(/\(Failed\)/);
    await expandTests(workbench);
    await workbench.page.waitForTimeout(1_500);
    await workbench.screenshot('testing-unresolved');
    await workbench.runCommand('Test Results: Focus on Test Results View');
    await workbench.page.locator('.xterm-rows', { hasText: 'Unresolved' }).waitFor();
    await workbench.screenshot('test-results-unresolved');
    await workbench.runCommand('View: Hide Panel');
    await showTasks(workbench);
    await row(workbench, 'Empty workspace').locator('.monaco-tl-twistie').click();
    await workbench.page.waitForTimeout(1_000);
    await workbench.screenshot('tasks-unresolved');
  },
  gradeMs,
);

test(
  'a folder of the workspace is offered and graded',
  async () => {
    await clearNotifications(workbench);
    const verdict = await gradeTidequery(workbench, path.basename(folder));
    expect(await verdict.textContent()).toMatch(/Unresolved.*\(Folder\)/s);
    await row(workbench, /^Folder/).waitFor();
  },
  gradeMs,
);

test('the other themes, and a narrow window', async () => {
  await clearNotifications(workbench);
  await showTasks(workbench);
  for (const theme of ['Dark Modern', 'Dark High Contrast']) {
    await useTheme(workbench, theme);
    await workbench.screenshot(`tasks-${theme.replaceAll(' ', '-').toLowerCase()}`);
  }
  await useTheme(workbench, 'Light Modern');
  await workbench.page.setViewportSize({ width: 620, height: 800 });
  await workbench.page.waitForTimeout(500);
  await workbench.screenshot('tasks-narrow');
  await workbench.page.setViewportSize({ width: 1400, height: 900 });
});

test('a grade is deleted after a yes', async () => {
  await row(workbench, /^Folder/).click({ button: 'right' });
  const item = workbench.page.getByRole('menuitem', { name: 'Delete grade…' });
  await item.hover();
  // A menu ignores clicks right after it opened.
  await workbench.page.waitForTimeout(500);
  await item.click();
  await workbench.dialog().waitFor();
  await workbench.screenshot('grade-delete');
  await workbench.dialog().getByRole('button', { name: 'Delete', exact: true }).click();
  await row(workbench, /^Folder/).waitFor({ state: 'detached' });
});
