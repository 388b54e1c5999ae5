import type { TextLines } from './textLines.ts';
import type { Span, TomlPair } from './tomlTokens.ts';

/** One change of a text: what stands in `span` becomes `text`. */
export interface TomlEdit {
  readonly span: Span;
  readonly text: string;
}

/** The text with all edits, which do not overlap. */
export function applyEdits(text: string, edits: readonly TomlEdit[]): string {
  const last = [...edits].sort((a, b) => b.span.start - a.span.start);
  return last.reduce(
    (out, edit) => out.slice(0, edit.span.start) + edit.text + out.slice(edit.span.end),
    text,
  );
}

/** Insertions at the same place overlap too: their order would be chance. */
export function editsOverlap(a: readonly TomlEdit[], b: readonly TomlEdit[]): boolean {
  return a.some(({ span }) =>
    b.some(({ span: other }) =>
      span.start === other.start ? true : span.start < other.end && other.start < span.end,
    ),
  );
}

/** The line end that the text uses. */
export function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** What stands behind a value on its line, when it is a comment. */
export function commentBehind(text: string, lines: TextLines, { value }: TomlPair): string {
  const { end } = lines.lineSpan(lines.lineOf(value.end));
  const tail = text.slice(value.end, end).trimEnd();
  return /^\s*#/.test(tail) ? tail : '';
}

/** Takes a pair out: its line where nothing else is on it, else the pair alone, so that comments stay. */
export function removePair(
  text: string,
  lines: TextLines,
  pair: TomlPair,
  comment: 'keep' | 'take',
): TomlEdit {
  const { key, value } = pair;
  if (pair.isInline) return { span: inlineSpan(text, pair), text: '' };
  const first = lines.lineSpan(lines.lineOf(key.start));
  const last = lines.lineSpan(lines.lineOf(value.end));
  const tail = text.slice(value.end, last.end);
  const isAlone = text.slice(first.start, key.start).trim() === '';
  const isFree = tail.trim() === '' || (comment === 'take' && commentBehind(text, lines, pair) !== '');
  if (isAlone && isFree) {
    return { span: { start: first.start, end: lines.wholeLine(lines.lineOf(value.end)).end }, text: '' };
  }
  const blanks = /^[ \t]*/.exec(tail)?.[0].length ?? 0;
  return { span: { start: key.start, end: value.end + blanks }, text: '' };
}

/** A pair between braces with one of the commas beside it. */
function inlineSpan(text: string, { key, value }: TomlPair): Span {
  const after = /^\s*,[ \t]*/.exec(text.slice(value.end));
  if (after) return { start: key.start, end: value.end + after[0].length };
  const before = /,\s*$/.exec(text.slice(0, key.start));
  return { start: before?.index ?? key.start, end: value.end };
}
