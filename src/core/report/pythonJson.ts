/** Where and why a text is no JSON. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** Offset in UTF-16 units of what could not be read; the text's length when it ends too early. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at offset ${offset}`);
    this.offset = offset;
  }
}

/** A value nested deeper than the reader follows; Python raises RecursionError at about this depth. */
export class JsonDepthError extends Error {
  override readonly name = 'JsonDepthError';
}

/** Python's default limit of nested calls, less what its own callers use. */
const maxDepth = 990;
/** Python's `int_max_str_digits`: longer integer literals raise ValueError. */
const maxIntegerDigits = 4300;

/** A number, in the C scanner's grammar; sticky. */
const numberPattern = /(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const literals: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];

/**
 * Reads one JSON document as Python's `json.loads(str)` does: NaN and Infinity literals, the last of duplicate keys,
 * no byte order mark, nothing after the document. An integer too large for a double becomes the largest one, so that
 * it stays finite as it is in Python.
 */
export function parsePythonJson(text: string): unknown {
  const { value, end } = readFirstJsonValue(text);
  const rest = skipSpace(text, end);
  if (rest < text.length) throw new JsonSyntaxError('Extra data', rest);
  return value;
}

/** Reads the first JSON value of a text, with the same leniency, and tells where it ends. */
export function readFirstJsonValue(text: string): { readonly value: unknown; readonly end: number } {
  const reader = new Reader(text);
  reader.offset = skipSpace(text, 0);
  const value = reader.value(0);
  return { value, end: reader.offset };
}

function skipSpace(text: string, from: number): number {
  let offset = from;
  for (;;) {
    const code = text.charCodeAt(offset);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return offset;
    offset++;
  }
}

class Reader {
  readonly #text: string;
  offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    if (depth > maxDepth) throw new JsonDepthError(`Nested deeper than ${maxDepth} levels`);
    switch (this.#text[this.offset]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #object(depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    this.#step();
    if (this.#take('}')) return result;
    for (;;) {
      if (this.#text[this.offset] !== '"') throw this.#error('Expecting a property name in double quotes');
      const key = this.#string();
      this.offset = skipSpace(this.#text, this.offset);
      if (!this.#take(':')) throw this.#error("Expecting ':'");
      this.offset = skipSpace(this.#text, this.offset);
      const value = this.value(depth + 1);
      if (key === '__proto__')
        Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true });
      else result[key] = value;
      this.offset = skipSpace(this.#text, this.offset);
      if (this.#take('}')) return result;
      if (this.#text[this.offset] !== ',') throw this.#error("Expecting ',' or '}'");
      this.#step();
    }
  }

  #array(depth: number): unknown[] {
    const result: unknown[] = [];
    this.#step();
    if (this.#take(']')) return result;
    for (;;) {
      result.push(this.value(depth + 1));
      this.offset = skipSpace(this.#text, this.offset);
      if (this.#take(']')) return result;
      if (this.#text[this.offset] !== ',') throw this.#error("Expecting ',' or ']'");
      this.#step();
    }
  }

  #string(): string {
    const start = this.offset;
    let plain = true;
    for (let offset = start + 1; ; offset++) {
      const code = this.#text.charCodeAt(offset);
      if (code === 0x22) {
        this.offset = offset + 1;
        return plain ? this.#text.slice(start + 1, offset) : this.#escaped(start, offset + 1);
      }
      if (code === 0x5c) {
        plain = false;
        offset++;
      } else if (!(code >= 0x20)) {
        throw new JsonSyntaxError(
          offset < this.#text.length ? 'Invalid control character' : 'Unterminated string',
          offset,
        );
      }
    }
  }

  /** Python's escapes are JSON's own, so the platform may read them. */
  #escaped(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end)) as string;
    } catch {
      throw new JsonSyntaxError('Invalid escape in the string', start);
    }
  }

  #scalar(): unknown {
    for (const [word, value] of literals) {
      if (!this.#text.startsWith(word, this.offset)) continue;
      this.offset += word.length;
      return value;
    }
    numberPattern.lastIndex = this.offset;
    const match = numberPattern.exec(this.#text);
    if (!match) throw this.#error('Expecting a value');
    this.offset += match[0].length;
    const value = Number(match[0]);
    if (match[2] !== undefined || match[3] !== undefined) return value;
    if (match[0].replace('-', '').length > maxIntegerDigits)
      throw this.#error(`An integer of more than ${maxIntegerDigits} digits`);
    // Adding 0 makes -0 the integer 0.
    return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE) + 0;
  }

  /** Over one character and the space behind it. */
  #step(): void {
    this.offset = skipSpace(this.#text, this.offset + 1);
  }

  #take(character: string): boolean {
    if (this.#text[this.offset] !== character) return false;
    this.offset++;
    return true;
  }

  #error(message: string): JsonSyntaxError {
    return new JsonSyntaxError(message, this.offset);
  }
}
