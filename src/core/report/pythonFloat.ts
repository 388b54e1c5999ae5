/** `float()`'s number after the digits were made ASCII: underscores only between two digits. */
const decimal = /^[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][-+]?\d+(?:_\d+)*)?$/;
const named = /^([-+]?)(?:(inf|infinity)|nan)$/i;
/** Rust's `f64::from_str`, which pydantic uses for a number in a string. */
const rustDecimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;
/** Unicode's White_Space property. */
const outerSpace = /^\p{White_Space}+|\p{White_Space}+$/gu;

/**
 * Python's `float(text)`: any Unicode decimal digits, Unicode space around, underscores between digits, `inf`,
 * `infinity` and `nan` with a sign. Undefined where Python raises ValueError.
 */
export function parsePythonFloat(text: string): number | undefined {
  const ascii = transformDigitsAndSpace(text).replace(/^[ \t\n\r\f\v]+|[ \t\n\r\f\v]+$/g, '');
  const special = namedValue(ascii);
  if (special !== undefined) return special;
  return decimal.test(ascii) ? Number(ascii.replaceAll('_', '')) : undefined;
}

/**
 * Pydantic's lax reading of a string as a number (2.13). Undefined where it reports `float_parsing`. Left out: its parser
 * of integers also takes `0-1` for -1 and `0__1` for 1.
 */
export function parsePydanticFloat(text: string): number | undefined {
  const trimmed = text.replace(outerSpace, '');
  if (/^_|__|_$/.test(trimmed)) return undefined;
  // With space around, underscores are only taken by its parser of integers.
  if (trimmed !== text && trimmed.includes('_') && !/^[-+]?[\d_]+$/.test(trimmed)) return undefined;
  const plain = trimmed.replaceAll('_', '');
  return namedValue(plain) ?? (rustDecimal.test(plain) ? Number(plain) : undefined);
}

function namedValue(text: string): number | undefined {
  const match = named.exec(text);
  if (!match) return undefined;
  if (match[2] === undefined) return Number.NaN;
  return match[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** CPython's `_PyUnicode_TransformDecimalAndSpaceToASCII`: ASCII-only text stays as it is. */
function transformDigitsAndSpace(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text;
  return Array.from(text, (character) => {
    if (character <= '\x7f') return character;
    if (/\p{White_Space}/u.test(character)) return ' ';
    return /\p{Nd}/u.test(character) ? String(decimalDigit(character)) : '?';
  }).join('');
}

/** Decimal digits come in blocks of ten that start with zero. */
function decimalDigit(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  let start = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(start - 1))) start--;
  return (code - start) % 10;
}
