import { expect, test, vi } from 'vitest';
import type * as vscode from 'vscode';
import { commandIds } from '#vscode/commands/commandIds.ts';
import { activate } from '../../src/extension.ts';
import { ExtensionMode, fake, Uri } from '../fakes/vscode.ts';

vi.mock('vscode', async (original) => (await import('./taskTomlEditor.ts')).withEditor(await original()));

function makeContext(extensionMode: number): vscode.ExtensionContext {
  return {
    subscriptions: [],
    extensionMode,
    extension: { id: 'e2e-swe.e2e-swe-workbench' },
    globalStorageUri: Uri.file('/storage'),
    asAbsolutePath: (relative: string) => `/extension/${relative}`,
    globalState: { get: () => undefined, update: async () => undefined },
    workspaceState: { get: () => undefined, update: async () => undefined },
  } as unknown as vscode.ExtensionContext;
}

test('activation returns at once, registers all, and reads nothing', () => {
  fake.reset();
  const context = makeContext(ExtensionMode.Test);
  const api = activate(context);
  expect([...fake.commands.keys()]).toEqual([...commandIds]);
  expect([...fake.fileSystems.keys()].sort()).toEqual([
    'e2e-swe',
    'e2e-swe-conditions',
    'e2e-swe-grade',
    'e2e-swe-snapshot',
    'e2e-swe-spec',
  ]);
  expect(api?.index.wasRead).toBe(false);
  expect(api?.engine.state.kind).toBe('unknown');
  expect(api?.storeDir()).toBe('/storage');
  expect([...fake.context]).toEqual([
    ['e2eSwe.tasksState', 'loading'],
    ['e2eSwe.engineState', 'unknown'],
    ['e2eSwe.grading', false],
    ['e2eSwe.inWorkspace', false],
  ]);
  for (const part of context.subscriptions.reverse()) part.dispose();
  expect(fake.commands.size).toBe(0);
});

test('only tests get the inner parts', () => {
  fake.reset();
  expect(activate(makeContext(ExtensionMode.Production))).toBeUndefined();
});
