import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';

let workbench: Workbench | undefined;

beforeAll(async () => {
  workbench = await openWorkbench({ folder: `${REPO}tasks`, extensionFrom: REPO });
});

afterAll(() => workbench?.close());

shootFailures(() => workbench);

test('the activity bar shows the container of the extension', async () => {
  const tab = workbench?.page.locator('.activitybar').getByRole('tab', { name: /^E2E-SWE/ });
  await tab?.waitFor({ timeout: 40_000 });
  await workbench?.screenshot('activity-bar');
  expect(await tab?.count()).toBe(1);
});
