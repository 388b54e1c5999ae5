/**
 * The few rules of Python that decide what Harbor accepts: white space, `repr`, POSIX path parts, number texts.
 * Measured against Python 3.11 and pydantic 2.13.4.
 */

/** Python's `str.strip` set; unlike JavaScript's it has U+001C-U+001F and U+0085 and not U+FEFF. */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const STRIP = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

/** `str.strip()`. */
export function pyStrip(text: string): string {
  return text.replace(STRIP, '');
}

/** `repr(text)` of a `str`. */
export function pyRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (char === '\\' || char === quote) out += `\\${char}`;
    else if (char === '\n') out += '\\n';
    else if (char === '\r') out += '\\r';
    else if (char === '\t') out += '\\t';
    else if (code < 0x20 || (code >= 0x7f && code <= 0xa0) || code === 0xad) {
      out += `\\x${code.toString(16).padStart(2, '0')}`;
    } else if (char !== ' ' && /[\p{C}\p{Z}]/u.test(char)) {
      out +=
        code > 0xffff
          ? `\\U${code.toString(16).padStart(8, '0')}`
          : `\\u${code.toString(16).padStart(4, '0')}`;
    } else out += char;
  }
  return quote + out + quote;
}

/** `PurePosixPath(path).parts` without the root: no empty and no `.` components. */
export function posixParts(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** True when two container paths are equal or one contains the other (Harbor's overlap rule). */
export function pathsOverlap(a: string, b: string): boolean {
  // Harbor reads a path of nothing but slashes, and the empty one, as the root.
  const isAbsolute = (path: string): boolean => path.startsWith('/') || path === '';
  if (isAbsolute(a) !== isAbsolute(b)) return false;
  const first = posixParts(a);
  const second = posixParts(b);
  const [short, long] = first.length <= second.length ? [first, second] : [second, first];
  return short.every((part, index) => part === long[index]);
}

/** Text -> integer as pydantic's lax mode reads it (`" 2 "`, `"2.0"`, `"1_000"`), else undefined. */
export function parseIntText(text: string): number | undefined {
  const match = /^([+-]?)(\d+(?:_\d+)*)(?:\.0+)?$/.exec(pyStrip(text));
  if (match === null) return undefined;
  return Number(`${match[1]}${match[2]?.replaceAll('_', '')}`);
}

/** Text -> float as pydantic's lax mode reads it (`"1e3"`, `".5"`, `"inf"`, `"1_000"`), else undefined. */
export function parseFloatText(text: string): number | undefined {
  const stripped = pyStrip(text).toLowerCase();
  const special = /^([+-]?)(inf|infinity|nan)$/.exec(stripped);
  if (special !== null) {
    if (special[2] === 'nan') return Number.NaN;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  if (stripped.startsWith('_') || stripped.endsWith('_') || stripped.includes('__')) return undefined;
  const plain = stripped.replaceAll('_', '');
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(plain) ? Number(plain) : undefined;
}

/** Text -> float as Python's `float()` reads it; undefined where it raises. */
export function pythonFloat(text: string): number | undefined {
  if (/(^|[^0-9])_|_([^0-9]|$)/.test(pyStrip(text))) return undefined;
  return parseFloatText(text);
}
