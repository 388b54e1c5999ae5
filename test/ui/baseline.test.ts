import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTask } from '../fixtures/tasks/makeTask.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { clearNotifications, gradeMs, row, showTasks } from './support/steps.ts';

const taskName = 'baselined';

let first: Workbench;
let workbench: Workbench;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'corpus-'));
  await makeTask(path.join(folder, taskName));
  first = await openWorkbench({ folder, extensionFrom: REPO, manyThemes: true });
  workbench = first;
});

const engine = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' });

afterAll(async () => {
  if (workbench !== first) await workbench?.page.close().catch(() => undefined);
  await first?.close();
  const label = `label=dev.e2e-swe.workbench.task=${taskName}`;
  for (const name of engine('volume', 'ls', '-q', '--filter', label).split('\n').filter(Boolean)) {
    engine('rm', '-f', name);
    engine('volume', 'rm', '-f', name);
  }
  const images = engine('images', '--format', '{{.Repository}}:{{.Tag}}', `e2e-swe/${taskName}`);
  for (const image of images.split('\n').filter(Boolean)) engine('rmi', image);
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

const status = (text: string | RegExp) => workbench.page.locator('.statusbar-item', { hasText: text });
const input = () => workbench.page.locator('.quick-input-widget:visible');
const title = () => input().locator('.quick-input-title');

/** Answers the open step by the keyboard alone, once it is there. */
async function answer(question: RegExp, step: string, keys: readonly string[] = []): Promise<void> {
  const { page } = workbench;
  await title().filter({ hasText: step }).waitFor();
  const ask = async (): Promise<string> =>
    `${await input().locator('input').first().getAttribute('placeholder')} ${await input().textContent()}`;
  await expect.poll(ask).toMatch(question);
  for (const key of keys) {
    if (key.length > 1 && /^[A-Z]/.test(key)) await page.keyboard.press(key);
    else await page.keyboard.type(key);
  }
  await page.keyboard.press('Enter');
}

test('Escape leaves the form, and nothing is started', async () => {
  await showTasks(first);
  await row(first, taskName).click();
  await first.runCommand('E2E-SWE: Start attempt');
  await first.pick(taskName);
  await answer(/How is this attempt meant/, 'Start attempt at', ['ArrowDown']);
  await answer(/Under which pseudonym/, '2/');
  await input().getByText('A pseudonym is needed.').waitFor();
  await first.screenshot('baseline-form-wrong');
  await first.page.keyboard.press('Escape');
  await input().waitFor({ state: 'detached' });
  expect(await row(first, /^Attempt/).count()).toBe(0);
});

test(
  'a measured attempt is started by the keyboard; its clock stands, and its spec is not shown',
  async () => {
    const { page } = first;
    await first.runCommand('E2E-SWE: Start attempt');
    await first.pick(taskName);
    await answer(/How is this attempt meant/, 'Start attempt at', ['ArrowDown']);
    await answer(/Under which pseudonym/, '2/', ['otter-7']);
    await answer(/What did you know of this task/, '3/');
    await answer(/Years of work/, '4/', ['5']);
    // Back, and on again: what was answered is still there.
    await title().filter({ hasText: '5/' }).waitFor();
    await page.keyboard.press('Control+Alt+Minus');
    await answer(/Years of work/, '4/');
    await answer(/good at/, '5/', ['python']);
    await title().filter({ hasText: '6/' }).waitFor();
    await first.screenshot('baseline-form-dark');
    await answer(/May AI help/, '6/');
    await answer(/other devices/, '7/', ['ArrowDown']);
    await answer(/What does a grade show/, '8/');
    await answer(/May you grade/, '9/');
    for (const step of ['10/', '11/', '12/']) await answer(/may stay empty/, step);
    workbench = await first.newWindow(() => answer(/fixed from here on/, '13/').then(() => undefined));
    await status(`${taskName}: not started`).waitFor({ timeout: 60_000 });
    await status(/Start the clock \(1:00:00\)/).waitFor();
    await workbench.page.getByRole('button', { name: 'Start the clock' }).first().waitFor();
    await workbench.page.waitForTimeout(2_500);
    expect(await workbench.page.locator('.tab').allTextContents()).toEqual([]);
    await workbench.shoot('baseline-waiting');
  },
  gradeMs,
);

const view = (text: string | RegExp) => workbench.tree(/^Attempt/).filter({ hasText: text });

test('the start shows the spec, thaws the workspace, and the clock runs', async () => {
  const { page } = workbench;
  await workbench.runCommand('E2E-SWE: Open spec of this workspace');
  await workbench.notification(/is not shown before the clock/).waitFor();
  await clearNotifications(workbench);
  await page.getByRole('button', { name: 'Start the clock' }).first().click();
  await status(`${taskName}: running`).waitFor();
  await page.locator('.tab', { hasText: 'Preview' }).waitFor();
  await status(/:\d\d \/ 1:00:00/).waitFor();
  await view(/Running.*the clock runs/).waitFor();
  await clearNotifications(workbench);
  // Rows that do not fit are not there for a test.
  for (const other of ['Tasks', 'Search in workspace'])
    await page.locator('.pane-header', { hasText: new RegExp(other, 'i') }).click();
  await view('Not controlled').click();
  await view('AI features').filter({ hasText: 'off in this window' }).waitFor();
  await view('Conditions').click();
  await view(/Pseudonym.*otter-7/).waitFor();
  await workbench.screenshot('baseline-running-all');
  await view('Conditions').click();
  await workbench.shoot('baseline-running');
});

test('a pause with its reason, and a note, are in the view', async () => {
  const { page } = workbench;
  await view(/^Running/).hover();
  await view(/^Running/)
    .getByRole('button', { name: /^Pause/ })
    .click();
  await workbench.type('lunch');
  await view(/^Paused.*lunch/).waitFor();
  await status(`${taskName}: paused`).waitFor();
  await page.waitForTimeout(1_500);
  await workbench.screenshot('baseline-paused');
  await view(/^Paused/).hover();
  await view(/^Paused/)
    .getByRole('button', { name: 'Resume' })
    .click();
  await view(/^Running/).waitFor();
  await view(/^Notes/).hover();
  await view(/^Notes/)
    .getByRole('button', { name: /note/ })
    .click();
  await workbench.type('the spec does not say what an empty line is');
  await view(/^Notes.*1/).waitFor();
  await view('what an empty line is').waitFor();
});

test(
  'a grade tells what it showed; the submission is followed by the debrief',
  async () => {
    const { page } = workbench;
    await view(/^Grades/).hover();
    await view(/^Grades/)
      .getByRole('button', { name: 'Grade workspace' })
      .click();
    await view(/^Grade 1.*1 of 2 passed · showed counts/).waitFor({ timeout: 90_000 });
    await clearNotifications(workbench);
    await workbench.shoot('baseline-graded');
    await workbench.runCommand('E2E-SWE: Submit attempt…');
    await workbench.dialog().getByRole('button', { name: 'Submit', exact: true }).click();
    await title().filter({ hasText: 'Debrief of the attempt' }).waitFor({ timeout: 90_000 });
    await workbench.screenshot('baseline-debrief');
    await answer(/How hard was the task/, '1/', ['ArrowDown']);
    await answer(/How long does it take/, '2/', ['1:30']);
    await answer(/How did you go about/, '3/', ['nothing at all']);
    await title().filter({ hasText: '4/' }).waitFor();
    await page.keyboard.press('Escape');
    await workbench.notification('The debrief can be filled in later').waitFor();
    await view(/^Submitted.*unresolved/).waitFor();
    await view(/^Debrief.*while you remember/).click();
    await answer(/How hard was the task/, '1/', ['ArrowDown']);
    await answer(/How long does it take/, '2/', ['1:30']);
    for (const step of ['3/', '4/', '5/', '6/']) await answer(/may stay empty/, step);
    await workbench.notification(/debrief of the attempt at .* is kept/).waitFor();
    await view(/^Debrief.*filled in/).waitFor();
    await clearNotifications(workbench);
    await workbench.runCommand('E2E-SWE: Show conditions');
    await page.locator('.tab', { hasText: 'Conditions' }).waitFor();
    await page.waitForTimeout(1_500);
    await workbench.shoot('baseline-over');
  },
  gradeMs,
);
