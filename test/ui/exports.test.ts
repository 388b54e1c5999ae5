import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { readTrialResult } from '#core/trial/readTrialResult.ts';
import { aTask, storeAttempt } from '../core/attempt/storedAttempt.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { choosePath, clearNotifications, row, useTheme } from './support/steps.ts';

/** No engine is needed for what leaves the store, and for what others made. */

let workbench: Workbench;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'exports-'));
  const store = new AttemptStore(path.join(folder, 'store'));
  const task = await aTask(folder, 'totals');
  await storeAttempt(store, task, {
    record: { state: 'submitted' },
    happenings: [{ kind: 'thawed' }, 60_000, { kind: 'note', text: 'thought' }],
    files: { 'ok.txt': 'ok' },
    grade: { verifier: { 'reward.txt': '1\n' } },
  });
  await addTrial('job/totals__AAAAAAA', { task_name: 'totals', verifier_result: { rewards: { reward: 0 } } });
  await mkdir(path.join(folder, 'out'));
  workbench = await openWorkbench({
    folder: path.join(folder, 'corpus'),
    extensionFrom: REPO,
    settings: {
      'e2eSwe.showBundledTasks': false,
      'e2eSwe.storeFolder': store.storeDir,
      'e2eSwe.dockerHost': 'unix:///nowhere/docker.sock',
    },
  });
  await workbench.showContainer('E2E-SWE');
  await row(workbench, 'totals').waitFor({ timeout: 60_000 });
});

afterAll(async () => {
  await workbench?.close();
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

async function addTrial(name: string, result: object): Promise<void> {
  const dir = path.join(folder, name);
  await mkdir(path.join(dir, 'verifier'), { recursive: true });
  await writeFile(
    path.join(dir, 'result.json'),
    JSON.stringify({ ...result, agent_info: { name: 'robot' } }),
  );
  const tests = ['passed', 'failed'].map((status) => ({ name: `sums ${status}`, status }));
  await writeFile(path.join(dir, 'verifier/ctrf.json'), JSON.stringify({ results: { tests } }));
}

test('trials of a job stand below their task, with their tests', async () => {
  await workbench.runCommand('E2E-SWE: Import trials of Harbor…');
  await choosePath(workbench, path.join(folder, 'job'), 'Import');
  await workbench.notification(/1 trial is imported/).waitFor();
  await row(workbench, 'totals').click();
  await row(workbench, /Attempt/).waitFor();
  await row(workbench, /Imported: robot.*1 of 2 passed/).click();
  await workbench.page.keyboard.press('ArrowRight');
  await row(workbench, /Tests/).waitFor();
  await clearNotifications(workbench);
  await workbench.screenshot('imported-trial');
});

test('an attempt is exported into a folder that is chosen', async () => {
  await workbench.runCommand('E2E-SWE: Export attempt…');
  await workbench.pick('totals');
  await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Anonymised' }).waitFor();
  await workbench.screenshot('export-attempt-how');
  await workbench.pick('As it is');
  await choosePath(workbench, path.join(folder, 'out'), 'Export into this folder');
  const told = workbench.notification(/The attempt is exported to/);
  await told.waitFor();
  const [name = ''] = await readdir(path.join(folder, 'out'));
  expect(await readTrialResult(path.join(folder, 'out', name))).toMatchObject({ verdict: 'resolved' });
  await workbench.screenshot('export-attempt-done');
  await workbench.page.getByRole('button', { name: 'Show trajectory' }).click();
  await workbench.page.locator('.view-lines', { hasText: 'ATIF-v1.7' }).waitFor();
  await clearNotifications(workbench);
  for (const theme of ['Light Modern', 'Dark High Contrast']) {
    await useTheme(workbench, theme);
    await workbench.screenshot(`exported-trajectory-${theme.split(' ').at(-1)?.toLowerCase()}`);
  }
});

test('the summary is written and opened', async () => {
  await workbench.runCommand('E2E-SWE: Export summary of attempts…');
  await workbench.pick('CSV, a row a task');
  await workbench.pick('Practice too');
  const file = path.join(folder, 'out', 'sum.csv');
  await choosePath(workbench, file, 'OK');
  await workbench.notification(/1 attempt is summed up/).waitFor();
  expect(await readFile(file, 'utf8')).toMatch(/^task,builders,.*\r\ntotals,/);
  await workbench.page.locator('.view-lines', { hasText: 'completion_rate' }).waitFor();
  await workbench.page.setViewportSize({ width: 700, height: 600 });
  await workbench.screenshot('export-summary-narrow');
});
