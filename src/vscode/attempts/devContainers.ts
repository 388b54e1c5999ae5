import * as vscode from 'vscode';
import { quietSettings } from '#core/attempt/devcontainerJson.ts';

const devContainersId = 'ms-vscode-remote.remote-containers';

/** The extension that attaches windows; it is made for the desktop VS Code of Microsoft alone. */
export function hasDevContainers(): boolean {
  return vscode.extensions.getExtension(devContainersId) !== undefined;
}

export async function showDevContainers(): Promise<void> {
  await vscode.commands.executeCommand('workbench.extensions.search', `@id:${devContainersId}`);
}

/** Settings of the person that let credentials or ports through; one that this VS Code does not know is none. */
export function leakySettings(): string[] {
  return Object.entries(quietSettings)
    .filter(([key, quiet]) => {
      const { section, name } = split(key);
      const configuration = vscode.workspace.getConfiguration(section);
      const isKnown = configuration.inspect(name)?.defaultValue !== undefined;
      return isKnown && configuration.get(name) !== quiet;
    })
    .map(([key]) => key);
}

/** In the person's own settings: Dev Containers reads them on this side, so those of a container come too late. */
export async function turnOff(keys: readonly string[]): Promise<void> {
  for (const [key, quiet] of Object.entries(quietSettings)) {
    if (!keys.includes(key)) continue;
    const { section, name } = split(key);
    await vscode.workspace.getConfiguration(section).update(name, quiet, vscode.ConfigurationTarget.Global);
  }
}

function split(key: string): { section: string; name: string } {
  const dot = key.lastIndexOf('.');
  return { section: key.slice(0, dot), name: key.slice(dot + 1) };
}
