import type { FixInput, TomlFix } from './fixTypes.ts';
import { locateProblem } from './locateProblem.ts';
import { applyEdits, commentBehind, lineEnd, removePair, type TomlEdit } from './tomlEdits.ts';
import { type Path, pathText, type Span, type TomlHeader, type TomlPair, tomlTokens } from './tomlTokens.ts';

/** Fixes that write a line of their own. */

/** `artifacts` in a table where Harbor ignores it -> above the first table header. */
export function moveArtifacts(input: FixInput, pair: TomlPair): readonly TomlFix[] {
  const { text, tokens, lines } = input;
  const isMisplaced = pair.path.length > 1 && pair.path[0] !== 'steps';
  const isTaken = [...tokens.pairs, ...tokens.headers].some(({ path }) => path[0] === 'artifacts');
  if (!isMisplaced || isTaken) return [];
  const fix = { code: 'artifacts-wrong-table', span: pair.key, keepsMeaning: false };
  const title = 'Move artifacts above the first table header (Harbor then reads it)';
  if (pair.table.length === 0) return [{ ...fix, title, edits: [{ span: pair.key, text: 'artifacts' }] }];
  const comment = pair.isInline ? '' : commentBehind(text, lines, pair);
  const line = `artifacts = ${text.slice(pair.value.start, pair.value.end)}${comment}`;
  return [{ ...fix, title, edits: [atTop(input, line), removePair(text, lines, pair, 'take')] }];
}

/** Below the last key of the root, else right above the first header. */
function atTop(input: FixInput, line: string): TomlEdit {
  const { text, tokens, lines } = input;
  const end = lineEnd(text);
  const root = tokens.pairs.filter(({ table, isInline }) => table.length === 0 && !isInline).at(-1);
  if (root) return afterLine(input, root.value.end, line);
  const [header] = tokens.headers;
  const start = lines.lineSpan(lines.lineOf(header?.span.start ?? 0)).start;
  return { span: { start, end: start }, text: `${line}${end}${end}` };
}

/** A new line below the one with this offset, with the same indent. */
function afterLine({ text, lines }: FixInput, offset: number, line: string): TomlEdit {
  const { end } = lines.wholeLine(lines.lineOf(offset));
  const isLast = end === lines.lineSpan(lines.lineOf(offset)).end;
  const eol = lineEnd(text);
  return { span: { start: end, end }, text: isLast ? `${eol}${line}` : `${line}${eol}` };
}

const countLine = 'test_case_count = 1';
const countHint = '  # How many hidden tests the verifier reports';

/** `[verifier].test_case_count` with a number to fill in. */
export function countFix(input: FixInput): readonly TomlFix[] {
  const { text, parsed, lines, tokens } = input;
  const problem = parsed.problems.find(({ code }) => code === 'missing-test-case-count');
  if (problem === undefined) return [];
  const edits = [countEdit(input)];
  const select = spanOfValue(applyEdits(text, edits), ['verifier', 'test_case_count']);
  return [
    {
      code: problem.code,
      span: locateProblem(text, tokens, lines, problem),
      title: 'Add test_case_count, then fill in the number of hidden tests',
      edits,
      keepsMeaning: true,
      ...(select && { select }),
    },
  ];
}

function countEdit(input: FixInput): TomlEdit {
  const { text, tokens, lines } = input;
  const header = tokens.headers.find(({ path, isArray }) => pathText(path) === '["verifier"]' && !isArray);
  if (header) return afterLine(input, lastOf(input, header), `${countLine}${countHint}`);
  const inline = tokens.pairs.find(({ path }) => pathText(path) === '["verifier"]');
  if (inline) return intoBraces(text, inline);
  const dotted = tokens.pairs
    .filter(({ path, table }) => table.length === 0 && path[0] === 'verifier')
    .at(-1);
  if (dotted) return afterLine(input, dotted.value.end, `verifier.${countLine}${countHint}`);
  const eol = lineEnd(text);
  const table = `[verifier]${eol}${countLine}${countHint}${eol}`;
  const inner = tokens.headers.find(({ path }) => path[0] === 'verifier');
  if (inner) {
    const { start } = lines.lineSpan(lines.lineOf(inner.span.start));
    return { span: { start, end: start }, text: `${table}${eol}` };
  }
  const gap = text === '' ? '' : /\n\s*$|^$/.test(text) ? eol : `${eol}${eol}`;
  return { span: { start: text.length, end: text.length }, text: `${gap}${table}` };
}

/** The end of the last pair below a header, else of the header. */
function lastOf({ tokens }: FixInput, header: TomlHeader): number {
  const next = tokens.headers.find(({ span }) => span.start > header.span.start)?.span.start ?? Infinity;
  const below = tokens.pairs.filter(
    ({ key, isInline }) => !isInline && key.start > header.span.start && key.start < next,
  );
  return below.at(-1)?.value.end ?? header.span.end;
}

function intoBraces(text: string, { value }: TomlPair): TomlEdit {
  const body = text.slice(value.start + 1, value.end - 1);
  const at = value.start + 1 + body.trimEnd().length;
  return { span: { start: at, end: at }, text: body.trim() === '' ? ` ${countLine} ` : `, ${countLine}` };
}

function spanOfValue(text: string, path: Path): Span | undefined {
  return tomlTokens(text).pairs.find((pair) => pathText(pair.path) === pathText(path))?.value;
}
