import * as vscode from 'vscode';
import { type CheckEngineDeps, checkEngine } from './checkEngine.ts';
import { type ChooseEngineDeps, chooseEngine } from './chooseEngine.ts';
import type { CommandHandlers } from './commandIds.ts';

type Deps = Omit<CheckEngineDeps, 'chooseEngine'> & Omit<ChooseEngineDeps, 'checkEngine'>;

/** The commands about the container engine; each leads to the other. */
export function engineCommands(deps: Deps) {
  const choosing = (): unknown => vscode.commands.executeCommand('e2eSwe.chooseEngine');
  const checking = checkEngine({ ...deps, chooseEngine: choosing });
  return {
    'e2eSwe.checkEngine': checking,
    'e2eSwe.chooseEngine': chooseEngine({ ...deps, checkEngine: checking }),
  } satisfies Partial<CommandHandlers>;
}
