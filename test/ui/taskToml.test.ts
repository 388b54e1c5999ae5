import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Locator } from 'playwright-core';
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

/** A line of the editor by its text. */
function line(part: string): Locator {
  return workbench.page.locator('.monaco-editor .view-line').filter({ hasText: part }).first();
}

test('faults are marked and listed', async () => {
  const { page } = workbench;
  await page.keyboard.press('Control+P');
  await page.keyboard.type('task.toml');
  await workbench.pick('task.toml');
  await line('shm_size').waitFor();
  await page.locator('.monaco-editor .squiggly-error').first().waitFor();
  await workbench.runCommand('Problems: Focus on Problems View');
  const problems = page.locator('.markers-panel .monaco-list-row');
  await problems.filter({ hasText: 'deprecated-key' }).first().waitFor();
  // The file, one error, three warnings.
  expect(await problems.count()).toBe(5);
});

test.each(['Dark Modern', 'Light Modern', 'Dark High Contrast'])('a hover in %s', async (theme) => {
  const { page } = workbench;
  await useTheme(workbench, theme);
  await page.mouse.move(10, 10);
  await line('timeout_sec')
    .locator('span span')
    .first()
    .hover({ position: { x: 30, y: 8 } });
  const hover = page.locator('.monaco-hover').filter({ hasText: 'How long tests/test.sh may run' });
  await hover.waitFor();
  await page.waitForTimeout(500);
  await workbench.screenshot(`task-toml-${theme.replaceAll(' ', '-').toLowerCase()}`);
  expect(await hover.textContent()).toContain('Default: 600.0');
  await page.keyboard.press('Escape');
});

test('the light bulb repairs an old spelling', async () => {
  const { page } = workbench;
  await line('memory').click({ position: { x: 30, y: 8 } });
  await page.keyboard.press('Control+.');
  const menu = page.locator('.action-widget');
  await menu.getByText('Write memory_mb = 2048').waitFor();
  await workbench.screenshot('task-toml-quick-fix');
  await menu.getByText('Fix all old spellings in this file').click();
  await line('memory_mb').waitFor();
  await line('network_mode').waitFor();
  expect(await line('memory_mb').textContent()).toMatch(/^memory_mb.=.2048..#.enough$/);
});
