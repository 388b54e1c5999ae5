import * as vscode from 'vscode';
import { DisposableStore } from '#core/base/disposable.ts';
import { requireWindowAttempt } from '#vscode/attempts/pickAttempt.ts';
import { abortOn } from '#vscode/cancellation.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { workspaceScheme } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { askQuery } from './askQuery.ts';
import type { SearchPlace } from './listFiles.ts';
import { type SearchQuery, searchFiles } from './searchFiles.ts';
import { countOf, type SearchView } from './searchView.ts';

export interface SearchDeps {
  readonly sessions: WorkspaceSessions;
  readonly view: SearchView;
}

/** Searches the files of the workspace and shows the results in a view; VS Code's own search does not reach them. */
export function searchWorkspace({ sessions, view }: SearchDeps): CommandHandler {
  return async (argument) => {
    const session = await sessions.get(requireWindowAttempt());
    await session.requireThawed();
    const query = isQuery(argument) ? argument : await askQuery(view.lastQuery, selectedText());
    await session.requireThawed();
    const store = new DisposableStore();
    const controller = new AbortController();
    // The view is in no hurry: it shows its progress bar and fills up meanwhile.
    void vscode.commands.executeCommand('e2eSwe.search.focus');
    try {
      await vscode.window.withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          cancellable: true,
          title: 'Searching the workspace',
        },
        async (progress, token) => {
          store.add(abortOn(token, controller));
          const outcome = await searchFiles(placeOf(session), query, controller.signal, (sofar) => {
            progress.report({ message: countOf(sofar.matchCount, 'result') });
            view.show(query, sofar, false);
          });
          view.show(query, outcome, true);
        },
      );
    } finally {
      store.dispose();
    }
  };
}

/** Empties the view of results. */
export function clearSearch({ view }: Pick<SearchDeps, 'view'>): CommandHandler {
  return () => view.clear();
}

export function placeOf(session: WorkspaceSession): SearchPlace {
  const { container, files } = session.open;
  const { workdir, user } = session.record;
  return { container, files, workdir, user };
}

/** What is selected in an editor of the workspace, on one line. */
function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== workspaceScheme || !editor.selection.isSingleLine) return '';
  return editor.document.getText(editor.selection);
}

function isQuery(value: unknown): value is SearchQuery {
  return typeof value === 'object' && value !== null && 'text' in value && 'useIgnoreFiles' in value;
}
