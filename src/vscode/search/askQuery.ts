import * as vscode from 'vscode';
import { DisposableStore } from '#core/base/disposable.ts';
import { CancelledError } from '#core/base/errors.ts';
import { splitGlobs } from './globs.ts';
import type { SearchQuery } from './searchFiles.ts';

type Toggle = 'isCaseSensitive' | 'isRegExp' | 'useIgnoreFiles';

const toggles: readonly { readonly key: Toggle; readonly icon: string; readonly title: string }[] = [
  { key: 'isCaseSensitive', icon: 'case-sensitive', title: 'Match case' },
  { key: 'isRegExp', icon: 'regex', title: 'Use regular expression' },
  { key: 'useIgnoreFiles', icon: 'exclude', title: 'Use exclude settings and ignore files' },
];

const emptyQuery: SearchQuery = {
  text: '',
  isRegExp: false,
  isCaseSensitive: false,
  include: [],
  exclude: [],
  useIgnoreFiles: true,
};

interface QueryButton extends vscode.QuickInputButton {
  readonly toggle: Toggle | 'globs';
}

/**
 * Asks what to search for, beginning with the last search. Buttons change the options: the sentence below the field
 * says which are on. Rejects with `CancelledError` when the person gives up.
 */
export async function askQuery(last: SearchQuery | undefined, selected: string): Promise<SearchQuery> {
  let query: SearchQuery = { ...emptyQuery, ...last, ...(selected === '' ? {} : { text: selected }) };
  for (;;) {
    const answer = await askText(query);
    query = answer.query;
    if (answer.isDone) return query;
    query = await askGlobs(query);
  }
}

/** One showing of the field; `isDone` is false when the person wants to name files first. */
function askText(start: SearchQuery): Promise<{ readonly query: SearchQuery; readonly isDone: boolean }> {
  return new Promise((resolve, reject) => {
    const store = new DisposableStore();
    const input = store.add(vscode.window.createInputBox());
    let query = start;
    input.title = 'Search in workspace';
    input.placeholder = 'Text to search for';
    input.value = query.text;
    input.valueSelection = [0, query.text.length];
    const render = (): void => {
      input.buttons = buttonsOf(query);
      input.prompt = optionsSentence(query);
      input.validationMessage = undefined;
    };
    render();
    const leave = (isDone: boolean): void => {
      resolve({ query: { ...query, text: input.value }, isDone });
      store.dispose();
    };
    store.add(
      input.onDidTriggerButton((button) => {
        const { toggle } = button as QueryButton;
        if (toggle === 'globs') {
          leave(false);
          return;
        }
        query = { ...query, [toggle]: !query[toggle] };
        render();
      }),
    );
    store.add(
      input.onDidAccept(() => {
        if (input.value === '') input.validationMessage = 'Type what to search for.';
        else leave(true);
      }),
    );
    store.add(
      input.onDidHide(() => {
        reject(new CancelledError());
        store.dispose();
      }),
    );
    input.show();
  });
}

function buttonsOf(query: SearchQuery): QueryButton[] {
  return [
    ...toggles.map(({ key, icon, title }) => ({
      iconPath: new vscode.ThemeIcon(icon, query[key] ? new vscode.ThemeColor('charts.blue') : undefined),
      tooltip: `${title}: ${query[key] ? 'on' : 'off'}`,
      toggle: key,
    })),
    { iconPath: new vscode.ThemeIcon('filter'), tooltip: 'Files to include and exclude', toggle: 'globs' },
  ];
}

/** "Match case, regular expression; in src/**; without *.json". */
export function optionsSentence(query: SearchQuery): string {
  const on = [
    query.isCaseSensitive ? 'match case' : 'any case',
    query.isRegExp ? 'regular expression' : 'plain text',
    query.useIgnoreFiles ? 'without ignored files' : 'with ignored files',
    ...(query.include.length > 0 ? [`in ${query.include.join(', ')}`] : []),
    ...(query.exclude.length > 0 ? [`not in ${query.exclude.join(', ')}`] : []),
  ].join(' · ');
  return `${on.charAt(0).toUpperCase()}${on.slice(1)}`;
}

async function askGlobs(query: SearchQuery): Promise<SearchQuery> {
  const ask = async (what: string, value: readonly string[]): Promise<readonly string[]> => {
    const text = await vscode.window.showInputBox({
      title: `Search in workspace: files to ${what}`,
      prompt: 'Patterns with commas between them; empty for none',
      placeHolder: 'For example src/**, *.py',
      value: value.join(', '),
    });
    if (text === undefined) throw new CancelledError();
    return splitGlobs(text);
  };
  const include = await ask('include', query.include);
  return { ...query, include, exclude: await ask('exclude', query.exclude) };
}
