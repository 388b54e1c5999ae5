import type { Span } from './tomlTokens.ts';

/** Lines of a text, however they end: `\n`, `\r\n` or a lone `\r`, as VS Code and core count them. */
export class TextLines {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    for (const match of text.matchAll(/\r\n|\n|\r/g)) this.#starts.push(match.index + match[0].length);
  }

  /** The offset of a 1-based line and column, kept inside the line. */
  offsetAt(line: number, column: number): number {
    const { start, end } = this.lineSpan(line);
    return Math.min(start + Math.max(column - 1, 0), end);
  }

  /** The 1-based number of the line. */
  lineOf(offset: number): number {
    const next = this.#starts.findIndex((start) => start > offset);
    return next < 0 ? this.#starts.length : next;
  }

  /** Without the line's end; core does not count a byte order mark as a column. */
  lineSpan(line: number): Span {
    const first = this.#text.startsWith('\uFEFF') && line <= 1 ? 1 : 0;
    const start = (this.#starts[line - 1] ?? this.#text.length) + first;
    const next = this.#starts[line] ?? this.#text.length;
    const body = this.#text.slice(start, next).replace(/[\r\n]+$/, '');
    return { start, end: start + body.length };
  }

  /** With the line's end. */
  wholeLine(line: number): Span {
    return { start: this.lineSpan(line).start, end: this.#starts[line] ?? this.#text.length };
  }
}
