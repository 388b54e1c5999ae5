/** Splits grammar text into tokens, one at a time, as the parser asks for them. */

import { isCategory } from './classes.js';
import { quote } from './quote.js';

/**
 * @typedef {object} Token
 * @property {'name'|'string'|'class'|'number'|'variable'|'span'|'punctuation'|'end'} type
 * @property {string} text the name, the punctuation, the digits, or the value of a string
 * @property {number} start
 * @property {number} end
 * @property {boolean} [insensitive] a string with the suffix `i`
 * @property {boolean} [negated] of a class
 * @property {import('./classes.js').ClassItem[]} [items] of a class
 *
 * @typedef {{text: string, start: number, end: number}} Comment
 */

const BLANK = /[ \t\r\n]*/y;
const COMMENT = /#[^\n]*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?/y;
const PLAIN_NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const RULE_PUNCTUATION = /->|=>|\+:|[;=|&!?*+{},:().<>]/y;
const TEMPLATE_PUNCTUATION = /\.\.\.|[[\]{}(),:;|)>]/y;

/** @type {Record<string, string>} */
const ESCAPES = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" };

export class Lexer {
  /** @param {import('./source.js').Source} source */
  constructor(source) {
    this.source = source;
    this.text = source.text;
    this.at = 0;
    /** End of the last token that was taken. */
    this.lastEnd = 0;
    /** @type {Token | null} */
    this.ahead = null;
    /** In templates `[` is a bracket, everywhere else it starts a class. */
    this.inTemplate = false;
    /** @type {Comment[]} */
    this.comments = [];
  }

  /** @param {number} index @param {string} message */
  error(index, message) {
    return this.source.error('syntax', index, message);
  }

  /** @returns {Token} */
  peek() {
    this.ahead ??= this.read();
    return this.ahead;
  }

  /** @returns {Token} */
  take() {
    const token = this.peek();
    this.ahead = null;
    this.lastEnd = token.end;
    return token;
  }

  /** @param {RegExp} pattern */
  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return null;
    this.at = pattern.lastIndex;
    return found[0];
  }

  skipBlanks() {
    for (;;) {
      this.match(BLANK);
      const start = this.at;
      const comment = this.match(COMMENT);
      if (comment === null) return;
      this.comments.push({ text: comment.trimEnd(), start, end: this.at });
    }
  }

  /** @returns {Token} */
  read() {
    this.skipBlanks();
    const start = this.at;
    const next = this.text[start];
    if (next === undefined) return { type: 'end', text: '', start: this.lastEnd, end: this.lastEnd };
    if (next === '"' || next === "'") return this.readString();
    if (next === '[' && !this.inTemplate) return this.readClass();
    if (next === '$' || next === '@') {
      this.at++;
      const name = this.match(PLAIN_NAME);
      if (name === null) throw this.error(start, `a name must follow ${next}`);
      return { type: next === '$' ? 'variable' : 'span', text: name, start, end: this.at };
    }
    const punctuation = this.inTemplate ? TEMPLATE_PUNCTUATION : RULE_PUNCTUATION;
    for (const [type, pattern] of /** @type {const} */ ([
      ['name', this.inTemplate ? PLAIN_NAME : NAME],
      ['punctuation', punctuation],
      ['number', NUMBER],
    ])) {
      const text = this.match(pattern);
      if (text !== null) return { type, text, start, end: this.at };
    }
    throw this.error(start, `unexpected ${quote(String.fromCodePoint(this.codePoint()))}`);
  }

  codePoint() {
    return /** @type {number} */ (this.text.codePointAt(this.at));
  }

  /** @returns {Token} */
  readString() {
    const start = this.at;
    const mark = this.text[this.at++];
    let value = '';
    for (;;) {
      const next = this.text[this.at];
      if (next === undefined || next === '\n') throw this.error(start, 'a string without an end');
      if (next === mark) break;
      if (next === '\\') {
        value += String.fromCodePoint(this.readEscape(ESCAPES));
      } else {
        value += next;
        this.at++;
      }
    }
    this.at++;
    const insensitive = !this.inTemplate && /^i(?![A-Za-z0-9_])/.test(this.text.slice(this.at, this.at + 2));
    if (insensitive) this.at++;
    return { type: 'string', text: value, insensitive, start, end: this.at };
  }

  /**
   * The code point of an escape, which starts at its backslash.
   * @param {Record<string, string>} known
   */
  readEscape(known) {
    const start = this.at;
    const letter = this.text[start + 1];
    const simple = letter === undefined || !Object.hasOwn(known, letter) ? undefined : known[letter];
    if (simple !== undefined) {
      this.at += 2;
      return simple.charCodeAt(0);
    }
    const found = /^\\u\{([0-9A-Fa-f]+)\}/.exec(this.text.slice(start, start + 40));
    const value = found === null ? Number.NaN : Number.parseInt(found[1], 16);
    if (found === null || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
      throw this.error(start, 'unknown escape');
    }
    this.at += found[0].length;
    return value;
  }

  /** @returns {Token} */
  readClass() {
    const start = this.at++;
    const negated = this.text[this.at] === '^';
    if (negated) this.at++;
    /** @type {import('./classes.js').ClassItem[]} */
    const items = [];
    for (;;) {
      const itemStart = this.at;
      const item = this.readClassItem(start);
      if (item === null) break;
      const dash = this.text[this.at] === '-' && this.text[this.at + 1] !== ']';
      if (!dash) {
        items.push(item);
        continue;
      }
      this.at++;
      const upper = this.readClassItem(start);
      if (item.type !== 'range' || upper?.type !== 'range' || upper.from < item.from) {
        throw this.error(itemStart, 'not a range of characters');
      }
      items.push({ type: 'range', from: item.from, to: upper.from });
    }
    if (items.length === 0) throw this.error(start, 'an empty class');
    return { type: 'class', text: '', negated, items, start, end: this.at };
  }

  /**
   * The next item, or null at the closing bracket.
   * @param {number} classStart
   * @returns {import('./classes.js').ClassItem | null}
   */
  readClassItem(classStart) {
    const next = this.text[this.at];
    if (next === undefined || next === '\n') throw this.error(classStart, 'a class without an end');
    if (next === ']') {
      this.at++;
      return null;
    }
    if (next !== '\\') {
      const codePoint = this.codePoint();
      this.at += codePoint > 0xffff ? 2 : 1;
      return { type: 'range', from: codePoint, to: codePoint };
    }
    const letter = this.text[this.at + 1];
    if (letter === 'd' || letter === 'w' || letter === 's') {
      this.at += 2;
      return { type: 'set', name: letter };
    }
    const property = /^\\p\{([A-Za-z]+)\}/.exec(this.text.slice(this.at, this.at + 8));
    if (property !== null && isCategory(property[1])) {
      this.at += property[0].length;
      return { type: 'property', name: property[1] };
    }
    const codePoint = this.readEscape({ ...ESCAPES, ']': ']', '-': '-', '^': '^' });
    return { type: 'range', from: codePoint, to: codePoint };
  }
}
