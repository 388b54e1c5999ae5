import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { clearNotifications, gradeMs, row, showTasks, startPractice } from './support/steps.ts';

let first: Workbench;
let workbench: Workbench;

beforeAll(async () => {
  first = await openWorkbench({ extensionFrom: REPO });
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
  await deleteAttempt().catch(() => undefined);
  await first?.close();
});

shootFailures(() => workbench);

const statusItem = (text: string | RegExp) => workbench.page.locator('.statusbar-item', { hasText: text });
const clock = () => statusItem(/\d:\d\d:\d\d \/ 4:00:00/);

const seconds = async (): Promise<number> => {
  const [, hours, minutes, rest] = /(\d+):(\d\d):(\d\d) \//.exec((await clock().textContent()) ?? '') ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
};

test(
  'the clock of an attempt runs in the status bar, with its budget',
  async () => {
    await showTasks(first);
    workbench = await first.newWindow(() => startPractice(first, 'tidequery'));
    await statusItem('tidequery: running').waitFor();
    await clock().waitFor();
    const before = await seconds();
    await workbench.page.waitForTimeout(2_500);
    expect(await seconds()).toBeGreaterThan(before);
    await clearNotifications(workbench);
  },
  gradeMs,
);

test('a click pauses it, with a reason: the workspace is frozen and the clock stands', async () => {
  const { page } = workbench;
  await clock().click();
  await page.locator('.quick-input-widget:visible').getByText('Why do you pause?').waitFor();
  await workbench.screenshot('record-pause-ask');
  await workbench.type('lunch');
  await statusItem('tidequery: paused').waitFor();
  const before = await seconds();
  await page.waitForTimeout(2_500);
  expect(await seconds()).toBe(before);
  await clock().hover();
  await page.locator('.monaco-hover:visible', { hasText: 'Click to resume.' }).waitFor();
  await workbench.screenshot('record-paused');
});

test('a second click resumes it; a note can be made', async () => {
  const { page } = workbench;
  const before = await seconds();
  await clock().click();
  await statusItem('tidequery: running').waitFor();
  await page.waitForTimeout(2_500);
  expect(await seconds()).toBeGreaterThan(before);
  await workbench.runCommand('E2E-SWE: Add note…');
  await workbench.type('the parser first');
  await page.locator('.quick-input-widget:visible').waitFor({ state: 'detached' });
  await workbench.runCommand('E2E-SWE: New container terminal');
  const terminal = page.locator('.terminal-wrapper.active .xterm-rows');
  await terminal.filter({ hasText: /[#$]/ }).waitFor();
  await page.keyboard.type('echo seen-$((40+2)); false\n');
  await terminal.filter({ hasText: 'seen-42' }).waitFor();
  expect(await terminal.textContent()).not.toContain('633;');
  await workbench.screenshot('record-resumed');
});
