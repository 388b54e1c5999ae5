import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { clearNotifications, row } from './support/steps.ts';

let workbench: Workbench;

beforeAll(async () => {
  workbench = await openWorkbench({
    extensionFrom: REPO,
    settings: { 'e2eSwe.showBundledTasks': false, 'e2eSwe.dockerHost': 'unix:///nowhere/docker.sock' },
  });
});

afterAll(() => workbench?.close());

shootFailures(() => workbench);

test('no tasks and no engine: each says what to do', async () => {
  await workbench.showContainer('E2E-SWE');
  const welcome = workbench.page.locator('.welcome-view-content');
  await welcome.filter({ hasText: 'No tasks were found' }).waitFor();
  await welcome.filter({ hasText: 'No container engine answers' }).waitFor();
  await workbench.screenshot('welcome-nothing');
  expect(await workbench.page.getByRole('button', { name: 'Add folder of tasks' }).count()).toBeGreaterThan(
    0,
  );
});

test('Retry tells what was tried', async () => {
  await workbench.page.getByRole('button', { name: 'Retry' }).click();
  await workbench.notification(/nowhere\/docker\.sock/).waitFor();
  await workbench.screenshot('welcome-retry');
});

test('the engines to choose from, each with its version or why it does not answer', async () => {
  await clearNotifications(workbench);
  await workbench.page.getByRole('button', { name: 'Choose engine' }).first().click();
  const list = workbench.page.locator('.quick-input-list .monaco-list-row');
  await list
    .filter({ hasText: /(Docker|Podman) \d/ })
    .first()
    .waitFor({ timeout: 30_000 });
  await list
    .filter({ hasText: /nowhere.*no such socket/ })
    .first()
    .waitFor();
  await workbench.screenshot('choose-engine');
  await workbench.page.keyboard.press('Escape');
});

test('with tasks, what was tried stands above them', async () => {
  await workbench.page.getByRole('button', { name: 'Add folder of tasks' }).click();
  const input = workbench.page.locator('.quick-input-widget:visible input').first();
  const listed = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'tidequery' });
  // The dialog puts the home folder in when it is ready, over what was typed before.
  await expect
    .poll(
      async () => {
        await input.fill(`${REPO}tasks/`);
        return listed.waitFor({ timeout: 3_000 }).then(
          () => true,
          () => false,
        );
      },
      { timeout: 30_000 },
    )
    .toBe(true);
  await workbench.page.locator('.quick-input-widget').getByRole('button', { name: 'Add' }).click();
  await row(workbench, 'tidequery').waitFor();
  await workbench.page
    .getByText(/nowhere\/docker\.sock/)
    .first()
    .waitFor();
  await clearNotifications(workbench);
  await workbench.screenshot('tasks-no-engine');
});

test('grading without an engine is not graded, with the next step', async () => {
  await workbench.runCommand('E2E-SWE: Grade empty workspace');
  await workbench.pick('tidequery');
  await workbench.notification(/Not graded/).waitFor();
  await workbench.screenshot('grade-not-graded');
});

test('the walkthrough shows its steps', async () => {
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.pick('Grade your first task');
  await workbench.page.getByText('Browse the tasks').first().waitFor();
  await workbench.page.waitForTimeout(1_000);
  await workbench.screenshot('walkthrough');
});
