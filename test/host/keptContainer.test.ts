import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { listKept, openKept } from '#core/grading/keptContainers.ts';
import type { TestApi } from '#vscode/testApi.ts';
import type { GradeNode } from '#vscode/tree/nodes.ts';
import {
  acceptQuickPick,
  activateExtension,
  bundledTask,
  gradeNodes,
  lastNotification,
  until,
} from './support/window.ts';

/** The image is built by the first grade; a slow machine takes its time. */
const gradeTimeoutMs = 300_000;

suite('The kept container of a grade', () => {
  let api: TestApi;
  let engine: ContainerEngine;
  let grade: GradeNode;

  suiteSetup(async () => {
    api = await activateExtension();
    engine = await connectEngine({ env: process.env });
    await vscode.commands.executeCommand('e2eSwe.tasks.focus');
    await api.index.ready();
  });

  const newest = async (): Promise<GradeNode> => {
    const [node] = await gradeNodes(api);
    assert.ok(node, 'there is no grade');
    return node;
  };
  const isKept = async (): Promise<boolean> =>
    (await listKept(engine)).some(({ gradeDir }) => gradeDir === grade.summary.dir);
  const context = () => api.tree.getTreeItem(grade).contextValue;

  async function gradeAndKeep(): Promise<void> {
    const grading = vscode.commands.executeCommand('e2eSwe.gradeAndKeep', bundledTask(api));
    await acceptQuickPick('a grade begins', () => api.queue.jobs.length > 0);
    await grading;
    grade = await newest();
  }

  test('e2eSwe.gradeAndKeep leaves it, and the row says so', async function () {
    this.timeout(gradeTimeoutMs);
    await gradeAndKeep();
    assert.match(lastNotification(api), /^info: The container of the grade is kept/);
    assert.equal(context(), 'grade;kept');
    assert.equal(await isKept(), true);
  });

  test('e2eSwe.openGradeShell opens a terminal with a shell in it', async () => {
    await vscode.commands.executeCommand('e2eSwe.openGradeShell', grade);
    const terminal = await until('the terminal', () =>
      vscode.window.terminals.find(({ name }) => name === 'Grade of tidequery'),
    );
    const container = await openKept(engine, grade.summary.dir);
    const shells = async () =>
      (await container.processes()).filter((command) => command.startsWith('bash -i'));
    await until('the shell', async () => (await shells()).length === 1);
    terminal.dispose();
    await until('the end of the shell', async () => (await shells()).length === 0);
  });

  test('e2eSwe.openGradeShell is refused while an attempt at the task is under way', async function () {
    this.timeout(gradeTimeoutMs);
    const { room } = api.workspace.attempts;
    const task = bundledTask(api).entry.task;
    assert.ok(task);
    let id = '';
    for await (const event of room.start(task, {}, new AbortController().signal)) {
      if (event.kind === 'ready') id = event.attempt.id;
    }
    try {
      const before = vscode.window.terminals.length;
      for (const command of ['e2eSwe.openGradeShell', 'e2eSwe.gradeAndKeep']) {
        const about = command === 'e2eSwe.gradeAndKeep' ? bundledTask(api) : grade;
        await vscode.commands.executeCommand(command, about);
        assert.match(lastNotification(api), new RegExp(`^error: .* the attempt ${id} at it has not ended`));
      }
      assert.equal(vscode.window.terminals.length, before);
    } finally {
      await room.delete(id);
    }
  });

  test('e2eSwe.removeKeptContainer removes it; the grade stays', async () => {
    await vscode.commands.executeCommand('e2eSwe.removeKeptContainer', grade);
    assert.equal(lastNotification(api), 'info: The kept container of tidequery was removed.');
    assert.equal(await isKept(), false);
    assert.equal(context(), 'grade');
    assert.equal((await newest()).summary.dir, grade.summary.dir);
  });
});
