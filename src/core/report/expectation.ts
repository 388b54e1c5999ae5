import { jsonText } from './jsonText.ts';
import { stripAnsi } from './text.ts';

/** What a test wanted and what it got, as text. */
export interface Expectation {
  readonly expected: string;
  readonly actual: string;
}

/** Characters of a message that are searched. */
const searchLimit = 20_000;
/** "Expected: 1\nReceived: 2" and the like: one value a line. */
const expectedLine = /^[ \t]*expected(?: \w+)?[ \t]*:[ \t]*(\S.*)$/im;
const actualLine = /^[ \t]*(?:received|actual|got|but was)(?: \w+)?[ \t]*:[ \t]*(\S.*)$/im;
/** JUnit: "expected: <1> but was: <2>". */
const junit = /expected:[ \t]?<([^\n]*?)> but was:[ \t]?<([^\n]*)>/i;
/** Jest's and Vitest's diff: a legend, then lines that start with `-`, `+` or a space. */
const diffLegend = /^[ \t]*- Expected\b[^\n]*\n[ \t]*\+ (?:Received|Actual)\b[^\n]*\n/m;

/** Takes the two sides from `extra.{expected,actual}`, else from a message that names both. */
export function readExpectation(extra: unknown, message: string | undefined): Expectation | undefined {
  return fromExtra(extra) ?? (message === undefined ? undefined : fromMessage(message));
}

function fromExtra(extra: unknown): Expectation | undefined {
  if (typeof extra !== 'object' || extra === null || !('expected' in extra) || !('actual' in extra))
    return undefined;
  return { expected: sideText(extra.expected), actual: sideText(extra.actual) };
}

function sideText(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value, 2);
}

function fromMessage(message: string): Expectation | undefined {
  const text = stripAnsi(message.slice(0, searchLimit));
  const inline = junit.exec(text);
  if (inline?.[1] !== undefined && inline[2] !== undefined) return { expected: inline[1], actual: inline[2] };
  const expected = expectedLine.exec(text)?.[1]?.trimEnd();
  const actual = actualLine.exec(text)?.[1]?.trimEnd();
  if (expected !== undefined && actual !== undefined) return { expected, actual };
  const legend = diffLegend.exec(text);
  return legend ? fromDiff(text.slice(legend.index + legend[0].length)) : undefined;
}

function fromDiff(body: string): Expectation | undefined {
  const expected: string[] = [];
  const actual: string[] = [];
  for (const line of body.replace(/^\n+/, '').split('\n')) {
    if (line.trim() === '' || line.startsWith('@@')) continue;
    const side = line[0];
    if (side !== '-' && side !== '+' && side !== ' ') break;
    if (side !== '+') expected.push(line.slice(1));
    if (side !== '-') actual.push(line.slice(1));
  }
  const same = expected.join('\n') === actual.join('\n');
  return same ? undefined : { expected: expected.join('\n'), actual: actual.join('\n') };
}
