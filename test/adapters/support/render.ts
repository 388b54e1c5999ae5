import type * as vscode from 'vscode';
import type { FakeRun } from '../../fakes/testRun.ts';

/** Clock times differ by machine; the text that tests compare has none. */
const clockTime = /\w{3} \d{1,2}, \d{4}, \d{1,2}:\d{2}.[AP]M/;

/** A tree view as a person would read it: icon, label, description, one row a line. */
export async function renderTree<T>(
  provider: vscode.TreeDataProvider<T>,
  parent?: T,
  indent = '',
): Promise<string> {
  const lines: string[] = [];
  for (const node of (await provider.getChildren(parent)) ?? []) {
    const item = await provider.getTreeItem(node);
    const icon = (item.iconPath as vscode.ThemeIcon | undefined)?.id;
    const description = item.description ? ` — ${item.description}` : '';
    lines.push(`${indent}[${icon}] ${item.label}${description}`.replace(clockTime, 'TIME'));
    if (item.collapsibleState) lines.push(await renderTree(provider, node, `${indent}  `));
  }
  return lines.filter((line) => line !== '').join('\n');
}

/** The items of the Testing view, in the order in which it sorts them. */
export function renderItems(items: vscode.TestItemCollection, indent = ''): string {
  const sorted = [...items]
    .map(([, item]) => item)
    .sort((a, b) => compare(a.sortText ?? a.label, b.sortText ?? b.label));
  return sorted
    .flatMap((item) => [
      `${indent}${item.label}${item.description ? ` — ${item.description}` : ''}`,
      renderItems(item.children, `${indent}  `),
    ])
    .filter((line) => line !== '')
    .join('\n');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A run as VS Code was told it. */
export function renderRun(run: FakeRun | undefined): string {
  return run ? [`run ${run.name}`, ...run.log, `end x${run.ended}`].join('\n') : 'no run';
}

/** A template literal without the indentation of the code around it. */
export function trimmed(text: string): string {
  const lines = text
    .replace(/^\n/, '')
    .replace(/\n\s*$/, '')
    .split('\n');
  const indent = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent)).join('\n');
}
