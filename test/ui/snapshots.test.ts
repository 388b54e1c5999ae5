import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTask } from '../fixtures/tasks/makeTask.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { clickStart, containerOf, engine, removeTraces, whenOpen } from './support/attempt.ts';
import { clearNotifications, gradeMs } from './support/steps.ts';

let first: Workbench;
let workbench: Workbench;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'snapshots-'));
  await makeTask(path.join(folder, 'moments'));
  first = await openWorkbench({ folder, extensionFrom: REPO, manyThemes: true });
  workbench = first;
  workbench = await whenOpen(await clickStart(first, 'moments'), 'moments');
}, gradeMs);

afterAll(async () => {
  if (workbench !== first) await workbench?.page.close().catch(() => undefined);
  await first?.close();
  removeTraces('moments');
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

const inside = (script: string): string =>
  engine('exec', '-w', '/app', containerOf('moments'), 'sh', '-c', script);
const tab = (name: string | RegExp) => workbench.page.locator('.tab', { hasText: name });
const box = () => workbench.page.locator('.quick-input-widget:visible');

/** Opens the list, and on the snapshot that was taken by hand what can be done with it. */
async function choose(action: string | RegExp): Promise<void> {
  await workbench.runCommand('E2E-SWE: Snapshots…');
  await box().getByText('Take a snapshot now').waitFor();
  await box().locator('input').first().fill('by hand');
  await workbench.pick('by hand');
  await box().getByText('Reset the workspace to it…').waitFor();
  await workbench.pick(action);
}

test('a snapshot is taken by hand, and listed', async () => {
  inside('printf "one\\n" >kept.txt');
  await workbench.runCommand('E2E-SWE: Snapshots…');
  await workbench.pick('Take a snapshot now');
  await workbench.notification(/The snapshot of .* is taken/).waitFor({ timeout: 60_000 });
  await clearNotifications(workbench);
  await workbench.runCommand('E2E-SWE: Snapshots…');
  await box().getByText('by hand').first().waitFor();
  await workbench.shoot('snapshots-list');
  await workbench.page.keyboard.press('Escape');
});

test('it is compared with the workspace, file by file', async () => {
  inside('printf "two\\n" >kept.txt; printf "new\\n" >came.txt');
  await choose('Compare with the workspace');
  await tab('the workspace').waitFor({ timeout: 60_000 });
  const changes = workbench.page.locator('.multiDiffEntry');
  await changes.filter({ hasText: 'kept.txt' }).first().waitFor();
  await changes.filter({ hasText: 'came.txt' }).first().waitFor();
  await clearNotifications(workbench);
  await workbench.shoot('snapshots-compare');
});

test('a file of it is opened read-only', async () => {
  await choose('Open read-only');
  await workbench.pick('/app/kept.txt');
  await tab('kept.txt').waitFor();
  const lines = workbench.page.locator('.editor-group-container.active .view-lines:visible').last();
  await expect.poll(() => lines.textContent()).toContain('one');
  await lines.click();
  await workbench.page.keyboard.type('x');
  await workbench.page
    .getByText(/Editor is read-only because/)
    .first()
    .waitFor();
});

test(
  'a hard reset asks, puts the workspace back, and is undone by its button',
  async () => {
    await choose('Reset the workspace to it');
    await workbench.pick('Hard');
    await workbench.dialog().getByRole('button', { name: 'Reset', exact: true }).click();
    await workbench.notification(/undoes it/).waitFor({ timeout: 60_000 });
    await expect.poll(() => inside('cat kept.txt; ls came.txt 2>/dev/null || echo gone')).toBe('one\ngone\n');
    await workbench.page.getByRole('button', { name: 'Undo', exact: true }).first().click();
    await expect
      .poll(() => inside('cat kept.txt came.txt 2>/dev/null || true'), { timeout: 60_000 })
      .toBe('two\nnew\n');
  },
  gradeMs,
);
