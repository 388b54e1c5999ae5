import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { useTheme } from './support/steps.ts';

let workbench: Workbench;
let folder = '';

const text = `version = "1.0"
artifacts = ["/app"]

[verifier]
environment_mode = "separate"
timeout_sec = "soon"
test_case_count = 46

[environment]
memory = "2G"  # enough
allow_internet = false
shm_size = "1g"
`;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'my-task-'));
  await cp(path.join(REPO, 'tasks/tidequery'), folder, { recursive: true });
  await writeFile(path.join(folder, 'task.toml'), text);
  workbench = await openWorkbench({ folder, extensionFrom: REPO });
});

afterAll(async () => {
  await workbench?.close();
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

test('faults, their list and a hover, in each theme', async () => {
  const { page } = workbench;
  await page.keyboard.press('Control+P');
  await workbench.pick_file('task.toml');
  await workbench.runCommand('Problems: Focus on Problems View');
  const problems = page.locator('.markers-panel .monaco-list-row');
  await problems.filter({ hasText: 'deprecated-key' }).first().waitFor();
  expect(await problems.filter({ hasText: 'e2e-swe' }).count()).toBeGreaterThanOrEqual(4);
});
