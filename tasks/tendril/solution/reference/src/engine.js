/**
 * Matches a text against the rules of a grammar: every expression is compiled
 * into a function from a position to a node, or null. Rules are memoised, so
 * the time grows linearly with the text.
 */

import { compileClass } from './classes.js';
import { bind, instanceKey } from './bindings.js';
import { printExpression } from './printer.js';
import { quote } from './quote.js';

/**
 * @typedef {import('./ast.js').Expression} Expression
 * @typedef {import('./ast.js').Rule} Rule
 * @typedef {import('./ast.js').GrammarFile} GrammarFile
 * @typedef {import('./bindings.js').Binding} Binding
 * @typedef {(at: number) => MatchNode | null} Matcher
 *
 * The failures at the furthest position of an attempt. They form a graph, which
 * is only flattened when a message is made.
 * @typedef {{at: number, name: string | null, left: Failures | null, right: Failures | null}} Failures
 *
 * Texts of the labels matched so far in a rule, for backreferences.
 * @typedef {{name: string, text: string, previous: Bound | null} | null} Bound
 *
 * @typedef {{file: GrammarFile, lexical: boolean, bindings: Binding[]}} Context
 */

export class MatchNode {
  /**
   * @param {Expression | import('./ast.js').Level} ast
   * @param {number} tried where it was tried
   * @param {number} first where the first terminal in it starts, -1 without one
   * @param {number} end
   * @param {MatchNode[]} children
   */
  constructor(ast, tried, first, end, children) {
    this.ast = ast;
    this.tried = tried;
    this.first = first;
    this.end = end;
    this.children = children;
    /** Of calls. @type {Rule | null} */
    this.rule = null;
  }

  get start() {
    return this.first < 0 ? this.tried : this.first;
  }
}

/** @type {MatchNode[]} */
const NO_CHILDREN = [];
/** @type {Failures} */
const NO_FAILURES = { at: -1, name: null, left: null, right: null };

/** @param {MatchNode[]} nodes */
function firstTerminal(nodes) {
  for (const node of nodes) if (node.first >= 0) return node.first;
  return -1;
}

export class Machine {
  /** @param {import('./source.js').Source} source the text to match */
  constructor(source) {
    this.source = source;
    this.text = source.text;
    /** @type {Failures} */
    this.failures = NO_FAILURES;
    /** @type {Bound} */
    this.bound = null;
    /** Number of predicates that are being tried. */
    this.predicates = 0;
    /** @type {Map<string, Instance>} */
    this.instances = new Map();
    /** @type {Map<GrammarFile, (at: number) => number>} */
    this.skips = new Map();
    /** @type {Map<GrammarFile, (codePoint: number) => boolean>} */
    this.words = new Map();
  }

  /**
   * Matches the whole text.
   * @param {Rule} rule
   * @returns {MatchNode} of a call of the rule
   */
  parse(rule) {
    const file = /** @type {GrammarFile} */ (rule.file);
    const context = { file, lexical: false, bindings: [] };
    const call = { type: /** @type {const} */ ('call'), at: 0, name: rule.name, args: [], target: { rule } };
    const node = this.compile(call, context)(0);
    if (node !== null) {
      const end = this.skipper(file)(node.end);
      if (end === this.text.length) return node;
      this.fail(end, 'end of input');
    }
    throw this.source.error('parse', this.failures.at, this.explain());
  }

  explain() {
    const names = new Set();
    const seen = new Set();
    const open = [this.failures];
    for (let failures = open.pop(); failures !== undefined; failures = open.pop()) {
      if (seen.has(failures)) continue;
      seen.add(failures);
      if (failures.name !== null) names.add(failures.name);
      if (failures.left !== null) open.push(failures.left);
      if (failures.right !== null) open.push(failures.right);
    }
    const codePoint = this.text.codePointAt(this.failures.at);
    const found = codePoint === undefined ? 'end of input' : quote(String.fromCodePoint(codePoint));
    if (names.size === 0) return `unexpected ${found}`;
    return `expected ${sortByCodePoint([...names]).join(', ')}, found ${found}`;
  }

  // -------------------------------------------------------------- failures

  /** @param {number} at @param {string | null} name @returns {null} */
  fail(at, name) {
    if (at >= this.failures.at) this.merge({ at, name, left: null, right: null });
    return null;
  }

  /** @param {Failures} other */
  merge(other) {
    if (other.at > this.failures.at) this.failures = other;
    else if (other.at === this.failures.at && other.at >= 0 && other !== this.failures) {
      this.failures = { at: other.at, name: null, left: this.failures, right: other };
    }
  }

  // ------------------------------------------------------------------ skip

  /**
   * The function that skips what the file skips between terminals.
   * @param {GrammarFile} file
   * @returns {(at: number) => number}
   */
  skipper(file) {
    const known = this.skips.get(file);
    if (known !== undefined) return known;
    if (file.skip === null) {
      this.skips.set(file, (at) => at);
      return (at) => at;
    }
    const body = this.compile(file.skip.body, { file, lexical: true, bindings: [] });
    const ends = [new Int32Array(this.text.length + 1).fill(-1), new Int32Array(this.text.length + 1).fill(-1)];
    /** @param {number} at */
    const skip = (at) => {
      const cache = ends[this.predicates > 0 ? 1 : 0];
      if (cache[at] < 0) {
        const { failures, bound } = this;
        this.bound = null;
        cache[at] = body(at)?.end ?? at;
        this.failures = failures;
        this.bound = bound;
      }
      return cache[at];
    };
    this.skips.set(file, skip);
    return skip;
  }

  /** @param {Context} context */
  skipIn(context) {
    return context.lexical ? (/** @type {number} */ at) => at : this.skipper(context.file);
  }

  /** @param {GrammarFile} file */
  wordClass(file) {
    if (file.word === null) return null;
    let decide = this.words.get(file);
    if (decide === undefined) {
      decide = compileClass(file.word.body);
      this.words.set(file, decide);
    }
    return decide;
  }

  // ----------------------------------------------------------- expressions

  /**
   * @param {Expression} node
   * @param {Context} context
   * @returns {Matcher}
   */
  compile(node, context) {
    switch (node.type) {
      case 'choice':
        return this.compileChoice(node, context);
      case 'sequence':
        return this.compileSequence(node, context);
      case 'label':
        return this.compileLabel(node, context);
      case 'predicate':
        return this.compilePredicate(node, context);
      case 'repeat':
        return this.compileRepeat(node, context);
      case 'group': {
        const body = this.compile(node.body, context);
        if (!node.scoped) {
          return (at) => {
            const inner = body(at);
            return inner && new MatchNode(node, at, inner.first, inner.end, [inner]);
          };
        }
        return (at) => {
          const { bound } = this;
          const inner = body(at);
          this.bound = bound;
          return inner && new MatchNode(node, at, inner.first, inner.end, [inner]);
        };
      }
      case 'call':
        return this.compileCall(node, context);
      case 'string':
        return this.compileString(node, context);
      case 'class': {
        const contains = compileClass(node);
        return this.terminal(node, context, printExpression(node), (at) => {
          const codePoint = this.text.codePointAt(at);
          return codePoint !== undefined && contains(codePoint) ? at + (codePoint > 0xffff ? 2 : 1) : -1;
        });
      }
      case 'any':
        return this.terminal(node, context, 'any character', (at) => {
          const codePoint = this.text.codePointAt(at);
          return codePoint === undefined ? -1 : at + (codePoint > 0xffff ? 2 : 1);
        });
      case 'capture': {
        const body = this.compile(node.body, { ...context, lexical: true });
        return this.terminal(node, context, printExpression(node), (at) => this.hidden(body, at)?.end ?? -1);
      }
      case 'backreference':
        return this.compileBackreference(node, context);
      case 'fail': {
        const skip = this.skipIn(context);
        return (at) => {
          if (this.predicates > 0) return null;
          throw this.source.error('parse', skip(at), node.message);
        };
      }
      case 'empty':
        return (at) => new MatchNode(node, at, -1, at, NO_CHILDREN);
    }
  }

  /**
   * @param {Expression} node
   * @param {Context} context
   * @param {string} name how it is called among what was expected
   * @param {(at: number) => number} match the end of the match, or -1
   * @returns {Matcher}
   */
  terminal(node, context, name, match) {
    const skip = this.skipIn(context);
    return (at) => {
      const first = skip(at);
      const end = match(first);
      return end < 0 ? this.fail(first, name) : new MatchNode(node, at, first, end, NO_CHILDREN);
    };
  }

  /**
   * A match whose inner failures and labels do not show.
   * @param {Matcher} matcher
   * @param {number} at
   */
  hidden(matcher, at) {
    const { failures, bound } = this;
    const node = matcher(at);
    this.failures = failures;
    this.bound = bound;
    return node;
  }

  /** @param {import('./ast.js').StringNode} node @param {Context} context @returns {Matcher} */
  compileString(node, context) {
    const { text, insensitive } = node;
    const wanted = insensitive ? lowerAscii(text) : text;
    const isWord = context.lexical ? null : this.wordClass(context.file);
    const last = Array.from(text).at(-1)?.codePointAt(0);
    const needsBoundary = isWord !== null && last !== undefined && isWord(last);
    return this.terminal(node, context, printExpression(node), (at) => {
      const end = at + text.length;
      const matches = insensitive
        ? lowerAscii(this.text.slice(at, end)) === wanted
        : this.text.startsWith(wanted, at);
      if (!matches) return -1;
      if (needsBoundary) {
        const next = this.text.codePointAt(end);
        if (next !== undefined && isWord(next)) return -1;
      }
      return end;
    });
  }

  /** @param {import('./ast.js').Backreference} node @param {Context} context @returns {Matcher} */
  compileBackreference(node, context) {
    const skip = this.skipIn(context);
    return (at) => {
      const first = skip(at);
      let bound = this.bound;
      while (bound !== null && bound.name !== node.name) bound = bound.previous;
      if (bound === null) return this.fail(first, printExpression(node));
      if (!this.text.startsWith(bound.text, first)) return this.fail(first, quote(bound.text));
      return new MatchNode(node, at, first, first + bound.text.length, NO_CHILDREN);
    };
  }

  /** @param {import('./ast.js').Choice} node @param {Context} context @returns {Matcher} */
  compileChoice(node, context) {
    const alternatives = node.alternatives.map((alternative) => this.compile(alternative, context));
    if (alternatives.length === 1) return alternatives[0];
    return (at) => {
      const { bound } = this;
      for (const alternative of alternatives) {
        const result = alternative(at);
        if (result !== null) return result;
        this.bound = bound;
      }
      return null;
    };
  }

  /** @param {import('./ast.js').Alternative} node @param {Context} context @returns {Matcher} */
  compileSequence(node, context) {
    const items = node.items.map((item) => this.compile(item, context));
    /** @type {Matcher} */
    const match = (at) => {
      /** @type {MatchNode[]} */
      const children = [];
      let end = at;
      for (const item of items) {
        const child = item(end);
        if (child === null) return null;
        children.push(child);
        end = child.end;
      }
      return new MatchNode(node, at, firstTerminal(children), end, children);
    };
    if (node.action === null) return match;
    return (at) => {
      const { bound } = this;
      const result = match(at);
      this.bound = bound;
      return result;
    };
  }

  /** @param {import('./ast.js').Label} node @param {Context} context @returns {Matcher} */
  compileLabel(node, context) {
    const operand = this.compile(node.operand, context);
    return (at) => {
      const inner = operand(at);
      if (inner === null) return null;
      const text = this.text.slice(inner.start, inner.end);
      this.bound = { name: node.name, text, previous: this.bound };
      return new MatchNode(node, at, inner.first, inner.end, [inner]);
    };
  }

  /** @param {import('./ast.js').Predicate} node @param {Context} context @returns {Matcher} */
  compilePredicate(node, context) {
    const operand = this.compile(node.operand, context);
    const skip = this.skipIn(context);
    return (at) => {
      this.predicates++;
      const matched = this.hidden(operand, at) !== null;
      this.predicates--;
      if (matched === node.negative) return this.fail(skip(at), null);
      return new MatchNode(node, at, -1, at, NO_CHILDREN);
    };
  }

  /** @param {import('./ast.js').Repeat} node @param {Context} context @returns {Matcher} */
  compileRepeat(node, context) {
    const operand = this.compile(node.operand, context);
    const separator = node.separator === null ? null : this.compile(node.separator, context);
    const { min, max, trailing } = node;
    return (at) => {
      /** Items and separators by turns. @type {MatchNode[]} */
      const children = [];
      let end = at;
      let count = 0;
      while (count < max) {
        const { bound } = this;
        const between = separator !== null && count > 0 ? separator(end) : null;
        if (separator !== null && count > 0 && between === null) {
          this.bound = bound;
          break;
        }
        const item = operand(between?.end ?? end);
        if (item === null) {
          this.bound = bound;
          break;
        }
        if (item.end === end && count >= min) break;
        if (between !== null) children.push(between);
        children.push(item);
        end = item.end;
        count++;
      }
      if (count < min) return null;
      if (trailing && separator !== null && count > 0) {
        const last = separator(end);
        if (last !== null) {
          children.push(last);
          end = last.end;
        }
      }
      return new MatchNode(node, at, firstTerminal(children), end, children);
    };
  }

  // ----------------------------------------------------------------- rules

  /** @param {import('./ast.js').Call} node @param {Context} context @returns {Matcher} */
  compileCall(node, context) {
    const bound = bind(node, context.bindings);
    if ('string' in bound) return this.compileString(bound.string, context);
    const { rule } = bound;
    const bindings = node.args.map((argument) => bind(argument, context.bindings));
    if (!rule.token) {
      const instance = this.instance(rule, bindings, context.lexical);
      return (at) => {
        const body = instance.match(at);
        if (body === null) return null;
        const call = new MatchNode(node, at, body.first, body.end, [body]);
        call.rule = rule;
        return call;
      };
    }
    const instance = this.instance(rule, bindings, true);
    const skip = this.skipIn(context);
    const name = rule.display ?? rule.name;
    /** @type {Matcher} */
    const matchToken = (at) => instance.match(at);
    return (at) => {
      const first = skip(at);
      const body = this.hidden(matchToken, first);
      if (body === null) return this.fail(first, name);
      const call = new MatchNode(node, at, first, body.end, [body]);
      call.rule = rule;
      return call;
    };
  }

  /**
   * @param {Rule} rule
   * @param {Binding[]} bindings
   * @param {boolean} lexical
   */
  instance(rule, bindings, lexical) {
    const key = instanceKey(rule, bindings) + (lexical ? 'L' : '');
    let instance = this.instances.get(key);
    if (instance === undefined) {
      instance = new Instance(this, rule, bindings, lexical);
      this.instances.set(key, instance);
    }
    return instance;
  }
}

/** A rule with its arguments, outside or inside of a token. */
class Instance {
  /**
   * @param {Machine} machine
   * @param {Rule} rule
   * @param {Binding[]} bindings
   * @param {boolean} lexical
   */
  constructor(machine, rule, bindings, lexical) {
    this.machine = machine;
    this.rule = rule;
    this.context = { file: /** @type {GrammarFile} */ (rule.file), lexical, bindings };
    /** @type {Matcher | null} */
    this.body = null;
    /**
     * Results outside and inside of predicates, where `fail` does not stop.
     * @type {Map<number, {node: MatchNode | null, failures: Failures}>[]}
     */
    this.memos = [new Map(), new Map()];
  }

  /** @param {number} at @returns {MatchNode | null} */
  match(at) {
    const { machine } = this;
    const memo = this.memos[machine.predicates > 0 ? 1 : 0];
    const known = memo.get(at);
    if (known !== undefined) {
      machine.merge(known.failures);
      return known.node;
    }
    this.body ??= this.compileBody();
    const { failures, bound } = machine;
    machine.failures = NO_FAILURES;
    machine.bound = null;
    const node = this.body(at);
    let inner = machine.failures;
    machine.bound = bound;
    machine.failures = failures;
    if (this.rule.display !== null && !this.rule.token) {
      const start = machine.skipIn(this.context)(at);
      if (inner.at === start) inner = { at: start, name: this.rule.display, left: null, right: null };
    }
    memo.set(at, { node, failures: inner });
    machine.merge(inner);
    return node;
  }

  /** @returns {Matcher} */
  compileBody() {
    const { machine, rule, context } = this;
    if (rule.operators === null) return machine.compile(/** @type {import('./ast.js').Choice} */ (rule.body), context);
    let next = machine.compile(rule.operators.operand, context);
    for (const level of [...rule.operators.levels].reverse()) {
      next = compileLevel(level, machine.compile(level.operator, context), next);
    }
    return next;
  }
}

/**
 * @param {import('./ast.js').Level} level
 * @param {Matcher} operator
 * @param {Matcher} next the level that binds tighter
 * @returns {Matcher}
 */
function compileLevel(level, operator, next) {
  /** @param {number} at @param {number} end @param {MatchNode[]} parts in text order */
  const join = (at, end, ...parts) => new MatchNode(level, at, firstTerminal(parts), end, parts);
  /** @type {Matcher} */
  const prefix = (at) => {
    const sign = operator(at);
    const operand = sign && prefix(sign.end);
    return sign && operand ? join(at, operand.end, sign, operand) : next(at);
  };
  /** @type {Matcher} */
  const right = (at) => {
    const left = next(at);
    const sign = left && operator(left.end);
    const operand = sign && right(sign.end);
    return left && sign && operand ? join(at, operand.end, left, sign, operand) : left;
  };
  /** @type {Matcher} */
  const left = (at) => {
    let result = next(at);
    while (result !== null) {
      const sign = operator(result.end);
      const operand = sign && next(sign.end);
      if (!sign || !operand) break;
      result = join(at, operand.end, result, sign, operand);
      if (level.kind === 'none') break;
    }
    return result;
  };
  /** @type {Matcher} */
  const postfix = (at) => {
    let result = next(at);
    while (result !== null) {
      const sign = operator(result.end);
      if (sign === null) break;
      result = join(at, sign.end, result, sign);
    }
    return result;
  };
  if (level.kind === 'prefix') return prefix;
  if (level.kind === 'postfix') return postfix;
  return level.kind === 'right' ? right : left;
}

/** @param {string} text */
function lowerAscii(text) {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/**
 * By code points, where `sort` alone compares UTF-16 units.
 * @param {string[]} texts
 */
export function sortByCodePoint(texts) {
  return texts.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
