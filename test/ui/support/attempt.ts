import { execFileSync } from 'node:child_process';
import type { Locator } from 'playwright-core';
import type { Workbench } from '../harness/workbench.ts';
import { clearNotifications, showTasks, startPractice } from './steps.ts';

/** The docker command's output. */
export const engine = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' });

const taskFilter = (task: string): string => `label=dev.e2e-swe.workbench.task=${task}`;

/** The container of the only open attempt at a task. */
export function containerOf(task: string): string {
  return engine('ps', '-q', '--filter', taskFilter(task)).split('\n')[0] ?? '';
}

export function removeWorkspace(name: string): void {
  engine('rm', '-f', name);
  engine('volume', 'rm', '-f', name);
}

/** What attempts at a task left in the engine, and its images. */
export function removeTraces(task: string): void {
  const volumes = engine('volume', 'ls', '-q', '--filter', taskFilter(task));
  for (const name of volumes.split('\n').filter(Boolean)) removeWorkspace(name);
  const images = engine('images', '--format', '{{.Repository}}:{{.Tag}}', `e2e-swe/${task}`);
  for (const image of images.split('\n').filter(Boolean)) engine('rmi', image);
}

/** The item of the status bar with the text. */
export function status(workbench: Workbench, text: string | RegExp): Locator {
  return workbench.page.locator('.statusbar-item', { hasText: text });
}

/** The lines of the terminal that is shown. */
export function terminal(workbench: Workbench): Locator {
  return workbench.page.locator('.terminal-wrapper.active .xterm-rows');
}

export function explorerRow(workbench: Workbench, name: string): Locator {
  return workbench.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
}

/** Starts a practice attempt on a task's row; the window that opens. */
export async function clickStart(first: Workbench, task: string): Promise<Workbench> {
  await first.page.bringToFront();
  await showTasks(first);
  return first.newWindow(() => startPractice(first, task));
}

/** The window of an attempt, once it is open and its spec is shown; the banner is taken away. */
export async function whenOpen(window: Workbench, task: string): Promise<Workbench> {
  await status(window, `${task}: running`).waitFor({ timeout: 60_000 });
  await window.notification(/The container is offline/).waitFor();
  await window.page.locator('.tab', { hasText: 'Preview' }).waitFor();
  // The preview takes the focus once more when it is drawn.
  await window.page.waitForTimeout(2_000);
  await clearNotifications(window);
  return window;
}

export async function openTerminal(workbench: Workbench): Promise<void> {
  await workbench.runCommand('E2E-SWE: New container terminal');
  await terminal(workbench).filter({ hasText: /[#$]/ }).waitFor();
}

export async function typeLine(workbench: Workbench, text: string): Promise<void> {
  // Previews take the focus when they are drawn.
  await workbench.page.locator('.terminal-wrapper.active .xterm-screen').click();
  await workbench.page.keyboard.type(`${text}\n`);
}
