import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { Log } from '#core/base/log.ts';
import { fixActions, fixActionsMetadata } from './fixActions.ts';
import { completionTriggers, keyCompletion } from './keyCompletion.ts';
import { keyHover } from './keyHover.ts';
import { TaskTomlDiagnostics } from './taskTomlDiagnostics.ts';
import { taskTomlSelector } from './taskTomlDocuments.ts';

/** Editing help for task.toml: diagnostics, hovers, completion and quick fixes. */
export function registerTaskToml(log: Log): Disposable {
  const store = new DisposableStore();
  const { languages } = vscode;
  store.add(new TaskTomlDiagnostics(log));
  store.add(languages.registerHoverProvider(taskTomlSelector, keyHover));
  store.add(languages.registerCompletionItemProvider(taskTomlSelector, keyCompletion, ...completionTriggers));
  store.add(languages.registerCodeActionsProvider(taskTomlSelector, fixActions, fixActionsMetadata));
  return store;
}
