import { keyDocs, keysOfTable } from '#core/task/keyDocs.ts';
import type { KeyDoc } from '#core/task/keyDocs-tables.ts';
import { isHarborTask } from './isHarborTask.ts';
import { TextLines } from './textLines.ts';
import { type Path, pathText, type Span, type TomlTokens, tomlTokens } from './tomlTokens.ts';

/** One suggestion. */
export interface TomlCompletion {
  readonly kind: 'key' | 'table' | 'value';
  readonly label: string;
  /** What the typed text is compared with. */
  readonly filter: string;
  /** In VS Code's snippet syntax. */
  readonly snippet: string;
  readonly replace: Span;
  readonly doc: KeyDoc;
}

export function completionsAt(text: string, offset: number): readonly TomlCompletion[] {
  const tokens = tomlTokens(text);
  if (text.trim() !== '' && !isHarborTask(tokens) && tokens.pairs.length > 0) return [];
  const lines = new TextLines(text);
  const line = lines.lineSpan(lines.lineOf(offset));
  const before = text.slice(line.start, offset);
  const after = text.slice(offset, line.end);
  const header = /^\s*(\[{1,2})([\w.-]*)$/.exec(before);
  if (header)
    return tableNames(header[1] ?? '[', { start: offset - (header[2]?.length ?? 0), end: offset }, after);
  if (/^\s*[\w.-]+\s*=\s*["']?[\w-]*$/.test(before)) return values(tokens, offset);
  const typed = /^\s*([\w-]*)$/.exec(before)?.[1];
  const isInside = tokens.pairs.some(({ value }) => value.start < offset && offset < value.end);
  if (typed === undefined || isInside || /^\s*[\w.-]*\s*=/.test(after)) return [];
  return keys(tokens, line.start, { start: offset - typed.length, end: offset });
}

function keys(tokens: TomlTokens, lineStart: number, replace: Span): readonly TomlCompletion[] {
  const table: Path = tokens.headers.filter(({ span }) => span.start < lineStart).at(-1)?.path ?? [];
  const isWritten = (key: string): boolean =>
    [...tokens.pairs, ...tokens.headers].some(({ path }) => pathText(path) === pathText([...table, key]));
  return (keysOfTable(table) ?? [])
    .filter((doc) => !doc.deprecatedBy && !isWritten(doc.key))
    .map((doc) => ({
      ...{ kind: 'key', label: doc.key, filter: doc.key, replace, doc },
      snippet: keySnippet(doc, table),
    }));
}

function keySnippet(doc: KeyDoc, table: Path): string {
  const name = [...table.filter((part) => typeof part === 'string'), doc.key].join('.');
  if (doc.type === 'table' || doc.type === 'free table') return `[${name}]`;
  return doc.type === 'tables' ? `[[${name}]]` : `${doc.key} = ${valueSnippet(doc)}`;
}

function valueSnippet(doc: KeyDoc): string {
  if (doc.values) return `"\${1|${doc.values.join(',')}|}"`;
  switch (doc.type) {
    case 'integer':
    case 'number':
    case 'number or table':
      return `\${1:${doc.default ?? '1'}}`;
    case 'boolean':
      return `\${1|true,false|}`;
    case 'strings':
      return '["$1"]';
    case 'artifacts':
      return `["\${1:/app}"]`;
    case 'text table':
      return '{ $1 }';
    default:
      return '"$1"';
  }
}

function values(tokens: TomlTokens, offset: number): readonly TomlCompletion[] {
  const pair = tokens.pairs.filter(({ key }) => key.end <= offset).at(-1);
  if (pair?.shape !== 'scalar') return [];
  const doc = keysOfTable(pair.path.slice(0, -1))?.find(({ key }) => key === pair.path[pair.path.length - 1]);
  if (!doc) return [];
  const replace = { start: Math.min(pair.value.start, offset), end: Math.max(pair.value.end, offset) };
  const texts = doc.type === 'boolean' ? ['true', 'false'] : (doc.values ?? []).map((value) => `"${value}"`);
  return texts.map((value) => ({ kind: 'value', label: value, filter: value, snippet: value, replace, doc }));
}

/** The tables that a header with this many brackets can name. */
function tableNames(brackets: string, replace: Span, after: string): readonly TomlCompletion[] {
  const isArray = brackets === '[[';
  const close = after.startsWith(']') ? '' : isArray ? ']]' : ']';
  const walk = (docs: readonly KeyDoc[], under: string): { readonly name: string; readonly doc: KeyDoc }[] =>
    docs.flatMap((doc) => {
      const name = under === '' ? doc.key : `${under}.${doc.key}`;
      return [{ name, doc }, ...walk(doc.inner ?? [], name)];
    });
  return walk(keyDocs, '')
    .filter(({ doc }) => {
      if (isArray) return doc.type === 'tables' || doc.type === 'artifacts';
      return doc.type.endsWith('table') && doc.type !== 'number or table';
    })
    .map(({ name, doc }) => {
      return { kind: 'table', label: name, filter: name, snippet: `${name}${close}`, replace, doc };
    });
}
