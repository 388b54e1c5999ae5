import * as vscode from 'vscode';
import { findKeyDoc } from '#core/task/keyDocs.ts';
import type { KeyDoc } from '#core/task/keyDocs-tables.ts';
import { isHarborTask } from './isHarborTask.ts';
import { rangeOf } from './taskTomlDocuments.ts';
import { type Path, type Span, tomlTokens } from './tomlTokens.ts';

/** Tells what the key under the pointer means; the value of a key with fixed values tells of its key. */
export const keyHover: vscode.HoverProvider = {
  provideHover(document, position) {
    const found = keyAt(document.getText(), document.offsetAt(position));
    if (!found) return undefined;
    const markdown = new vscode.MarkdownString();
    markdown.appendMarkdown(keyMarkdown(found.doc));
    return new vscode.Hover(markdown, rangeOf(document, found.span));
  },
};

function keyAt(text: string, offset: number): { readonly doc: KeyDoc; readonly span: Span } | undefined {
  const tokens = tomlTokens(text);
  if (!isHarborTask(tokens)) return undefined;
  const holds = ({ start, end }: Span): boolean => start <= offset && offset <= end;
  const answer = (path: Path, span: Span) => {
    const doc = findKeyDoc(path);
    return doc && { doc, span };
  };
  for (const { parts, path: full, table } of [...tokens.headers.map(rooted), ...tokens.pairs]) {
    const index = parts.findIndex(({ span }) => holds(span));
    const span = parts[index]?.span;
    if (!span) continue;
    const names = parts.slice(0, index + 1).map(({ name }) => name);
    return answer(index === parts.length - 1 ? full : [...table, ...names], span);
  }
  const pair = tokens.pairs.find(({ value, shape }) => shape === 'scalar' && holds(value));
  const found = pair && answer(pair.path, pair.value);
  return found?.doc.values ? found : undefined;
}

function rooted<T extends object>(header: T): T & { readonly table: Path } {
  return { ...header, table: [] };
}

const types: Readonly<Record<KeyDoc['type'], string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  'string or integer': 'text or whole number',
  strings: 'array of texts',
  table: 'table',
  tables: 'array of tables',
  'free table': 'table with any keys',
  'text table': 'table of texts',
  'number or table': 'number or table of numbers',
  artifacts: 'array of texts and tables',
};

/** What a key means, as Markdown. */
export function keyMarkdown(doc: KeyDoc): string {
  const kind = `${types[doc.type]}${doc.unit ? `, in ${doc.unit}` : ''}${doc.required ? ', required' : ''}`;
  const facts = [
    doc.values && `One of ${doc.values.map((value) => `\`"${value}"\``).join(', ')}`,
    doc.default !== undefined && `Default: \`${doc.default}\``,
    doc.since ? `Since schema ${doc.since}` : 'A convention of E2E-SWE; Harbor does not read it',
  ];
  return [
    `**\`${doc.key}\`** — ${kind}`,
    ...(doc.deprecatedBy ? [`**Deprecated:** write \`${doc.deprecatedBy}\` instead.`] : []),
    doc.about,
    facts.filter(Boolean).join('  \n'),
    `\`\`\`toml\n${doc.example.trimEnd()}\n\`\`\``,
  ].join('\n\n');
}
