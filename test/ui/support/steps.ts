import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import type { Workbench } from '../harness/workbench.ts';

/** A grade may have to build the image first. */
export const gradeMs = 240_000;

/** A row of the Tasks view whose text has these words. */
export function row(workbench: Workbench, text: string | RegExp): Locator {
  return workbench.tree('Tasks').filter({ hasText: text }).first();
}

/** Shows the Tasks view and waits for its first rows. */
export async function showTasks(workbench: Workbench): Promise<void> {
  await workbench.showContainer('E2E-SWE');
  await row(workbench, 'Bundled tasks').waitFor({ timeout: 60_000 });
}

/** Grades the bundled task through palette and quick picks; ends when the verdict is told. */
export async function gradeTidequery(workbench: Workbench, what: string | RegExp): Promise<Locator> {
  await workbench.runCommand('E2E-SWE: Grade…');
  await workbench.pick('tidequery');
  await workbench.pick(what);
  const verdict = workbench.notification(/tidequery: (Resolved|Unresolved|Not graded)/);
  await verdict.waitFor({ timeout: gradeMs });
  return verdict;
}

/** Rows of the Testing view, in the order in which they stand. */
export function testRows(workbench: Workbench): Locator {
  return workbench.page.locator('.test-explorer .monaco-list-row');
}

/** The row of the graded task in the Testing view. */
export function taskRow(workbench: Workbench): Locator {
  return testRows(workbench).filter({ hasText: 'tidequery' }).first();
}

/** Opens the task in the Testing view, and its first suite; the first test has the focus then. */
export async function expandTests(workbench: Workbench): Promise<void> {
  await taskRow(workbench).click();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight']) {
    await workbench.page.keyboard.press(key);
    await workbench.page.waitForTimeout(200);
  }
}

/** Chooses a colour theme as a person would. */
export async function useTheme(workbench: Workbench, name: string): Promise<void> {
  await workbench.runCommand('Preferences: Color Theme');
  await workbench.type(name);
  await workbench.page.waitForTimeout(500);
}

/** Takes every notification off the screen. */
export async function clearNotifications(workbench: Workbench): Promise<void> {
  await workbench.runCommand('Notifications: Clear All Notifications');
}

/** Starts an attempt at a task of the Tasks view, which opens a window. */
export async function startPractice(workbench: Workbench, task: string): Promise<void> {
  await row(workbench, task).hover();
  await row(workbench, task).getByRole('button', { name: 'Start attempt' }).click();
  await workbench.pick('Practice');
}

/** Answers VS Code's own file dialog; it puts a folder in when it is ready, over what was typed before. */
export async function choosePath(workbench: Workbench, place: string, button: string): Promise<void> {
  const widget = workbench.page.locator('.quick-input-widget:visible');
  const input = widget.locator('input').first();
  const ok = widget.getByRole('button', { name: button, exact: true });
  await ok.waitFor();
  await expect
    .poll(
      async () => {
        await input.fill(place);
        await workbench.page.waitForTimeout(1_000);
        return input.inputValue();
      },
      { timeout: 30_000 },
    )
    .toBe(place);
  await ok.click();
}
