import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import { drain, sh, testScript } from '../docker/attemptSupport.ts';
import { docker, Lab, waitFor } from '../docker/support.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import { choosePath, clearNotifications, gradeMs, showTasks, useTheme } from './support/steps.ts';

const never = new AbortController().signal;

let lab: Lab;
let store: AttemptStore;
let attempts: Attempts;
let workbench: Workbench;
let out = '';

/** An attempt that is over, with three moments of its own. */
beforeAll(async () => {
  lab = await Lab.open();
  out = await mkdtemp(path.join(tmpdir(), 'curve-'));
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = new Attempts({ store, connect: async () => lab.engine, log: lab.log, hostEnv: {} });
  let id = '';
  for await (const event of attempts.start(await lab.task({ testScript }), {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
  const open = await attempts.open(id, never);
  for (const said of ['no', 'ok']) {
    await attempts.snapshot(id, never);
    await sh(open.container, `echo "echo ${said} >built.txt" >/app/setup.sh`);
    open.recorder?.append({ kind: 'note', text: said });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  await drain(attempts.submit(id, never));
  await open.close();
  workbench = await openWorkbench({
    folder: out,
    extensionFrom: REPO,
    theme: 'Dark Modern',
    settings: { 'e2eSwe.storeFolder': store.storeDir },
  });
}, gradeMs);

afterAll(async () => {
  await workbench?.close();
  for (const { id } of await store.list()) await attempts.delete(id);
  const images = docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']);
  for (const image of images.split('\n').filter(Boolean)) lab.owns(image);
  await lab.dispose();
  await rm(out, { recursive: true, force: true });
});

shootFailures(() => workbench);

test(
  'the score curve of an attempt that is over is made and shown, as a picture and as a table',
  async () => {
    await showTasks(workbench);
    await workbench.runCommand('E2E-SWE: Score curve…');
    await workbench.pick('shell-task');
    await workbench.page.locator('.quick-input-widget:visible').getByText('minutes of active time').waitFor();
    await workbench.type('0.01');
    const page = workbench.webview();
    await page.locator('h1', { hasText: 'Score curve of shell-task' }).waitFor({ timeout: 60_000 });
    const rows = page.locator('tr');
    expect(await rows.nth(1).textContent()).toMatch(
      /^0:00:0\d0:00:0\d1 of 2unresolved \(tests-failed\)afterwards/,
    );
    expect(await rows.last().textContent()).toMatch(/2 of 2resolvedofficial/);
    expect(await page.locator('figure').getAttribute('aria-label')).toContain('the official grade');
    await clearNotifications(workbench);
    await workbench.screenshot('curve-dark');
    for (const theme of ['Light Modern', 'Dark High Contrast']) {
      await useTheme(workbench, theme);
      await workbench.screenshot(`curve-${theme === 'Light Modern' ? 'light' : 'contrast'}`);
    }
    const size = workbench.page.viewportSize() ?? { width: 1400, height: 900 };
    await workbench.page.setViewportSize({ width: 480, height: 900 });
    await workbench.page.waitForTimeout(700);
    await workbench.screenshot('curve-narrow');
    await workbench.page.setViewportSize(size);
  },
  gradeMs,
);

test('it is exported as SVG, PNG and CSV', async () => {
  const signs = { SVG: '<svg ', PNG: '\x89PNG', CSV: 'snapshot,at' };
  for (const [format, sign] of Object.entries(signs)) {
    const file = path.join(out, `made.${format.toLowerCase()}`);
    await workbench
      .webview()
      .getByRole('button', { name: `Export ${format}` })
      .click();
    await choosePath(workbench, file, 'OK');
    await waitFor(file, async () => (await readFile(file, 'latin1').catch(() => '')).startsWith(sign));
  }
});
