import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { activateExtension, bundledTask, scratchFolder, until } from './support/window.ts';

const faults = `version = "1.0"
artifacts = ["/app"]

[verifier]
environment_mode = "separate"
timeout_sec = "soon"
test_case_count = 46

[environment]
memory = "2G"  # enough
allow_internet = false
`;

suite('task.toml in the editor', () => {
  let folder = '';
  let uri = vscode.Uri.file('/');
  let document: vscode.TextDocument;

  suiteSetup(async () => {
    const api = await activateExtension();
    await api.index.ready();
    folder = scratchFolder(api, 'toml');
    await cp(bundledTask(api).entry.path, folder, { recursive: true });
    const file = path.join(folder, 'task.toml');
    await writeFile(file, faults);
    // The verifier has an image, whatever the bundled task does about it.
    await writeFile(path.join(folder, 'tests/Dockerfile'), 'FROM scratch\n');
    uri = vscode.Uri.file(file);
    // As a person opens it: a document that an extension opens stays open for minutes after its tab.
    await vscode.commands.executeCommand('vscode.open', uri);
    document = await until('it is open', () => {
      const editor = vscode.window.activeTextEditor;
      return editor?.document.uri.fsPath === uri.fsPath ? editor.document : undefined;
    });
  });

  suiteTeardown(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(folder, { recursive: true, force: true });
  });

  function diagnostics(): readonly string[] {
    const severities = ['error', 'warning', 'info', 'hint'];
    return vscode.languages
      .getDiagnostics(uri)
      .filter(({ source }) => source === 'e2e-swe')
      .map(({ code, range, severity }) => `${document.getText(range)}: ${severities[severity]} ${code}`)
      .sort();
  }

  function allOf(expected: readonly string[]): Promise<unknown> {
    const wanted = [...expected].sort();
    return until(
      `diagnostics are ${wanted.join(' | ')}`,
      () => String(diagnostics()) === String(wanted),
    ).catch(
      // Says what there is instead.
      () => assert.deepEqual(diagnostics(), wanted),
    );
  }

  async function fix(title: string): Promise<void> {
    const at = document.getText().indexOf('memory');
    const range = new vscode.Range(document.positionAt(at), document.positionAt(at));
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      ...[uri, range],
    );
    const action = actions.find((one) => one.title === title);
    assert.ok(action?.edit, `no "${title}" among ${actions.map((one) => one.title).join(', ')}`);
    assert.ok(await vscode.workspace.applyEdit(action.edit));
  }

  test('its language is TOML, with or without a TOML extension', () => {
    assert.equal(document.languageId, 'toml');
  });

  test('faults are shown at what they are about', () =>
    allOf([
      '"soon": error invalid-value',
      'memory: warning deprecated-key',
      'allow_internet: warning deprecated-key',
      'version: hint legacy-version',
    ]));

  test('a hover tells what a key means', async () => {
    const at = document.positionAt(document.getText().indexOf('timeout_sec') + 2);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      ...[uri, at],
    );
    const text = hovers.flatMap(({ contents }) =>
      contents.map((one) => (typeof one === 'string' ? one : one.value)),
    );
    assert.match(text.join('\n'), /`timeout_sec`\*\* — number, in seconds[\s\S]*Default: `600\.0`/);
  });

  test('a quick fix writes the new spelling and keeps the comment', async () => {
    await fix('Write memory_mb = 2048');
    assert.match(document.getText(), /^memory_mb = 2048 {2}# enough$/m);
    await allOf([
      '"soon": error invalid-value',
      'allow_internet: warning deprecated-key',
      'version: hint legacy-version',
    ]);
  });

  test('source.fixAll.e2eSwe repairs the rest', async () => {
    await vscode.commands.executeCommand('editor.action.fixAll');
    await allOf(['"soon": error invalid-value']);
    assert.match(document.getText(), /^schema_version = "1\.0"$/m);
    assert.match(document.getText(), /^network_mode = "no-network"$/m);
  });

  test('completion suggests the values of a key', async () => {
    const at = document.positionAt(document.getText().indexOf('"separate"'));
    const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      ...[uri, at],
    );
    const labels = items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    assert.ok(labels.includes('"shared"'), labels.join(', '));
  });

  test('saving tells what is wrong with the folder', async () => {
    const edit = new vscode.WorkspaceEdit();
    const at = document.getText().indexOf('"soon"');
    edit.replace(uri, new vscode.Range(document.positionAt(at), document.positionAt(at + 6)), '900.0');
    await vscode.workspace.applyEdit(edit);
    await allOf([]);
    await rm(path.join(folder, 'instruction.md'));
    await document.save();
    assert.match(await readFile(uri.fsPath, 'utf8'), /^timeout_sec = 900\.0$/m);
    await allOf(['schema_version = "1.0": error missing-file']);
  });

  test('closing takes the diagnostics away', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await until('the diagnostics are gone', () => diagnostics().length === 0);
  });
});
