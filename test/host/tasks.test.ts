import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { specUri } from '#vscode/documents/specDocument.ts';
import type { TestApi } from '#vscode/testApi.ts';
import {
  acceptQuickPick,
  activateExtension,
  bundledTask,
  lastNotification,
  openTabs,
  rowsBelow,
  scratchFolder,
  until,
} from './support/window.ts';

suite('Tasks view', () => {
  let api: TestApi;
  let corpus = '';

  suiteSetup(async () => {
    api = await activateExtension();
    await vscode.commands.executeCommand('e2eSwe.tasks.focus');
    await api.index.ready();
    corpus = scratchFolder(api, 'corpus');
    await mkdir(path.join(corpus, 'broken'), { recursive: true });
    await writeFile(path.join(corpus, 'broken/task.toml'), 'version = "1.0"\n\n[metadata\n');
    await writeFile(path.join(corpus, 'broken/instruction.md'), 'Do it.\n');
  });

  suiteTeardown(() => rm(corpus, { recursive: true, force: true }));

  test('lists the bundled task with its facts', async () => {
    const [bundled] = await rowsBelow(api);
    assert.match(bundled ?? '', /^Bundled tasks — \d+ tasks?$/);
    const task = api.tree.getTreeItem(bundledTask(api));
    assert.match(String(task.description), /^python · .+ · \d+ tests$/i);
    assert.match(task.contextValue ?? '', /^task;valid;gradable$/);
  });

  test('asks the engine once it shows', async () => {
    await until('the engine answers', () => api.engine.state.kind === 'ready');
    assert.equal(api.view.message, undefined);
  });

  test('e2eSwe.addCorpus lists a folder, with the problems of what is in it', async () => {
    await vscode.commands.executeCommand('e2eSwe.addCorpus', vscode.Uri.file(corpus));
    const row = (await api.tree.getChildren()).find(
      (node) => node.kind === 'corpus' && node.corpus.path === corpus,
    );
    assert.ok(row, 'the folder is not listed');
    assert.deepEqual(await rowsBelow(api, row), ['broken — invalid']);
    const [broken] = await api.tree.getChildren(row);
    const [problem] = await api.tree.getChildren(broken);
    assert.ok(problem?.kind === 'problem');
    const { command } = api.tree.getTreeItem(problem);
    assert.ok(command, 'the problem opens nothing');
    await vscode.commands.executeCommand(command.command, ...(command.arguments ?? []));
    const editor = await until('the file is open', () => vscode.window.activeTextEditor);
    assert.equal(editor.document.uri.fsPath, path.join(corpus, 'broken/task.toml'));
    assert.equal(editor.selection.active.line + 1, problem.problem.line);
  });

  test('e2eSwe.refresh sees a task that is new on disk', async () => {
    await mkdir(path.join(corpus, 'other'), { recursive: true });
    await writeFile(path.join(corpus, 'other/task.toml'), 'version = "1.0"\n');
    await vscode.commands.executeCommand('e2eSwe.refresh');
    const row = (await api.tree.getChildren()).find(
      (node) => node.kind === 'corpus' && node.corpus.path === corpus,
    );
    assert.deepEqual(
      (await rowsBelow(api, row)).map((text) => text.split(' ')[0]),
      ['broken', 'other'],
    );
  });

  test('e2eSwe.removeCorpus from the palette takes the folder off the list', async () => {
    const removing = vscode.commands.executeCommand('e2eSwe.removeCorpus');
    await acceptQuickPick('the folder is gone', () =>
      api.index.corpora.every(({ path: at }) => at !== corpus),
    );
    await removing;
    assert.deepEqual(vscode.workspace.getConfiguration('e2eSwe').get('corpora'), []);
  });

  test('e2eSwe.importTrials lists a trial below its task until e2eSwe.removeImport', async () => {
    const job = scratchFolder(api, 'job');
    await mkdir(path.join(job, 'tidequery__AAAAAAA'), { recursive: true });
    const result = { task_name: 'tidequery', verifier_result: null, agent_info: { name: 'robot' } };
    await writeFile(path.join(job, 'tidequery__AAAAAAA/result.json'), JSON.stringify(result));
    await vscode.commands.executeCommand('e2eSwe.importTrials', vscode.Uri.file(job));
    assert.match(lastNotification(api), /^info: 1 trial is imported\.$/);
    const rows = async () =>
      (await api.tree.getChildren(bundledTask(api))).filter(({ kind }) => kind === 'imported');
    const [imported] = await rows();
    assert.ok(imported, 'the trial is not listed');
    assert.equal(api.tree.getTreeItem(imported).description, 'not graded');
    await vscode.commands.executeCommand('e2eSwe.removeImport', imported);
    assert.deepEqual(await rows(), []);
    await rm(job, { recursive: true });
  });

  test('e2eSwe.openSpec shows the spec rendered, without canary lines', async () => {
    const { task } = bundledTask(api).entry;
    assert.ok(task);
    await vscode.commands.executeCommand('e2eSwe.openSpec', bundledTask(api));
    await until('the preview is open', () => openTabs().some((label) => label.includes('tidequery.md')));
    const document = await vscode.workspace.openTextDocument(specUri(task));
    assert.ok(document.getText().length >= 8_000);
    assert.doesNotMatch(document.getText(), /canary/i);
  });

  test('e2eSwe.openSpec from the palette asks for the task', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const opening = vscode.commands.executeCommand('e2eSwe.openSpec');
    await acceptQuickPick('the preview is open', () =>
      openTabs().some((label) => /^Preview .+\.md$/.test(label)),
    );
    await opening;
  });

  test('e2eSwe.openSettings opens the settings', async () => {
    await vscode.commands.executeCommand('e2eSwe.openSettings');
    await until('the settings are open', () => openTabs().includes('Settings'));
  });

  test('e2eSwe.showLog shows the log', async () => {
    await vscode.commands.executeCommand('e2eSwe.showLog');
    await until('the log is visible', () =>
      vscode.window.visibleTextEditors.some(({ document }) => document.uri.scheme === 'output'),
    );
  });

  test('e2eSwe.checkEngine says what answers', async () => {
    await vscode.commands.executeCommand('e2eSwe.checkEngine');
    assert.match(lastNotification(api), /^info: The container engine answers: Docker \d+\.\d+.* on linux\//);
  });

  test('e2eSwe.chooseEngine makes the engine that answers the setting', async () => {
    const configuration = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('e2eSwe');
    await configuration().update(
      'dockerHost',
      'unix:///nowhere/docker.sock',
      vscode.ConfigurationTarget.Global,
    );
    try {
      const choosing = vscode.commands.executeCommand('e2eSwe.chooseEngine');
      // The first of the list is the first that answers.
      await acceptQuickPick(
        'the setting is another',
        () => configuration().get<string>('dockerHost') !== 'unix:///nowhere/docker.sock',
      );
      await choosing;
      assert.match(configuration().get<string>('dockerHost') ?? '', /:\/\//);
      assert.match(lastNotification(api), /^info: The container engine answers/);
    } finally {
      await configuration().update('dockerHost', undefined, vscode.ConfigurationTarget.Global);
    }
    await vscode.commands.executeCommand('e2eSwe.checkEngine');
    assert.equal(api.view.message, undefined);
  });

  test('e2eSwe.checkEngine says what was tried, and so does the view', async () => {
    const configuration = vscode.workspace.getConfiguration('e2eSwe');
    await configuration.update(
      'dockerHost',
      'unix:///nowhere/docker.sock',
      vscode.ConfigurationTarget.Global,
    );
    try {
      await vscode.commands.executeCommand('e2eSwe.checkEngine');
      assert.match(lastNotification(api), /^error: .*unix:\/\/\/nowhere\/docker\.sock/);
      assert.match(api.view.message ?? '', /\/nowhere\/docker\.sock/);
    } finally {
      await configuration.update('dockerHost', undefined, vscode.ConfigurationTarget.Global);
    }
    await vscode.commands.executeCommand('e2eSwe.checkEngine');
    assert.equal(api.view.message, undefined);
  });
});
