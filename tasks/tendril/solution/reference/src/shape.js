/** Turns a match into a value: the defaults, labels and actions. */

import { FunctionError, FUNCTIONS } from './functions.js';

/**
 * @typedef {import('./values.js').Value} Value
 * @typedef {import('./engine.js').MatchNode} MatchNode
 * @typedef {import('./ast.js').Expression} Expression
 * @typedef {import('./ast.js').Template} Template
 * @typedef {Map<string, Value>} Scope
 */

/**
 * Whether an item of a sequence adds nothing to its value.
 * @param {Expression} item
 * @returns {boolean}
 */
function isSilent(item) {
  switch (item.type) {
    case 'string':
    case 'predicate':
    case 'empty':
    case 'fail':
      return true;
    case 'call':
      return /(^|\.)_/.test(item.name);
    case 'repeat':
      return item.form === '?' && isSilent(item.operand);
    default:
      return false;
  }
}

/**
 * The names of what an operator and its operands match, in text order.
 * @type {Record<import('./ast.js').Level['kind'], string[]>}
 */
const OPERATOR_PARTS = {
  left: ['left', 'op', 'right'],
  right: ['left', 'op', 'right'],
  none: ['left', 'op', 'right'],
  prefix: ['op', 'operand'],
  postfix: ['operand', 'op'],
};

export class Shaper {
  /** @param {import('./source.js').Source} source the text that was matched */
  constructor(source) {
    this.source = source;
  }

  /** @param {MatchNode} node */
  text(node) {
    return this.source.text.slice(node.start, node.end);
  }

  /**
   * @param {MatchNode} node
   * @param {Scope} scope takes the labels
   * @returns {Value}
   */
  value(node, scope) {
    const { ast } = node;
    switch (ast.type) {
      case 'string':
      case 'class':
      case 'any':
      case 'capture':
      case 'backreference':
        return this.text(node);
      case 'call':
        return this.callValue(node);
      case 'group':
        return ast.scoped ? this.scopeValue(node.children[0]) : this.value(node.children[0], scope);
      case 'sequence':
        return ast.action === null ? this.sequenceValue(ast, node, scope) : this.scopeValue(node);
      case 'repeat':
        return this.repeatValue(ast, node, scope);
      case 'label':
        return this.bindLabel(ast, this.value(node.children[0], scope), scope);
      case 'level':
        return this.levelValue(ast, node);
      default:
        return null;
    }
  }

  /** @param {MatchNode} node of a call */
  callValue(node) {
    const rule = /** @type {import('./ast.js').Rule} */ (node.rule);
    const body = node.children[0];
    if (rule.operators !== null) return this.value(body, new Map());
    const alternative = /** @type {import('./ast.js').Alternative} */ (body.ast);
    if (rule.token && alternative.action === null) return this.text(node);
    return this.scopeValue(body);
  }

  /**
   * The value of an alternative which is a scope.
   * @param {MatchNode} node
   * @returns {Value}
   */
  scopeValue(node) {
    const ast = /** @type {import('./ast.js').Alternative} */ (node.ast);
    const labels = ast.labels ?? [];
    /** @type {Scope} */
    const scope = new Map();
    const value = this.sequenceValue(ast, node, scope);
    if (ast.action !== null) return this.actionValue(ast.action, scope, node);
    if (labels.length === 0) return value;
    /** @type {Map<string, Value>} */
    const record = new Map();
    for (const name of labels) {
      const member = scope.get(name);
      if (member !== undefined) record.set(name, member);
    }
    return record;
  }

  /**
   * @param {import('./ast.js').Alternative} ast
   * @param {MatchNode} node
   * @param {Scope} scope
   */
  sequenceValue(ast, node, scope) {
    const values = node.children.map((child) => this.value(child, scope));
    if (values.length === 1) return values[0];
    const loud = values.filter((_, index) => !isSilent(ast.items[index]));
    if (loud.length === 0) return null;
    return loud.length === 1 ? loud[0] : loud;
  }

  /**
   * @param {import('./ast.js').Repeat} ast
   * @param {MatchNode} node
   * @param {Scope} scope
   */
  repeatValue(ast, node, scope) {
    const values = node.children.map((child) => this.value(child, scope));
    if (ast.form === '?') return values.length === 0 ? null : values[0];
    return ast.separator === null ? values : values.filter((_, index) => index % 2 === 0);
  }

  /** @param {import('./ast.js').Label} label @param {Value} value @param {Scope} scope */
  bindLabel(label, value, scope) {
    if (label.append) {
      const list = scope.get(label.name);
      if (Array.isArray(list)) list.push(value);
      else scope.set(label.name, [value]);
    } else {
      scope.set(label.name, value);
    }
    return value;
  }

  /** @param {import('./ast.js').Level} level @param {MatchNode} node */
  levelValue(level, node) {
    /** @type {Scope} */
    const scope = new Map([['op', null]]);
    OPERATOR_PARTS[level.kind].forEach((name, index) => {
      const part = node.children[index];
      scope.set(name, name === 'op' ? this.scopeValue(part) : this.value(part, new Map()));
    });
    return level.action === null ? scope : this.actionValue(level.action, scope, node);
  }

  // --------------------------------------------------------------- actions

  /** @param {Template} action @param {Scope} scope @param {MatchNode} node */
  actionValue(action, scope, node) {
    try {
      return this.template(action, scope, node);
    } catch (error) {
      if (error instanceof FunctionError) throw this.source.error('action', node.start, error.message);
      throw error;
    }
  }

  /**
   * @param {Template} template
   * @param {Scope} scope
   * @param {MatchNode} node
   * @returns {Value}
   */
  template(template, scope, node) {
    switch (template.type) {
      case 'constant':
        return template.value;
      case 'variable':
        return scope.get(template.name) ?? null;
      case 'span':
        return this.span(template.name, node);
      case 'function': {
        const args = template.args.map((argument) => this.template(argument, scope, node));
        const known = FUNCTIONS.get(template.name);
        return known === undefined ? null : known[2](...args);
      }
      case 'list':
        return template.elements.flatMap((element) => {
          if (element.type !== 'spread') return [this.template(element, scope, node)];
          const value = this.template(element.value, scope, node);
          if (value !== null && !Array.isArray(value)) throw new FunctionError('"..." in a list needs a list');
          return value ?? [];
        });
      case 'object':
        return this.objectTemplate(template, scope, node);
    }
  }

  /** @param {import('./ast.js').ObjectTemplate} template @param {Scope} scope @param {MatchNode} node */
  objectTemplate(template, scope, node) {
    /** @type {Map<string, Value>} */
    const result = new Map();
    for (const member of template.members) {
      const value = this.template(member.value, scope, node);
      if (member.type === 'member') {
        result.set(member.key, value);
      } else if (value instanceof Map) {
        for (const [key, inner] of value) result.set(key, inner);
      } else if (value !== null) {
        throw new FunctionError('"..." in an object needs an object');
      }
    }
    return result;
  }

  /** @param {string} name @param {MatchNode} node @returns {Value} */
  span(name, node) {
    switch (name) {
      case 'text':
        return this.text(node);
      case 'line':
        return BigInt(this.source.position(node.start).line);
      case 'column':
        return BigInt(this.source.position(node.start).column);
      case 'start':
        return BigInt(this.source.offset(node.start));
      default:
        return BigInt(this.source.offset(node.end));
    }
  }
}
