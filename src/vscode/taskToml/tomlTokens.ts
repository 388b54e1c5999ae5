/**
 * Keys and values of a TOML text with their exact places, for ranges, hovers, completion and fixes. Unlike core's
 * scan it takes any text: what is half typed costs its own line only. It judges nothing; core's reader does that.
 */

/** Offsets in UTF-16 units; the end is behind the last one. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Keys and array indices from the root. */
export type Path = readonly (string | number)[];

export interface KeyPart {
  readonly name: string;
  readonly span: Span;
}

type Shape = 'scalar' | 'array' | 'table';

/** `[table]` or `[[table]]`; `path` ends with the index in an array of tables. */
export interface TomlHeader {
  readonly path: Path;
  readonly parts: readonly KeyPart[];
  /** With the brackets. */
  readonly span: Span;
  readonly isArray: boolean;
}

/** `a.b = value`. */
export interface TomlPair {
  readonly path: Path;
  /** The table in which it is written: that of the header above, or the inline one. */
  readonly table: Path;
  readonly parts: readonly KeyPart[];
  readonly key: Span;
  /** Empty where no value is written yet. */
  readonly value: Span;
  readonly shape: Shape;
  /** Written between braces. */
  readonly isInline: boolean;
}

/** One entry of an array. */
export interface TomlItem {
  readonly path: Path;
  readonly value: Span;
  readonly shape: Shape;
}

export interface TomlTokens {
  readonly headers: readonly TomlHeader[];
  readonly pairs: readonly TomlPair[];
  readonly items: readonly TomlItem[];
}

export function tomlTokens(text: string): TomlTokens {
  const tokenizer = new Tokenizer(text);
  tokenizer.document();
  return tokenizer;
}

/** A path as text, to compare paths. */
export function pathText(path: Path): string {
  return JSON.stringify(path);
}

class Tokenizer implements TomlTokens {
  readonly headers: TomlHeader[] = [];
  readonly pairs: TomlPair[] = [];
  readonly items: TomlItem[] = [];
  readonly #text: string;
  /** Tables so far of each `[[array]]`. */
  readonly #counts = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\uFEFF')) this.#at = 1;
  }

  document(): void {
    let table: Path = [];
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#text[this.#at] === '[') table = this.#header() ?? table;
      else this.#pair(table, false);
      this.#skipLine();
    }
  }

  #header(): Path | undefined {
    const start = this.#at;
    const isArray = this.#text[start + 1] === '[';
    this.#at += isArray ? 2 : 1;
    const parts = this.#key();
    for (let close = isArray ? 2 : 1; close > 0 && this.#text[this.#at] === ']'; close--) this.#at++;
    if (parts.length === 0) return undefined;
    let path: Path = [];
    for (const [index, { name }] of parts.entries()) {
      path = [...path, name];
      const count = this.#counts.get(pathText(path));
      if (isArray && index === parts.length - 1) {
        this.#counts.set(pathText(path), (count ?? 0) + 1);
        path = [...path, count ?? 0];
      } else if (count !== undefined) path = [...path, count - 1];
    }
    this.headers.push({ path, parts, span: { start, end: this.#at }, isArray });
    return path;
  }

  /** False when there is no `key =` here. */
  #pair(table: Path, isInline: boolean): boolean {
    const start = this.#at;
    const parts = this.#key();
    const last = parts[parts.length - 1];
    if (last === undefined || this.#text[this.#at] !== '=') return false;
    this.#at++;
    this.#skipBlanks();
    const path = [...table, ...parts.map(({ name }) => name)];
    const index = this.pairs.length;
    const pair = { path, table, parts, key: { start, end: last.span.end }, isInline };
    // Its place in the list comes before the pairs of an inline table in it.
    this.pairs.push({ ...pair, value: { start: this.#at, end: this.#at }, shape: 'scalar' });
    this.pairs[index] = { ...pair, ...this.#value(path) };
    return true;
  }

  /** Dotted key parts; ends behind the blanks that follow. */
  #key(): readonly KeyPart[] {
    const parts: KeyPart[] = [];
    for (;;) {
      this.#skipBlanks();
      const start = this.#at;
      const quote = this.#text[start];
      if (quote === '"' || quote === "'") this.#string();
      else while (/[A-Za-z0-9_-]/.test(this.#text[this.#at] ?? '')) this.#at++;
      const span = { start, end: this.#at };
      if (span.end === start) return parts;
      parts.push({ name: keyName(this.#text.slice(start, span.end)), span });
      this.#skipBlanks();
      if (this.#text[this.#at] !== '.') return parts;
      this.#at++;
    }
  }

  #value(path: Path): { readonly value: Span; readonly shape: Shape } {
    const start = this.#at;
    const char = this.#text[start];
    let shape: Shape = 'scalar';
    if (char === '"' || char === "'") this.#string();
    else if (char === '[') {
      shape = 'array';
      this.#array(path);
    } else if (char === '{') {
      shape = 'table';
      this.#inlineTable(path);
    } else {
      const rest = this.#text.slice(start, start + 5000);
      this.#at += /^(?:\d{4}-\d{2}-\d{2} \d{2}:)?[^\s,\]}#]*/.exec(rest)?.[0].length ?? 0;
    }
    return { value: { start, end: this.#at }, shape };
  }

  #array(path: Path): void {
    this.#at++;
    for (let index = 0; ; ) {
      const end = this.#at;
      const isNewLine = this.#skip();
      if (this.#at >= this.#text.length) return;
      if (isNewLine && this.#startsPair()) {
        this.#at = end;
        return;
      }
      const char = this.#text[this.#at];
      if (char === ',' || char === ']' || char === '}') this.#at++;
      if (char === ']') return;
      if (char === ',' || char === '}') continue;
      const item = [...path, index++];
      const at = this.items.length;
      this.items.push({ path: item, value: { start: this.#at, end: this.#at }, shape: 'scalar' });
      const value = this.#value(item);
      this.items[at] = { path: item, ...value };
      // A character that can begin no value.
      if (value.value.end === value.value.start) this.#at++;
    }
  }

  #inlineTable(path: Path): void {
    this.#at++;
    for (;;) {
      this.#skip();
      if (this.#text[this.#at] === '}') {
        this.#at++;
        return;
      }
      if (!this.#pair(path, true)) return;
      const end = this.#at;
      this.#skip();
      if (this.#text[this.#at] === ',') this.#at++;
      else if (this.#text[this.#at] !== '}') {
        this.#at = end;
        return;
      }
    }
  }

  #string(): void {
    const start = this.#at;
    const quote = this.#text[start] ?? '"';
    const isLong = this.#text.startsWith(quote.repeat(3), start);
    const close = isLong ? quote.repeat(3) : quote;
    this.#at += close.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(close, this.#at)) {
      if (!isLong && /[\r\n]/.test(this.#text[this.#at] ?? '')) return;
      this.#at += quote === '"' && this.#text[this.#at] === '\\' ? 2 : 1;
    }
    this.#at = Math.min(this.#at + close.length, this.#text.length);
    // Up to two quotes may stand before the closing three.
    for (let extra = 0; isLong && extra < 2 && this.#text[this.#at] === quote; extra++) this.#at++;
  }

  /** A line that begins like a pair ends an array that is still open. */
  #startsPair(): boolean {
    return /^[A-Za-z0-9_-]+[ \t]*=/.test(this.#text.slice(this.#at, this.#at + 200));
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at++;
  }

  #skipLine(): void {
    while (this.#at < this.#text.length && !/[\r\n]/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  /** Skips blanks, line ends and comments; true when there was a line end. */
  #skip(): boolean {
    for (let isNewLine = false; ; ) {
      const char = this.#text[this.#at];
      if (char === '#') this.#skipLine();
      else if (char === '\n' || char === '\r') {
        isNewLine = true;
        this.#at++;
      } else if (char === ' ' || char === '\t') this.#at++;
      else return isNewLine;
    }
  }
}

function keyName(raw: string): string {
  if (raw.startsWith("'")) return raw.slice(1, -1);
  if (!raw.startsWith('"')) return raw;
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw.slice(1, -1);
  }
}
