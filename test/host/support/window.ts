import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import type { TestApi } from '#vscode/testApi.ts';
import type { GradeNode, TaskNode, TreeNode } from '#vscode/tree/nodes.ts';

const extensionId = 'e2e-swe.e2e-swe-workbench';
const pollMs = 100;
const patienceMs = 60_000;

/** The extension's parts, as its activation hands them to tests. */
export async function activateExtension(): Promise<TestApi> {
  const extension = vscode.extensions.getExtension<TestApi>(extensionId);
  assert(extension, `${extensionId} is not there`);
  const api = await extension.activate();
  assert(api, 'the extension does not know that it is being tested');
  return api;
}

/** Waits until something is the case; fails with what it was waiting for. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen as NonNullable<T>;
    if (Date.now() > end) assert.fail(`${what}: not within ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** The bundled task that is graded for real. */
export function bundledTask(api: TestApi): TaskNode {
  const entry = api.index.corpora
    .flatMap((corpus) => corpus.entries)
    .find(({ name }) => name === 'tidequery');
  const node = entry && api.tree.nodeOf(entry);
  assert(node, 'the bundled task is not listed');
  return node;
}

export async function gradeNodes(api: TestApi): Promise<GradeNode[]> {
  const rows = await api.tree.getChildren(bundledTask(api));
  return rows.filter((row): row is GradeNode => row.kind === 'grade');
}

/** Rows below a row, as "label — description". */
export async function rowsBelow(api: TestApi, parent?: TreeNode): Promise<string[]> {
  const rows = await api.tree.getChildren(parent);
  return rows.map((row) => {
    const { label, description } = api.tree.getTreeItem(row);
    return description ? `${label} — ${description}` : String(label);
  });
}

/** The newest notification. */
export function lastNotification(api: TestApi): string {
  const last = api.notifier.history.at(-1);
  return last ? `${last.severity}: ${last.message}` : '';
}

/** Accepts the entry that an open quick pick has in focus, once it is there, until `done` says that it worked. */
export async function acceptQuickPick(what: string, done: () => boolean, steps = 0): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (let step = 0; step < steps; step++) {
    await vscode.commands.executeCommand('workbench.action.quickOpenSelectNext');
  }
  await until(what, async () => {
    if (done()) return true;
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    await new Promise((resolve) => setTimeout(resolve, 200));
    return done();
  });
}

export function openTabs(): string[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
}

/** A folder for a test's own files, inside the run's temporary folder. */
export function scratchFolder(api: TestApi, name: string): string {
  return path.join(api.storeDir(), 'test-scratch', name);
}
