/** What can be known about the rules of a grammar without any input. */

import { childrenOf, partsOf } from './ast.js';
import { bind, instanceKey } from './bindings.js';
import { ErrorList } from './errors.js';
import { printExpression } from './printer.js';
import { sortErrors } from './resolver.js';

/**
 * @typedef {import('./ast.js').Expression} Expression
 * @typedef {import('./ast.js').Rule} Rule
 * @typedef {import('./ast.js').GrammarFile} GrammarFile
 * @typedef {import('./bindings.js').Binding} Binding
 *
 * A rule with bound parameters, or the body of `skip` (without a rule).
 * @typedef {{rule: Rule | null, file: GrammarFile, bindings: Binding[], parts: Expression[]}} Instance
 */

export class Analysis {
  /** @param {import('./loader.js').Grammar} grammar whose names are resolved */
  constructor(grammar) {
    this.grammar = grammar;
    /** @type {Map<string, Instance>} */
    this.instances = new Map();
    for (const file of grammar.files) {
      for (const statement of file.statements) {
        if (statement.type === 'rule' && statement.parameters.length === 0) this.add(statement, []);
      }
      if (file.skip !== null) {
        this.register(`skip ${file.source.label}`, { rule: null, file, bindings: [], parts: [file.skip.body] });
      }
    }
    /** Keys of the instances that can match the empty text. @type {Set<string>} */
    this.empty = new Set();
    this.findEmpty();
  }

  /** @param {Rule} rule @param {Binding[]} bindings */
  add(rule, bindings) {
    const key = instanceKey(rule, bindings);
    const file = /** @type {GrammarFile} */ (rule.file);
    this.register(key, { rule, file, bindings, parts: partsOf(rule) });
    return key;
  }

  /** @param {string} key @param {Instance} instance */
  register(key, instance) {
    if (this.instances.has(key)) return;
    this.instances.set(key, instance);
    /** @param {Expression} node */
    const visit = (node) => {
      if (node.type === 'call') this.callee(node, instance);
      else childrenOf(node).forEach(visit);
    };
    instance.parts.forEach(visit);
  }

  /**
   * The key of the instance that a call means, or the string that it is bound to.
   * @param {import('./ast.js').Call} call
   * @param {Instance} instance
   * @returns {{key: string, rule: Rule} | {string: import('./ast.js').StringNode}}
   */
  callee(call, instance) {
    const bound = bind(call, instance.bindings);
    if ('string' in bound) return bound;
    const key = this.add(bound.rule, call.args.map((argument) => bind(argument, instance.bindings)));
    return { key, rule: bound.rule };
  }

  // ------------------------------------------------------------ empty texts

  findEmpty() {
    for (let size = -1; size !== this.empty.size; ) {
      size = this.empty.size;
      for (const [key, instance] of this.instances) {
        if (this.canBeEmpty(instance.parts[0], instance)) this.empty.add(key);
      }
    }
  }

  /** @param {Expression} node @param {Instance} instance @returns {boolean} */
  canBeEmpty(node, instance) {
    /** @param {Expression} inner */
    const check = (inner) => this.canBeEmpty(inner, instance);
    switch (node.type) {
      case 'choice':
        return node.alternatives.some(check);
      case 'sequence':
        return node.items.every(check);
      case 'label':
        return check(node.operand);
      case 'group':
      case 'capture':
        return check(node.body);
      case 'repeat': {
        if (node.min === 0) return true;
        return check(node.operand) && (node.min === 1 || node.separator === null || check(node.separator));
      }
      case 'string':
        return node.text === '';
      case 'call': {
        const callee = this.callee(node, instance);
        return 'string' in callee ? check(callee.string) : this.empty.has(callee.key);
      }
      case 'predicate':
      case 'backreference':
      case 'empty':
        return true;
      default:
        return false;
    }
  }

  // ----------------------------------------------------------------- errors

  /** Throws the grammar errors, if there are any. */
  check() {
    /** @type {Map<GrammarFile, Map<number, import('./errors.js').TendrilError>>} */
    const found = new Map(this.grammar.files.map((file) => [file, new Map()]));
    /** @param {GrammarFile} file @param {number} at @param {string} message */
    const report = (file, at, message) => {
      found.get(file)?.set(at, file.source.error('grammar', at, message));
    };
    const edges = new Map(Array.from(this.instances, ([key, instance]) => [key, this.leftCalls(instance)]));
    for (const [key, instance] of this.instances) {
      if (instance.rule !== null && reaches(key, edges)) {
        report(instance.file, instance.rule.nameAt, `"${instance.rule.name}" is left-recursive`);
      }
      this.checkLoops(instance, (at, message) => report(instance.file, at, message));
    }
    const errors = this.grammar.files.flatMap((file) => sortErrors([...(found.get(file)?.values() ?? [])]));
    if (errors.length > 0) throw new ErrorList(errors);
  }

  /** @param {Instance} instance @param {(at: number, message: string) => void} report */
  checkLoops(instance, report) {
    /** @param {Expression} node */
    const visit = (node) => {
      if (
        node.type === 'repeat' &&
        node.max === Number.POSITIVE_INFINITY &&
        this.canBeEmpty(node.operand, instance) &&
        (node.separator === null || this.canBeEmpty(node.separator, instance))
      ) {
        report(node.operatorAt, 'repeats something that can be empty');
      }
      childrenOf(node).forEach(visit);
    };
    instance.parts.forEach(visit);
    for (const level of instance.rule?.operators?.levels ?? []) {
      if (this.canBeEmpty(level.operator, instance)) report(level.operator.at, 'an operator that can be empty');
    }
  }

  /**
   * The instances that can be called where this one starts.
   * @param {Instance} instance
   */
  leftCalls(instance) {
    /** @type {Set<string>} */
    const found = new Set();
    /** @param {Expression} node */
    const visit = (node) => {
      if (node.type === 'call') {
        const callee = this.callee(node, instance);
        if ('key' in callee) found.add(callee.key);
      } else if (node.type === 'sequence') {
        for (const item of node.items) {
          visit(item);
          if (!this.canBeEmpty(item, instance)) break;
        }
      } else if (node.type === 'repeat') {
        if (node.max === 0) return;
        visit(node.operand);
        if (node.separator !== null && this.canBeEmpty(node.operand, instance)) visit(node.separator);
      } else {
        childrenOf(node).forEach(visit);
      }
    };
    const operandIsEmpty = this.canBeEmpty(instance.parts[0], instance);
    visit(instance.parts[0]);
    for (const level of instance.rule?.operators?.levels ?? []) {
      if (level.kind === 'prefix' || operandIsEmpty) visit(level.operator);
    }
    return found;
  }

  // ------------------------------------------------------- first terminals

  /**
   * How the terminals are called with which a match of the rule can start.
   * @param {Rule} rule without parameters
   * @returns {string[]}
   */
  firstOf(rule) {
    /** @type {Set<string>} */
    const names = new Set();
    const seen = new Set();
    /** @param {string} key */
    const visitInstance = (key) => {
      if (seen.has(key)) return;
      seen.add(key);
      const instance = /** @type {Instance} */ (this.instances.get(key));
      visit(instance.parts[0], instance);
      const operandIsEmpty = this.canBeEmpty(instance.parts[0], instance);
      for (const level of instance.rule?.operators?.levels ?? []) {
        if (level.kind === 'prefix' || operandIsEmpty) visit(level.operator, instance);
      }
    };
    /** @param {Expression} node @param {Instance} instance */
    const visit = (node, instance) => {
      switch (node.type) {
        case 'call': {
          const callee = this.callee(node, instance);
          if ('string' in callee) names.add(printExpression(callee.string));
          else if (callee.rule.token || callee.rule.display !== null) names.add(callee.rule.display ?? callee.rule.name);
          else visitInstance(callee.key);
          return;
        }
        case 'string':
        case 'class':
        case 'capture':
        case 'backreference':
          names.add(printExpression(node));
          return;
        case 'any':
          names.add('any character');
          return;
        case 'predicate':
          return;
        case 'sequence':
          for (const item of node.items) {
            visit(item, instance);
            if (!this.canBeEmpty(item, instance)) break;
          }
          return;
        case 'repeat':
          if (node.max === 0) return;
          visit(node.operand, instance);
          if (node.separator !== null && this.canBeEmpty(node.operand, instance)) visit(node.separator, instance);
          return;
        default:
          for (const child of childrenOf(node)) visit(child, instance);
      }
    };
    visitInstance(instanceKey(rule, []));
    return [...names];
  }

  /** @param {Rule} rule without parameters */
  matchesEmpty(rule) {
    return this.empty.has(instanceKey(rule, []));
  }
}

/**
 * Whether an instance can call itself at the place where it starts.
 * @param {string} key
 * @param {Map<string, Set<string>>} edges
 */
function reaches(key, edges) {
  const seen = new Set();
  const open = [...(edges.get(key) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === key) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(edges.get(next) ?? []));
  }
  return false;
}
