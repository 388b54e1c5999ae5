import type { TaskProblem } from '#core/task/types.ts';
import type { TextLines } from './textLines.ts';
import type { Span, TomlPair, TomlTokens } from './tomlTokens.ts';

/** These are about a value; the others about the key. */
const valueCodes = ['invalid-value', 'invalid-test-case-count', 'unsupported-'];

/** The text that a problem of core is about; core knows only where it starts. */
export function locateProblem(
  text: string,
  tokens: TomlTokens,
  lines: TextLines,
  problem: Pick<TaskProblem, 'code' | 'file' | 'line' | 'column'>,
): Span {
  const { code, file = 'task.toml', line, column } = problem;
  if (file !== 'task.toml' || line === undefined) return firstLine(text, lines);
  const start = lines.offsetAt(line, column ?? 1);
  if (code.startsWith('toml-')) {
    const holds = ({ value, shape }: TomlPair): boolean =>
      shape === 'scalar' && value.start <= start && start < value.end;
    return tokens.pairs.find(holds)?.value ?? wordAt(text, lines, start);
  }
  const pair = tokens.pairs.find(({ key }) => key.start === start);
  if (pair) {
    const isAboutValue = valueCodes.some((known) => code.startsWith(known));
    // A value of many lines would paint half the file.
    const isShort = !/[\r\n]/.test(text.slice(pair.value.start, pair.value.end));
    return isAboutValue && isShort && pair.value.end > pair.value.start ? pair.value : pair.key;
  }
  const item = tokens.items.find(({ value }) => value.start === start);
  if (item) return item.value;
  const header = tokens.headers.find(({ span }) => span.start === start);
  if (header) return header.span;
  return line === 1 ? firstLine(text, lines) : wordAt(text, lines, start);
}

function firstLine(text: string, lines: TextLines): Span {
  const { start, end } = lines.lineSpan(1);
  return { start, end: start + text.slice(start, end).trimEnd().length };
}

/** The word at a place; at the end of a line what stands before it. */
function wordAt(text: string, lines: TextLines, at: number): Span {
  const { start, end } = lines.lineSpan(lines.lineOf(at));
  const word = /^[^\s,\]}=#]+|^\S/.exec(text.slice(at, end))?.[0];
  if (word !== undefined) return { start: at, end: at + word.length };
  const before = /\S+\s*$/.exec(text.slice(start, at));
  return before ? { start: start + before.index, end: Math.max(at, start + before.index) } : { start, end };
}
