import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTask } from '../fixtures/tasks/makeTask.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { gradeMs, row, showTasks } from './support/steps.ts';

const taskName = 'baselined';

let first: Workbench;
let workbench: Workbench;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'corpus-'));
  await makeTask(path.join(folder, taskName));
  first = await openWorkbench({ folder, extensionFrom: REPO, theme: 'Dark Modern' });
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
    await workbench.runCommand('E2E-SWE: Open spec of this workspace').catch(() => undefined);
  },
  gradeMs,
);
