/** Parses grammar text into its syntax tree. */

import { Lexer } from './lexer.js';
import { quote } from './quote.js';

/** @typedef {import('./ast.js').Expression} Expression */
/** @typedef {import('./ast.js').Template} Template */

const RESERVED = new Set(['use', 'token', 'skip', 'word', 'test', 'operators', 'by', 'trailing', 'fail']);
const LEVEL_KINDS = new Set(['left', 'right', 'none', 'prefix', 'postfix']);

/**
 * @param {import('./source.js').Source} source
 * @returns {import('./ast.js').GrammarFile}
 */
export function parseGrammar(source) {
  return new Parser(source).file();
}

class Parser {
  /** @param {import('./source.js').Source} source */
  constructor(source) {
    this.source = source;
    this.lexer = new Lexer(source);
  }

  // ---------------------------------------------------------------- tokens

  /** @param {import('./lexer.js').Token} token @returns {never} */
  reject(token, wanted = '') {
    const what = token.type === 'end' ? 'the end of the grammar' : quote(this.source.text.slice(token.start, token.end));
    throw this.lexer.error(token.start, `unexpected ${what}${wanted === '' ? '' : `, ${wanted} is missing`}`);
  }

  /** @param {string} text */
  sees(text) {
    const token = this.lexer.peek();
    return token.type === 'punctuation' && token.text === text;
  }

  /** @param {string} word */
  seesWord(word) {
    const token = this.lexer.peek();
    return token.type === 'name' && token.text === word;
  }

  /** @param {string} text */
  accept(text) {
    return this.sees(text) ? this.lexer.take() : null;
  }

  /** @param {string} text */
  expect(text) {
    if (!this.sees(text)) this.reject(this.lexer.peek(), quote(text));
    return this.lexer.take();
  }

  /** @param {string} word */
  expectWord(word) {
    if (!this.seesWord(word)) this.reject(this.lexer.peek(), quote(word));
    return this.lexer.take();
  }

  /** A name which is neither reserved nor qualified. */
  plainName() {
    const token = this.lexer.peek();
    if (token.type !== 'name' || RESERVED.has(token.text) || token.text.includes('.')) this.reject(token, 'a name');
    return this.lexer.take();
  }

  plainString() {
    const token = this.lexer.peek();
    if (token.type !== 'string' || token.insensitive) this.reject(token, 'a string');
    return this.lexer.take();
  }

  /** An int without a sign. */
  count() {
    const token = this.lexer.peek();
    if (token.type !== 'number' || !/^[0-9]+$/.test(token.text)) this.reject(token, 'a number');
    return { token: this.lexer.take(), value: Number(token.text) };
  }

  // ------------------------------------------------------------ statements

  /** @returns {import('./ast.js').GrammarFile} */
  file() {
    const statements = [];
    while (this.lexer.peek().type !== 'end') statements.push(this.statement());
    return {
      source: this.source,
      statements,
      comments: this.lexer.comments,
      rules: new Map(),
      aliases: new Map(),
      skip: null,
      word: null,
    };
  }

  /** @returns {import('./ast.js').Statement} */
  statement() {
    const at = this.lexer.peek().start;
    const statement = this.statementBody(at);
    statement.end = this.expect(';').end;
    return statement;
  }

  /** @param {number} at @returns {import('./ast.js').Statement} */
  statementBody(at) {
    const end = at;
    if (this.seesWord('use')) {
      this.lexer.take();
      const path = this.plainString();
      this.expectWord('as');
      const alias = this.plainName();
      return { type: 'use', at, end, path: path.text, pathAt: path.start, alias: alias.text, aliasAt: alias.start };
    }
    if (this.seesWord('skip')) {
      this.lexer.take();
      this.expect('=');
      return { type: 'skip', at, end, body: this.choice() };
    }
    if (this.seesWord('word')) {
      this.lexer.take();
      this.expect('=');
      const token = this.lexer.peek();
      if (token.type !== 'class') this.reject(token, 'a class');
      return { type: 'word', at, end, body: /** @type {import('./ast.js').ClassNode} */ (this.primary()) };
    }
    if (this.seesWord('test')) return this.test(at);
    return this.rule(at);
  }

  /** @param {number} at @returns {import('./ast.js').Test} */
  test(at) {
    this.lexer.take();
    const name = this.lexer.peek();
    if (name.type !== 'name' || RESERVED.has(name.text)) this.reject(name, 'a rule');
    this.lexer.take();
    /** @type {import('./ast.js').Call} */
    const rule = { type: 'call', at: name.start, name: name.text, args: [] };
    const input = this.plainString().text;
    if (this.seesWord('fails')) {
      this.lexer.take();
      let position = null;
      if (this.lexer.peek().type === 'number') {
        const line = this.count().value;
        this.expect(':');
        position = `${line}:${this.count().value}`;
      }
      return { type: 'test', at, end: at, rule, input, value: null, position };
    }
    this.expect('=>');
    return { type: 'test', at, end: at, rule, input, value: this.template(true), position: null };
  }

  /** @param {number} at @returns {import('./ast.js').Rule} */
  rule(at) {
    const token = this.seesWord('token');
    if (token) this.lexer.take();
    const name = this.plainName();
    const parameters = [];
    if (this.accept('(')) {
      do {
        const parameter = this.plainName();
        parameters.push({ name: parameter.text, at: parameter.start });
      } while (this.accept(','));
      this.expect(')');
    }
    const display = this.lexer.peek().type === 'string' ? this.plainString().text : null;
    this.expect('=');
    /** @type {import('./ast.js').Rule} */
    const rule = {
      type: 'rule',
      at,
      end: at,
      token,
      name: name.text,
      nameAt: name.start,
      parameters,
      display,
      body: null,
      operators: null,
    };
    if (!token && this.seesWord('operators')) rule.operators = this.operators();
    else rule.body = this.choice();
    return rule;
  }

  operators() {
    this.lexer.take();
    const operand = this.primary();
    this.expect('{');
    /** @type {import('./ast.js').Level[]} */
    const levels = [];
    do {
      const kind = this.lexer.peek();
      if (kind.type !== 'name' || !LEVEL_KINDS.has(kind.text)) this.reject(kind, 'a kind of operator');
      this.lexer.take();
      const operator = this.choice(false);
      const action = this.sees('->') ? this.action() : null;
      this.expect(';');
      levels.push({ type: 'level', kind: /** @type {any} */ (kind.text), at: kind.start, operator, action });
    } while (!this.accept('}'));
    return { operand, levels };
  }

  // ----------------------------------------------------------- expressions

  /** @returns {import('./ast.js').Choice} */
  choice(actions = true) {
    this.accept('|');
    const at = this.lexer.peek().start;
    const alternatives = [this.alternative(actions)];
    while (this.accept('|')) alternatives.push(this.alternative(actions));
    return { type: 'choice', at, alternatives };
  }

  /** @param {boolean} actions @returns {import('./ast.js').Alternative} */
  alternative(actions) {
    const items = [this.item()];
    while (this.startsItem()) items.push(this.item());
    const action = actions && this.sees('->') ? this.action() : null;
    return { type: 'sequence', at: items[0].at, items, action };
  }

  action() {
    this.lexer.take();
    return this.template(false);
  }

  startsItem() {
    const token = this.lexer.peek();
    if (token.type === 'string' || token.type === 'class') return true;
    if (token.type === 'name') return token.text === 'fail' || !RESERVED.has(token.text);
    return token.type === 'punctuation' && ['&', '!', '.', '(', '<', '='].includes(token.text);
  }

  /** @returns {Expression} */
  item() {
    const token = this.lexer.peek();
    const sign = this.accept('&') ?? this.accept('!');
    if (sign) {
      return { type: 'predicate', at: sign.start, negative: sign.text === '!', operand: this.suffixed() };
    }
    const first = this.suffixed();
    const append = this.sees('+:');
    if (!append && !this.sees(':')) return first;
    if (first.type !== 'call' || first.name.includes('.') || this.lexer.lastEnd !== token.end) {
      this.reject(this.lexer.peek());
    }
    this.lexer.take();
    return { type: 'label', at: first.at, name: first.name, append, operand: this.suffixed() };
  }

  /** @returns {Expression} */
  suffixed() {
    const operand = this.primary();
    const token = this.lexer.peek();
    if (token.type !== 'punctuation' || !['?', '*', '+', '{'].includes(token.text)) return operand;
    this.lexer.take();
    let [min, max] = token.text === '?' ? [0, 1] : [token.text === '+' ? 1 : 0, Number.POSITIVE_INFINITY];
    if (token.text === '{') [min, max] = this.bounds();
    /** @type {import('./ast.js').Repeat} */
    const node = {
      type: 'repeat',
      at: operand.at,
      operatorAt: token.start,
      form: token.text === '{' ? '{}' : /** @type {any} */ (token.text),
      min,
      max,
      operand,
      separator: null,
      trailing: false,
    };
    if (token.text !== '?' && this.seesWord('by')) {
      this.lexer.take();
      node.separator = this.primary();
      node.trailing = this.seesWord('trailing');
      if (node.trailing) this.lexer.take();
    }
    return node;
  }

  /** @returns {[number, number]} */
  bounds() {
    const min = this.count().value;
    let max = min;
    if (this.accept(',')) {
      max = Number.POSITIVE_INFINITY;
      if (!this.sees('}')) {
        const upper = this.count();
        max = upper.value;
        if (max < min) this.reject(upper.token);
      }
    }
    this.expect('}');
    return [min, max];
  }

  /** @returns {Expression} */
  primary() {
    const token = this.lexer.peek();
    const at = token.start;
    if (token.type === 'string') {
      this.lexer.take();
      return { type: 'string', at, text: token.text, insensitive: token.insensitive === true };
    }
    if (token.type === 'class') {
      this.lexer.take();
      return { type: 'class', at, negated: token.negated === true, items: token.items ?? [] };
    }
    if (token.type === 'name') {
      if (token.text === 'fail') {
        this.lexer.take();
        return { type: 'fail', at, message: this.plainString().text };
      }
      if (!RESERVED.has(token.text)) return this.call();
    }
    if (this.accept('.')) return { type: 'any', at };
    if (this.accept('=')) return { type: 'backreference', at, name: this.plainName().text };
    if (this.accept('<')) {
      const body = this.choice();
      this.expect('>');
      return { type: 'capture', at, body };
    }
    if (this.accept('(')) {
      if (this.accept(')')) return { type: 'empty', at };
      const body = this.choice();
      this.expect(')');
      return { type: 'group', at, body };
    }
    return this.reject(token);
  }

  /** @returns {import('./ast.js').Call} */
  call() {
    const name = this.lexer.take();
    /** @type {import('./ast.js').Argument[]} */
    const args = [];
    if (this.sees('(') && this.lexer.peek().start === name.end) {
      this.lexer.take();
      do {
        const token = this.lexer.peek();
        if (token.type !== 'string' && (token.type !== 'name' || RESERVED.has(token.text))) {
          this.reject(token, 'a name or a string');
        }
        this.lexer.take();
        args.push(
          token.type === 'string'
            ? { type: 'string', at: token.start, text: token.text, insensitive: token.insensitive === true }
            : { type: 'call', at: token.start, name: token.text, args: [] },
        );
      } while (this.accept(','));
      this.expect(')');
    }
    return { type: 'call', at: name.start, name: name.text, args };
  }

  // ------------------------------------------------------------- templates

  /**
   * A template; a constant one has no variables, spans, functions and spreads.
   * The lexer must not look ahead over its end, where `[` changes its meaning.
   * @param {boolean} constant
   * @returns {Template}
   */
  template(constant) {
    this.lexer.inTemplate = true;
    const result = this.templateValue(constant);
    this.lexer.inTemplate = false;
    return result;
  }

  /** @param {boolean} constant @returns {Template} */
  templateValue(constant) {
    const token = this.lexer.take();
    const at = token.start;
    switch (token.type) {
      case 'string':
        return { type: 'constant', at, value: token.text, text: quote(token.text) };
      case 'number': {
        const value = /^-?[0-9]+$/.test(token.text) ? BigInt(token.text) : Number(token.text);
        return { type: 'constant', at, value, text: token.text };
      }
      case 'variable':
      case 'span':
        if (constant) this.reject(token);
        return { type: token.type, at, name: token.text };
      case 'name':
        return this.templateName(token, constant);
      default:
        if (token.type === 'punctuation' && token.text === '[') return this.templateList(at, constant);
        if (token.type === 'punctuation' && token.text === '{') return this.templateObject(at, constant);
        return this.reject(token, 'a value');
    }
  }

  /** @param {import('./lexer.js').Token} token @param {boolean} constant @returns {Template} */
  templateName(token, constant) {
    const at = token.start;
    const name = token.text;
    if (name === 'true' || name === 'false') return { type: 'constant', at, value: name === 'true', text: name };
    if (name === 'null') return { type: 'constant', at, value: null, text: name };
    if (constant) this.reject(token);
    this.expect('(');
    const args = [];
    if (!this.accept(')')) {
      do args.push(this.templateValue(constant));
      while (this.accept(','));
      this.expect(')');
    }
    return { type: 'function', at, name, args };
  }

  /** @param {boolean} constant @returns {import('./ast.js').Spread | null} */
  spread(constant) {
    if (constant || !this.sees('...')) return null;
    const at = this.lexer.take().start;
    return { type: 'spread', at, value: this.templateValue(constant) };
  }

  /** @param {number} at @param {boolean} constant @returns {Template} */
  templateList(at, constant) {
    const elements = [];
    if (!this.accept(']')) {
      do elements.push(this.spread(constant) ?? this.templateValue(constant));
      while (this.accept(','));
      this.expect(']');
    }
    return { type: 'list', at, elements };
  }

  /** @param {number} at @param {boolean} constant @returns {Template} */
  templateObject(at, constant) {
    const members = [];
    if (!this.accept('}')) {
      do members.push(this.spread(constant) ?? this.member(constant));
      while (this.accept(','));
      this.expect('}');
    }
    return { type: 'object', at, members };
  }

  /** @param {boolean} constant @returns {import('./ast.js').Member} */
  member(constant) {
    const token = this.lexer.take();
    const at = token.start;
    if (token.type === 'variable' && !constant) {
      return { type: 'member', at, key: token.text, short: true, value: { type: 'variable', at, name: token.text } };
    }
    if (token.type !== 'name' && token.type !== 'string') this.reject(token, 'a key');
    this.expect(':');
    return { type: 'member', at, key: token.text, short: false, value: this.templateValue(constant) };
  }
}
