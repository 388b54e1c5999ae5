import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { TestApi } from '#vscode/testApi.ts';
import type { PlannedItem } from '#vscode/testing/planItems.ts';
import {
  acceptQuickPick,
  activateExtension,
  bundledTask,
  gradeNodes,
  lastNotification,
  rowsBelow,
  until,
} from './support/window.ts';

/** The image is built by the first grade; a slow machine takes its time. */
const gradeTimeoutMs = 300_000;

function leaves(item: PlannedItem): PlannedItem[] {
  return item.children.length === 0 ? [item] : item.children.flatMap(leaves);
}

suite('Grading the bundled task', () => {
  let api: TestApi;
  let expected = 0;

  const shown = (): PlannedItem => {
    const item = api.tests.shown.get(bundledTask(api).entry.path);
    assert.ok(item, 'the Testing view shows nothing');
    return item;
  };

  suiteSetup(async () => {
    api = await activateExtension();
    await vscode.commands.executeCommand('e2eSwe.tasks.focus');
    await api.index.ready();
    expected = bundledTask(api).entry.task?.testCaseCount ?? 0;
    assert.ok(expected >= 25);
  });

  test('e2eSwe.gradeSolution resolves it, and every hidden test passes', async function () {
    this.timeout(gradeTimeoutMs);
    await vscode.commands.executeCommand('e2eSwe.gradeSolution', bundledTask(api));
    assert.match(lastNotification(api), new RegExp(`Resolved\\. ${expected} of ${expected} passed`));
    const tests = leaves(shown());
    assert.equal(tests.length, expected);
    assert.deepEqual(
      tests.filter((test) => test.outcome?.state !== 'passed').map((test) => test.label),
      [],
    );
    const [grade] = await gradeNodes(api);
    assert.equal(grade?.summary.verdict, 'resolved');
    assert.equal((api.tree.getTreeItem(bundledTask(api)).iconPath as vscode.ThemeIcon).id, 'pass');
  });

  test('e2eSwe.gradeEmpty does not resolve it, and says why in tree and Testing view', async function () {
    this.timeout(gradeTimeoutMs);
    await vscode.commands.executeCommand('e2eSwe.gradeEmpty', bundledTask(api));
    assert.match(lastNotification(api), /^warning: tidequery: Unresolved\. .*\b0 of/);
    const bad = leaves(shown()).filter((test) => test.outcome?.state !== 'passed');
    assert.ok(bad.length > 0);
    const grades = await gradeNodes(api);
    assert.deepEqual(
      grades.slice(0, 2).map(({ summary }) => `${summary.source} ${summary.verdict}`),
      ['empty unresolved', 'solution resolved'],
    );
    assert.ok((await rowsBelow(api, grades[0])).length > 0, 'the grade has no rows');
    assert.equal((api.tree.getTreeItem(bundledTask(api)).iconPath as vscode.ThemeIcon).id, 'error');
  });

  test('e2eSwe.grade asks for task and source; e2eSwe.cancelGrade stops it without a trace', async function () {
    this.timeout(gradeTimeoutMs);
    const before = (await gradeNodes(api)).length;
    const grading = vscode.commands.executeCommand('e2eSwe.grade', bundledTask(api));
    await acceptQuickPick('a grade begins', () => api.queue.jobs.length > 0);
    const [job] = await until('the tree shows it', async () =>
      (await api.tree.getChildren(bundledTask(api))).filter((row) => row.kind === 'job'),
    );
    assert.equal(job?.job.source.kind, 'solution');
    await vscode.commands.executeCommand('e2eSwe.cancelGrade', job);
    await grading;
    assert.deepEqual(api.queue.jobs, []);
    assert.equal((await gradeNodes(api)).length, before);
  });

  test('e2eSwe.cancelGrade with nothing to stop says so', async () => {
    await vscode.commands.executeCommand('e2eSwe.cancelGrade');
    assert.equal(lastNotification(api), 'info: No grade is running.');
  });

  test('e2eSwe.openGrade shows an older grade again', async () => {
    const [, solution] = await gradeNodes(api);
    await vscode.commands.executeCommand('e2eSwe.openGrade', solution);
    assert.equal(shown().label, 'tidequery (Reference solution)');
    assert.ok(leaves(shown()).every((test) => test.outcome?.state === 'passed'));
  });

  test('e2eSwe.openGradeLog opens the verifier log, read-only', async () => {
    const [, solution] = await gradeNodes(api);
    await vscode.commands.executeCommand('e2eSwe.openGradeLog', solution);
    const editor = await until('the log is open', () => vscode.window.activeTextEditor);
    assert.equal(editor.document.uri.scheme, 'e2e-swe-grade');
    assert.ok(editor.document.getText().length > 0, 'the log is empty');
    assert.equal(vscode.workspace.fs.isWritableFileSystem('e2e-swe-grade'), false);
  });

  test('e2eSwe.openGradeFolder tells where the grade is kept', async function () {
    const [grade] = await gradeNodes(api);
    assert.ok(grade);
    await access(grade.summary.dir);
    // On the desktop the system's file manager opens, which a test cannot see.
    if (vscode.env.remoteName === undefined) this.skip();
    await vscode.commands.executeCommand('e2eSwe.openGradeFolder', grade);
    assert.equal(lastNotification(api), `info: The grade is kept in ${grade.summary.dir}.`);
  });

  test('e2eSwe.harborCheck says how to get Harbor, and what a Harbor that fails left', async function () {
    this.timeout(gradeTimeoutMs);
    const configuration = vscode.workspace.getConfiguration();
    const [grade] = await gradeNodes(api);
    const compare = async (command: string): Promise<string> => {
      await configuration.update('e2eSwe.harborCommand', command, vscode.ConfigurationTarget.Global);
      await vscode.commands.executeCommand('e2eSwe.harborCheck', grade);
      return lastNotification(api);
    };
    try {
      assert.match(await compare('no-such-harbor'), /^error: There is no command "no-such-harbor" .*harbor/s);
      assert.match(await compare('/bin/false'), /^error: .*Harbor/s);
    } finally {
      await configuration.update('e2eSwe.harborCommand', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('a run of the Testing view grades again', async function () {
    this.timeout(gradeTimeoutMs);
    const before = (await gradeNodes(api)).length;
    const running = vscode.commands.executeCommand(
      'testing.run.uri',
      vscode.Uri.file(path.join(bundledTask(api).entry.path, 'task.toml')),
    );
    await acceptQuickPick('a grade begins', () => api.queue.jobs.length > 0);
    await running;
    await until('the grade is over', async () => (await gradeNodes(api)).length === before + 1);
    assert.equal((await gradeNodes(api))[0]?.summary.source, 'solution');
  });
});
