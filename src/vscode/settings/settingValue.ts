import * as vscode from 'vscode';
import type { Disposable } from '#core/base/disposable.ts';

/** One setting: its key, its default, and the only way to its value. */
export interface Setting<T> {
  /** Full key, as the manifest has it. */
  readonly key: string;
  readonly defaultValue: T;
  get(): T;
  /** Writes where the value comes from now: the workspace when that sets it, else the user's settings. */
  update(value: T): Promise<void>;
  onDidChange(listener: (value: T) => void): Disposable;
}

/**
 * Defines a setting. `parse` returns undefined for a value of the wrong shape (settings.json is edited by hand),
 * which then counts as the default.
 */
export function defineSetting<T>(
  key: string,
  defaultValue: T,
  parse: (value: unknown) => T | undefined,
): Setting<T> {
  const dot = key.lastIndexOf('.');
  const section = key.slice(0, dot);
  const name = key.slice(dot + 1);
  const get = (): T => parse(vscode.workspace.getConfiguration(section).get(name)) ?? defaultValue;
  return {
    key,
    defaultValue,
    get,
    async update(value) {
      const configuration = vscode.workspace.getConfiguration(section);
      const target =
        configuration.inspect(name)?.workspaceValue === undefined
          ? vscode.ConfigurationTarget.Global
          : vscode.ConfigurationTarget.Workspace;
      await configuration.update(name, value, target);
    },
    onDidChange: (listener) =>
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(key)) listener(get());
      }),
  };
}

/** For `parse`: a string without blanks at its ends. */
export function trimmedString(value: unknown): string | undefined {
  return typeof value === 'string' ? value.trim() : undefined;
}
