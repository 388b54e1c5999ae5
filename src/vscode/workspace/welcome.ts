import * as vscode from 'vscode';
import { isOver } from '#core/attempt/states.ts';
import type { Task } from '#core/task/types.ts';
import { hasDevContainers } from '#vscode/attempts/devContainers.ts';
import { isolationSentence } from '#vscode/attempts/words.ts';
import { specUri } from '#vscode/documents/specDocument.ts';
import type { ChoiceMemory } from '#vscode/grading/chooseSource.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { WorkspaceSession } from './workspaceSession.ts';

const limits =
  'Search, Go to file, language servers and debuggers of VS Code do not reach its files: use “Search in workspace”, “Go to file in workspace” and the container terminal.';

/**
 * What the person should know of a workspace that was just opened, in one notification: the first time, and later only
 * what is not as it was then.
 */
export function tellMode(session: WorkspaceSession, notifier: Notifier, isFirst: boolean): void {
  const { isolation, how } = session.open;
  const isSecond = session.readOnly !== undefined && !isOver(session.record.state);
  const actions = [
    // Beside another window that works in it, a terminal would be refused.
    ...(isSecond
      ? [{ title: 'Open spec', run: () => vscode.commands.executeCommand('e2eSwe.openWorkspaceSpec') }]
      : [
          {
            title: 'New container terminal',
            run: () => vscode.commands.executeCommand('e2eSwe.openTerminal'),
          },
        ]),
    ...(hasDevContainers() && session.readOnly === undefined
      ? [{ title: 'Attach window…', run: () => vscode.commands.executeCommand('e2eSwe.attachWindow') }]
      : []),
  ];
  const warnings = [
    isolation.isIsolated ? undefined : isolationSentence(isolation),
    how === 'recreated'
      ? 'The container was made anew: what was installed outside the workspace is gone.'
      : undefined,
    isSecond
      ? 'Another window works in this attempt, so its files are read-only here. When that window is closed, come back to this one to work in it.'
      : undefined,
  ].filter((text) => text !== undefined);
  if (warnings.length > 0)
    notifier.warn([...warnings, isFirst && !isSecond ? limits : ''].join(' ').trim(), ...actions);
  else if (isFirst) notifier.info(`${isolationSentence(isolation)} ${limits}`, ...actions);
}

/**
 * In a group that is locked: files open beside it, never in its place. The preview is locked too, else it would show the
 * next Markdown file that is edited.
 */
export async function showSpecBeside(task: Task): Promise<void> {
  await vscode.commands.executeCommand('markdown.showPreview', specUri(task), undefined, { locked: true });
  await vscode.commands.executeCommand('workbench.action.lockEditorGroup');
}

const shownKey = 'workspace.shownSpec';

/** True the first time in a workspace: later VS Code restores the editors, as the person left them. */
export async function isFirstOpening(session: WorkspaceSession, memory: ChoiceMemory): Promise<boolean> {
  if (memory.get(shownKey) === session.id) return false;
  await memory.update(shownKey, session.id);
  return true;
}
