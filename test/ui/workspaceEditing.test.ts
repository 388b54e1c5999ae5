import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTask } from '../fixtures/tasks/makeTask.ts';
import { openWorkbench, REPO, shootFailures, type Workbench } from './harness/workbench.ts';
import {
  clickStart,
  containerOf,
  engine,
  explorerRow,
  removeTraces,
  status,
  terminal,
  whenOpen,
} from './support/attempt.ts';
import { clearNotifications, gradeMs } from './support/steps.ts';

let first: Workbench;
let workbench: Workbench;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'editing-'));
  await makeTask(path.join(folder, 'pages'));
  // In a browser VS Code saves by itself after a second.
  const settings = { 'files.autoSave': 'off' };
  first = await openWorkbench({ folder, extensionFrom: REPO, manyThemes: true, settings });
  workbench = first;
  workbench = await whenOpen(await clickStart(first, 'pages'), 'pages');
}, gradeMs);

afterAll(async () => {
  if (workbench !== first) await workbench?.page.close().catch(() => undefined);
  await first?.close();
  removeTraces('pages');
  await rm(folder, { recursive: true, force: true });
});

shootFailures(() => workbench);

/** Runs a script in the workspace, as a program of the builder's would. */
const inside = (script: string): string =>
  engine('exec', '-w', '/app', containerOf('pages'), 'sh', '-c', script);
const tab = (name: string) => workbench.page.locator('.tab', { hasText: name });
const active = (name: string) => workbench.page.locator('.tab.active', { hasText: name });
const lines = () => workbench.page.locator('.editor-group-container.active .monaco-editor .view-lines');

async function open(name: string) {
  await explorerRow(workbench, name).first().dblclick();
  await active(name).waitFor();
  await workbench.page.locator('.monaco-editor.focused').first().waitFor();
}

async function save() {
  await workbench.page.keyboard.press('Control+s');
  await workbench.page.locator('.tab.dirty').waitFor({ state: 'detached' });
}

test('a file that is renamed while it is edited keeps its editor, and what was typed', async () => {
  const { page } = workbench;
  inside('mkdir -p src/deep; printf "one\\n" >draft.txt; printf "two\\n" >src/deep/inner.txt');
  await explorerRow(workbench, 'draft.txt').waitFor();
  await open('draft.txt');
  await page.keyboard.type('typed ');
  await explorerRow(workbench, 'draft.txt').click();
  await page.keyboard.press('F2');
  const box = page.locator('.explorer-folders-view .monaco-inputbox input');
  await box.fill('renämed (1) #%.txt');
  await page.keyboard.press('Enter');
  await active('renämed (1) #%.txt').waitFor();
  await expect.poll(() => lines().textContent()).toContain('typed');
  await workbench.runCommand('File: Save');
  await page.locator('.tab.dirty').waitFor({ state: 'detached' });
  expect(inside('ls; cat renäm*')).toBe('instruction.md\nrenämed (1) #%.txt\nsrc\ntyped one\n');
});

test('the preview of the spec stays, whatever else is edited', async () => {
  inside('printf "# Mine\\n" >README.md');
  await explorerRow(workbench, 'README.md').waitFor();
  await open('README.md');
  await workbench.page.waitForTimeout(1_000);
  await tab('[Preview] pages.md').waitFor();
  expect(await workbench.webview().locator('body').textContent()).toContain('Write ok.txt and setup.sh.');
  await workbench.runCommand('View: Close Editor');
  inside('rm README.md');
  await explorerRow(workbench, 'README.md').waitFor({ state: 'detached' });
});

test('a file is dragged into a folder', async () => {
  const target = explorerRow(workbench, 'src').first();
  await explorerRow(workbench, 'renämed').dragTo(target);
  const ask = workbench.dialog().getByRole('button', { name: 'Move', exact: true });
  await ask.click({ timeout: 10_000 });
  await expect.poll(() => inside('find . -name "ren*"').trim()).toBe('./src/renämed (1) #%.txt');
  await active('renämed').waitFor();
});

test('what a program changes is shown, undo goes back over it, and the editor compares with what is saved', async () => {
  const { page } = workbench;
  inside('printf "from outside\\n" >"src/renämed (1) #%.txt"');
  await expect.poll(() => lines().textContent()).toContain('from');
  await lines().click();
  await page.keyboard.press('Control+z');
  await expect.poll(() => lines().textContent()).toContain('typed');
  await workbench.runCommand('File: Compare Active File with Saved');
  await page.locator('.monaco-diff-editor .line-delete').first().waitFor();
  await workbench.shoot('editing-diff');
  await workbench.runCommand('View: Close Editor');
  await active('renämed').waitFor();
  await lines().click();
  await save();
  await expect.poll(() => inside('cat src/ren*')).toBe('typed one\n');
});

test('a program that writes what is being edited: the save asks, and nothing is lost unseen', async () => {
  const { page } = workbench;
  await lines().click();
  await page.keyboard.type('mine ');
  inside('sleep 1; printf "theirs, and longer\\n" >"src/renämed (1) #%.txt"');
  await page.keyboard.press('Control+s');
  await workbench.notification(/content of the file is newer/).waitFor();
  expect(inside('cat src/ren*')).toBe('theirs, and longer\n');
  await workbench.shoot('editing-conflict');
  await page.getByRole('button', { name: 'Overwrite' }).click();
  await page.locator('.tab.dirty').waitFor({ state: 'detached' });
  expect(inside('cat src/ren*')).toContain('mine');
  await clearNotifications(workbench);
});

test('the editors of a folder that a program deletes keep what was not saved, and saving makes it again', async () => {
  const { page } = workbench;
  await explorerRow(workbench, 'deep').first().click();
  await open('inner.txt');
  await page.keyboard.type('unsaved ');
  await tab('inner.txt').and(page.locator('.dirty')).waitFor();
  inside('rm -r src');
  await explorerRow(workbench, 'src').waitFor({ state: 'detached' });
  // VS Code strikes their names through, and keeps them.
  await expect.poll(() => tab('inner.txt').innerHTML()).toMatch(/strikethrough|line-through|deleted/);
  await expect.poll(() => lines().textContent()).toContain('unsaved');
  await workbench.shoot('editing-deleted');
  await save();
  await expect.poll(() => inside('cat src/deep/inner.txt')).toBe('unsaved two\n');
});

test('names of every kind are listed and opened; a file that is too large says what to do', async () => {
  const odd = `printf 'a' >"$(printf 'two\\nlines')"; printf 'b' >"$(printf 'latin-\\344.txt')"; printf 'c' >" leading"; printf 'd' >'[x](command:y).txt'; truncate -s 300M huge.bin`;
  inside(odd);
  for (const name of ['two', 'latin-', 'leading', '[x](command:y).txt', 'huge.bin'])
    await explorerRow(workbench, name).first().waitFor();
  await open('latin-');
  await expect.poll(() => lines().textContent()).toBe('b');
  await workbench.page.keyboard.type('é');
  await save();
  await expect.poll(() => inside('cat latin*')).toBe('éb');
  await explorerRow(workbench, 'huge.bin').dblclick();
  await workbench.page.getByRole('button', { name: 'Open Anyway' }).click();
  await workbench.page
    .getByText(/huge\.bin has 300 MB, and files over 256 MB are not opened/)
    .first()
    .waitFor();
  await workbench.shoot('editing-huge');
  await workbench.dialog().getByRole('button', { name: 'OK' }).click();
  await workbench.runCommand('View: Close All Editors');
  inside('rm huge.bin');
});

test('a reload while setup is tried leaves no container behind', async () => {
  inside('echo "echo began; sleep 300" >setup.sh');
  const running = () =>
    engine('ps', '-q', '--filter', 'label=dev.e2e-swe.workbench=grade').split('\n').filter(Boolean);
  const before = running();
  await workbench.runCommand('E2E-SWE: Try setup');
  await terminal(workbench).filter({ hasText: 'began' }).waitFor({ timeout: 60_000 });
  const [tried] = running().filter((id) => !before.includes(id));
  expect(tried).toBeDefined();
  await workbench.reload();
  await status(workbench, 'pages: running').waitFor({ timeout: 60_000 });
  await expect.poll(() => running(), { timeout: 30_000 }).not.toContain(tried);
});
