import { parse } from 'smol-toml';

/**
 * Where each key of a TOML document stands, and what in it is TOML 1.1. smol-toml gives neither: it has positions
 * for syntax errors only, and accepts 1.1, which Harbor's reader (Python's tomllib, TOML 1.0) rejects.
 * The document must be one that smol-toml has accepted.
 */

export interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
}

export interface TomlScan {
  /** The key's position, by `pathKey`; array elements and array tables count as keys. */
  readonly positions: ReadonlyMap<string, Position>;
  /** What TOML 1.0 does not allow. */
  readonly violations: readonly (Position & { readonly message: string })[];
}

type Path = readonly (string | number)[];

/** The index of a path in `TomlScan.positions`. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** Reads the whole document; lines end in `\n`. */
export function scanToml(text: string): TomlScan {
  const scanner = new Scanner(text);
  scanner.document();
  return { positions: scanner.positions, violations: scanner.violations };
}

class Scanner {
  readonly positions = new Map<string, Position>();
  readonly violations: (Position & { message: string })[] = [];
  readonly #text: string;
  readonly #lineStarts: number[] = [0];
  /** Number of tables so far of each `[[array]]`, by `pathKey`. */
  readonly #counts = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) this.#lineStarts.push(i + 1);
  }

  document(): void {
    let table: Path = [];
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#text[this.#at] === '[') table = this.#header();
      else this.#pair(table);
    }
  }

  #header(): Path {
    const start = this.#at;
    const isArray = this.#text[start + 1] === '[';
    this.#at += isArray ? 2 : 1;
    const keys = this.#key();
    this.#at += isArray ? 2 : 1;
    let path: Path = [];
    for (const [index, key] of keys.entries()) {
      path = [...path, key];
      this.#note(path, start);
      const name = pathKey(path);
      const count = this.#counts.get(name);
      if (isArray && index === keys.length - 1) {
        this.#counts.set(name, (count ?? 0) + 1);
        path = [...path, count ?? 0];
        this.#note(path, start);
      } else if (count !== undefined) path = [...path, count - 1];
    }
    return path;
  }

  /** `a.b = value`. */
  #pair(table: Path): void {
    const start = this.#at;
    let path = table;
    for (const key of this.#key()) {
      path = [...path, key];
      this.#note(path, start);
    }
    this.#at++;
    this.#skip();
    this.#value(path);
  }

  /** Dotted key parts; ends before `=` or `]`. */
  #key(): readonly string[] {
    const parts: string[] = [];
    for (;;) {
      this.#skip();
      const char = this.#text[this.#at];
      const start = this.#at;
      if (char === '"' || char === "'") {
        this.#string();
        parts.push(String(parse(`k = ${this.#text.slice(start, this.#at)}`).k));
      } else {
        while (/[A-Za-z0-9_-]/.test(this.#text[this.#at] ?? '')) this.#at++;
        parts.push(this.#text.slice(start, this.#at));
      }
      this.#skip();
      if (this.#text[this.#at] !== '.') return parts;
      this.#at++;
    }
  }

  #value(path: Path): void {
    const char = this.#text[this.#at];
    if (char === '"' || char === "'") this.#string();
    else if (char === '[') this.#array(path);
    else if (char === '{') this.#inlineTable(path);
    else this.#scalar();
  }

  #array(path: Path): void {
    this.#at++;
    for (let index = 0; ; index++) {
      this.#skip();
      if (this.#ends(']')) return;
      this.#note([...path, index], this.#at);
      this.#value([...path, index]);
      this.#skip();
      if (this.#text[this.#at] === ',') this.#at++;
    }
  }

  #inlineTable(path: Path): void {
    this.#at++;
    for (let comma = -1; ; ) {
      const gap = this.#at;
      if (this.#skip()) this.#violation(gap, 'a line break inside an inline table');
      const end = this.#at;
      if (this.#ends('}')) {
        if (comma >= 0) this.#violation(comma, 'a comma after the last entry of an inline table');
        return;
      }
      if (this.#at >= this.#text.length) return;
      this.#pair(path);
      const after = this.#at;
      if (this.#skip()) this.#violation(after, 'a line break inside an inline table');
      comma = this.#text[this.#at] === ',' ? this.#at++ : -1;
      if (this.#at === end) return;
    }
  }

  #string(): void {
    const start = this.#at;
    const quote = this.#text[start] ?? '"';
    const triple = this.#text.startsWith(quote.repeat(3), start);
    const close = triple ? quote.repeat(3) : quote;
    this.#at += close.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(close, this.#at)) {
      if (quote === '"' && this.#text[this.#at] === '\\') {
        if (/[ex]/.test(this.#text[this.#at + 1] ?? '')) {
          this.#violation(this.#at, `the escape \\${this.#text[this.#at + 1]}`);
        }
        this.#at++;
      }
      this.#at++;
    }
    this.#at += close.length;
    // Up to two quotes may stand before the closing three.
    for (let extra = 0; triple && extra < 2 && this.#text[this.#at] === quote; extra++) this.#at++;
  }

  #scalar(): void {
    const start = this.#at;
    const match = /^\d{4}-\d{2}-\d{2} \d{2}:[^\s,\]}#]*|^[^\s,\]}#]+/.exec(
      this.#text.slice(start, start + 5000),
    );
    const raw = match?.[0] ?? '';
    this.#at += Math.max(raw.length, 1);
    const problem = dateProblem(raw);
    if (problem !== undefined) this.#violation(start, problem);
  }

  /** Consumes `close` if it is next. */
  #ends(close: string): boolean {
    if (this.#at < this.#text.length && this.#text[this.#at] !== close) return false;
    this.#at++;
    return true;
  }

  /** Skips blanks, line breaks and comments; true when there was a line break. */
  #skip(): boolean {
    const start = this.#at;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === '#') {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else if (char === ' ' || char === '\t' || char === '\n') this.#at++;
      else return this.#text.slice(start, this.#at).includes('\n');
    }
  }

  /** The first mention of a path is its place. */
  #note(path: Path, offset: number): void {
    const key = pathKey(path);
    if (!this.positions.has(key)) this.positions.set(key, this.#position(offset));
  }

  #violation(offset: number, message: string): void {
    this.violations.push({ ...this.#position(offset), message });
  }

  #position(offset: number): Position {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) + 1 };
  }
}

/** What Python's reader has against a date or time that smol-toml accepts. */
function dateProblem(raw: string): string | undefined {
  if (/^(\d{4}-\d{2}-\d{2}[Tt ])?\d{2}:\d{2}([Zz+-]|$)/.test(raw)) return 'a time without seconds';
  const date = /^(\d{4})-(\d{2})-(\d{2})/.exec(raw);
  if (date === null) return undefined;
  const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])];
  const days = new Date(Date.UTC(year < 100 ? year + 2000 : year, month, 0)).getUTCDate();
  return year === 0 || day > days ? 'a date that is not in the calendar' : undefined;
}
