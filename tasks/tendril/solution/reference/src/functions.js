/** The functions that templates can call. */

import { isNumber } from './values.js';

/** @typedef {import('./values.js').Value} Value */

/** A function met a value it cannot work with. */
export class FunctionError extends Error {}

/** @param {string} name @param {string} wanted @returns {never} */
function wrong(name, wanted) {
  throw new FunctionError(`${name}() needs ${wanted}`);
}

/** @param {string} name @param {Value} value @returns {string} */
function text(name, value) {
  return typeof value === 'string' ? value : wrong(name, 'a text');
}

/** @param {string} name @param {Value} value @returns {Value[]} */
function list(name, value) {
  return Array.isArray(value) ? value : wrong(name, 'a list');
}

/** @param {Value} value */
function str(value) {
  if (Array.isArray(value) || value instanceof Map) wrong('str', 'no list and no object');
  return typeof value === 'string' ? value : String(value);
}

/** @param {Value} value @param {Value} [base] */
function int(value, base) {
  if (base === undefined) {
    if (typeof value === 'bigint') return value;
    const digits = text('int', value);
    if (!/^[+-]?[0-9]+$/.test(digits)) wrong('int', 'digits');
    return BigInt(digits.replace(/^\+/, ''));
  }
  const radix = Number(base);
  if (typeof base !== 'bigint' || radix < 2 || radix > 36) wrong('int', 'a base from 2 to 36');
  const digits = text('int', value);
  if (digits === '') wrong('int', 'digits');
  let result = 0n;
  for (const character of digits) {
    const digit = /[0-9A-Za-z]/.test(character) ? Number.parseInt(character, 36) : radix;
    if (digit >= radix) wrong('int', `digits of the base ${radix}`);
    result = result * BigInt(radix) + BigInt(digit);
  }
  return result;
}

/** @param {Value} value */
function num(value) {
  if (isNumber(value)) return Number(value);
  const digits = text('num', value);
  const result = /^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(digits) ? Number(digits) : Number.NaN;
  return Number.isFinite(result) ? result : wrong('num', 'a finite number');
}

/** @type {Record<string, string>} */
const ESCAPES = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '\\': '\\', '/': '/', '"': '"', "'": "'" };

/** @param {Value} value */
function unescapeText(value) {
  const result = text('unescape', value).replace(
    /\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|([\s\S]?))/g,
    (_, long, short, letter) => {
      if (long !== undefined) {
        const codePoint = Number.parseInt(long, 16);
        return codePoint > 0x10ffff ? wrong('unescape', 'known escapes') : String.fromCodePoint(codePoint);
      }
      if (short !== undefined) return String.fromCharCode(Number.parseInt(short, 16));
      return Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : wrong('unescape', 'known escapes');
    },
  );
  if (/\p{Cs}/u.test(result)) wrong('unescape', 'surrogates in pairs');
  return result;
}

/** @param {Value} pairs */
function object(pairs) {
  /** @type {Map<string, Value>} */
  const result = new Map();
  for (const pair of list('object', pairs)) {
    if (!Array.isArray(pair) || pair.length !== 2) wrong('object', 'pairs');
    result.set(text('object', pair[0]), pair[1]);
  }
  return result;
}

/** @param {Value} container @param {Value} key @returns {Value} */
function get(container, key) {
  if (container instanceof Map) return container.get(text('get', key)) ?? null;
  const elements = list('get', container);
  if (typeof key !== 'bigint') wrong('get', 'an int');
  return elements.at(Number(key)) ?? null;
}

/** @param {Value} value */
function len(value) {
  if (Array.isArray(value)) return BigInt(value.length);
  return value instanceof Map ? BigInt(value.size) : BigInt(Array.from(text('len', value)).length);
}

/**
 * Least and greatest number of arguments, and the function.
 * @type {Map<string, [number, number, (...args: any[]) => Value]>}
 */
export const FUNCTIONS = new Map([
  ['int', [1, 2, int]],
  ['num', [1, 1, num]],
  ['str', [1, 1, str]],
  ['lower', [1, 1, (value) => text('lower', value).toLowerCase()]],
  ['upper', [1, 1, (value) => text('upper', value).toUpperCase()]],
  ['trim', [1, 1, (value) => text('trim', value).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')]],
  ['unescape', [1, 1, unescapeText]],
  ['join', [1, 2, (value, separator = '') => list('join', value).map(str).join(text('join', separator))]],
  ['len', [1, 1, len]],
  ['flat', [1, 1, (value) => list('flat', value).flat(1)]],
  ['object', [1, 1, object]],
  ['default', [2, 2, (value, other) => value ?? other]],
  ['get', [2, 2, get]],
]);
