/** Finds what names mean, and the names that mean nothing. */

import { childrenOf, labelledGroup, labelsOf, partsOf } from './ast.js';
import { FUNCTIONS } from './functions.js';

/**
 * @typedef {import('./ast.js').Expression} Expression
 * @typedef {import('./ast.js').Rule} Rule
 * @typedef {import('./errors.js').TendrilError} TendrilError
 */

export const SPANS = new Set(['text', 'line', 'column', 'start', 'end']);

/**
 * Resolves all names of a file whose rules and aliases are known.
 * @param {import('./ast.js').GrammarFile} file
 * @param {TendrilError[]} loadErrors
 * @returns {TendrilError[]} name errors in the order of their places
 */
export function resolveFile(file, loadErrors) {
  const resolver = new Resolver(file);
  resolver.file();
  return sortErrors([...resolver.errors, ...loadErrors]);
}

/** @param {TendrilError[]} errors of one file */
export function sortErrors(errors) {
  /** @param {TendrilError} error */
  const key = (error) => error.place.split(':').slice(-2).map(Number);
  return [...errors].sort((a, b) => {
    const [aLine, aColumn] = key(a);
    const [bLine, bColumn] = key(b);
    return aLine - bLine || aColumn - bColumn;
  });
}

class Resolver {
  /** @param {import('./ast.js').GrammarFile} file */
  constructor(file) {
    this.grammar = file;
    /** @type {TendrilError[]} */
    this.errors = [];
    /** @type {Rule | null} */
    this.rule = null;
  }

  /** @param {number} at @param {string} message */
  report(at, message) {
    this.errors.push(this.grammar.source.error('name', at, message));
  }

  file() {
    const seen = { use: new Set(), rule: new Set(), skip: new Set(), word: new Set() };
    for (const statement of this.grammar.statements) {
      this.rule = null;
      if (statement.type === 'use') {
        this.declare(seen.use, statement.alias, statement.aliasAt);
      } else if (statement.type === 'rule') {
        this.declare(seen.rule, statement.name, statement.nameAt);
        this.resolveRule(statement);
      } else if (statement.type === 'test') {
        this.call(statement.rule, true);
      } else {
        this.declare(seen[statement.type], statement.type, statement.at);
        if (statement.type === 'skip') this.scopes(statement.body, []);
      }
    }
  }

  /** @param {Set<string>} names @param {string} name @param {number} at */
  declare(names, name, at) {
    if (names.has(name)) this.report(at, `"${name}" is defined twice`);
    names.add(name);
  }

  /** @param {Rule} rule */
  resolveRule(rule) {
    this.rule = rule;
    const names = new Set();
    for (const parameter of rule.parameters) this.declare(names, parameter.name, parameter.at);
    for (const part of partsOf(rule)) {
      if (part.type === 'choice') this.scopes(part, []);
      else if (part.type === 'group') this.openGroup(part, []);
      else this.visit(part, []);
    }
    for (const level of rule.operators?.levels ?? []) {
      const isInfix = level.kind !== 'prefix' && level.kind !== 'postfix';
      const known = isInfix ? ['op', 'left', 'right'] : ['op', 'operand'];
      if (level.action !== null) this.template(level.action, new Set(known));
    }
  }

  /**
   * A choice each of whose alternatives is a scope.
   * @param {import('./ast.js').Choice} choice
   * @param {Set<string>[]} chain
   */
  scopes(choice, chain) {
    for (const alternative of choice.alternatives) this.scope(alternative, chain);
  }

  /** @param {import('./ast.js').Group} group @param {Set<string>[]} chain */
  openGroup(group, chain) {
    group.scoped = true;
    this.scopes(group.body, chain);
  }

  /**
   * @param {Expression} node
   * @param {Set<string>[]} chain the labels of the scopes around
   */
  scope(node, chain) {
    const labels = labelsOf(node);
    /** @type {Map<string, boolean>} */
    const forms = new Map();
    for (const label of labels) {
      if ((forms.get(label.name) ?? label.append) !== label.append) {
        this.report(label.at, `"${label.name}" is used with ":" and with "+:"`);
      }
      forms.set(label.name, label.append);
    }
    const names = new Set(forms.keys());
    if (node.type === 'sequence') {
      node.labels = [...names];
      for (const item of node.items) this.visit(item, [...chain, names]);
      if (node.action !== null) this.template(node.action, names);
    } else {
      this.visit(node, [...chain, names]);
    }
  }

  /** @param {Expression} node @param {Set<string>[]} chain */
  visit(node, chain) {
    switch (node.type) {
      case 'sequence':
        if (node.action !== null) return this.scope(node, chain);
        break;
      case 'label': {
        const group = labelledGroup(node);
        if (group === null) break;
        this.openGroup(group, chain);
        if (node.operand.type === 'repeat' && node.operand.separator !== null) this.visit(node.operand.separator, chain);
        return;
      }
      case 'predicate':
        return this.scope(node.operand, chain);
      case 'capture':
        return this.scopes(node.body, chain);
      case 'call':
        return this.call(node, false);
      case 'backreference':
        if (!chain.some((names) => names.has(node.name))) this.report(node.at, `no label "${node.name}"`);
        return;
    }
    for (const child of childrenOf(node)) this.visit(child, chain);
  }

  /** @param {import('./ast.js').Call} call @param {boolean} isTest */
  call(call, isTest) {
    const parameter = this.rule?.parameters.findIndex(({ name }) => name === call.name) ?? -1;
    if (parameter >= 0) {
      call.target = { parameter };
      if (call.args.length > 0) this.report(call.at, `the parameter "${call.name}" takes no arguments`);
    } else {
      this.resolveCall(call, isTest);
    }
    for (const argument of call.args) {
      if (argument.type === 'call') this.call(argument, false);
    }
  }

  /** @param {import('./ast.js').Call} call @param {boolean} isTest */
  resolveCall(call, isTest) {
    const rule = this.findRule(call);
    if (rule === null) return;
    call.target = { rule };
    const count = rule.parameters.length;
    if (count === call.args.length) return;
    this.report(call.at, isTest ? `"${call.name}" has parameters` : `"${call.name}" takes ${count} arguments`);
  }

  /** @param {import('./ast.js').Call} call */
  findRule(call) {
    const [first, second] = call.name.split('.');
    let rules = this.grammar.rules;
    if (second !== undefined) {
      const used = this.grammar.aliases.get(first);
      if (used === undefined) {
        const declared = this.grammar.statements.some(
          (statement) => statement.type === 'use' && statement.alias === first,
        );
        if (!declared) this.report(call.at, `nothing is used as "${first}"`);
        return null;
      }
      rules = used.rules;
    }
    const rule = rules.get(second ?? first);
    if (rule === undefined) {
      this.report(call.at, `no rule "${call.name}"`);
      return null;
    }
    return rule;
  }

  /**
   * @param {import('./ast.js').Template | import('./ast.js').Spread | import('./ast.js').Member} node
   * @param {Set<string>} names
   */
  template(node, names) {
    switch (node.type) {
      case 'variable':
        if (!names.has(node.name)) this.report(node.at, `no label "${node.name}"`);
        break;
      case 'span':
        if (!SPANS.has(node.name)) this.report(node.at, `unknown name "@${node.name}"`);
        break;
      case 'function': {
        const known = FUNCTIONS.get(node.name);
        if (known === undefined) {
          this.report(node.at, `no function "${node.name}"`);
        } else if (node.args.length < known[0] || node.args.length > known[1]) {
          this.report(node.at, `wrong number of arguments of "${node.name}"`);
        }
        for (const argument of node.args) this.template(argument, names);
        break;
      }
      case 'list':
        for (const element of node.elements) this.template(element, names);
        break;
      case 'object':
        for (const member of node.members) this.template(member, names);
        break;
      case 'spread':
      case 'member':
        this.template(node.value, names);
        break;
    }
  }
}
