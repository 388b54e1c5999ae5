import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commandIds } from '#vscode/commands/commandIds.ts';
import { activateExtension } from './support/window.ts';

suite('Activation', () => {
  test('is quick, and asks neither the engine nor the disk', async () => {
    const begun = performance.now();
    const api = await activateExtension();
    assert.ok(performance.now() - begun < 2_000, 'activation took more than 2 s');
    if (api.view.message === undefined) assert.notEqual(api.engine.state.kind, 'missing');
  });

  test('registers every command of the manifest', async () => {
    await activateExtension();
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      commandIds.filter((id) => !known.has(id)),
      [],
    );
  });
});
