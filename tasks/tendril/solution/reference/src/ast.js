/**
 * The syntax tree of a grammar file.
 *
 * @typedef {import('./source.js').Source} Source
 * @typedef {import('./classes.js').ClassItem} ClassItem
 *
 * Expressions
 * @typedef {{type: 'choice', at: number, alternatives: Alternative[]}} Choice
 * @typedef {{type: 'sequence', at: number, items: Expression[], action: Template | null,
 *   labels?: string[]}} Alternative `labels`: the names in the scope, set by the resolver for scopes
 * @typedef {{type: 'label', at: number, name: string, append: boolean, operand: Expression}} Label
 * @typedef {{type: 'predicate', at: number, negative: boolean, operand: Expression}} Predicate
 * @typedef {{type: 'repeat', at: number, operatorAt: number, form: '?'|'*'|'+'|'{}', min: number, max: number,
 *   operand: Expression, separator: Expression | null, trailing: boolean}} Repeat
 * @typedef {{type: 'string', at: number, text: string, insensitive: boolean}} StringNode
 * @typedef {{type: 'class', at: number, negated: boolean, items: ClassItem[]}} ClassNode
 * @typedef {{type: 'any', at: number}} Any
 * @typedef {{type: 'call', at: number, name: string, args: Argument[], target?: Target}} Call
 * @typedef {{type: 'group', at: number, body: Choice, scoped?: boolean}} Group `scoped`: its alternatives are scopes
 * @typedef {{type: 'capture', at: number, body: Choice}} Capture
 * @typedef {{type: 'backreference', at: number, name: string}} Backreference
 * @typedef {{type: 'fail', at: number, message: string}} Fail
 * @typedef {{type: 'empty', at: number}} Empty
 * @typedef {Choice | Alternative | Label | Predicate | Repeat | StringNode | ClassNode | Any | Call | Group
 *   | Capture | Backreference | Fail | Empty} Expression
 * @typedef {StringNode | Call} Argument
 * @typedef {{rule: Rule} | {parameter: number}} Target what the name of a call means
 *
 * Templates
 * @typedef {{type: 'constant', at: number, value: import('./values.js').Value, text: string}} Constant
 * @typedef {{type: 'variable', at: number, name: string}} Variable
 * @typedef {{type: 'span', at: number, name: string}} Span
 * @typedef {{type: 'function', at: number, name: string, args: Template[]}} FunctionCall
 * @typedef {{type: 'list', at: number, elements: (Template | Spread)[]}} ListTemplate
 * @typedef {{type: 'object', at: number, members: (Member | Spread)[]}} ObjectTemplate
 * @typedef {{type: 'spread', at: number, value: Template}} Spread
 * @typedef {{type: 'member', at: number, key: string, short: boolean, value: Template}} Member
 * @typedef {Constant | Variable | Span | FunctionCall | ListTemplate | ObjectTemplate} Template
 *
 * Statements
 * @typedef {{type: 'use', at: number, end: number, path: string, pathAt: number, alias: string, aliasAt: number}} Use
 * @typedef {{type: 'skip', at: number, end: number, body: Choice}} Skip
 * @typedef {{type: 'word', at: number, end: number, body: ClassNode}} Word
 * @typedef {{type: 'test', at: number, end: number, rule: Call, input: string, value: Template | null,
 *   position: string | null}} Test
 * @typedef {{type: 'level', kind: 'left'|'right'|'none'|'prefix'|'postfix', at: number, operator: Choice,
 *   action: Template | null}} Level
 * @typedef {{type: 'rule', at: number, end: number, token: boolean, name: string, nameAt: number,
 *   parameters: {name: string, at: number}[], display: string | null, body: Choice | null,
 *   operators: {operand: Expression, levels: Level[]} | null, file?: GrammarFile, id?: number}} Rule
 * @typedef {Use | Skip | Word | Test | Rule} Statement
 *
 * @typedef {object} GrammarFile
 * @property {Source} source
 * @property {Statement[]} statements
 * @property {import('./lexer.js').Comment[]} comments
 * @property {Map<string, Rule>} rules filled by the loader
 * @property {Map<string, GrammarFile>} aliases filled by the loader
 * @property {Skip | null} skip
 * @property {Word | null} word
 */

/**
 * The expressions directly inside of an expression.
 * @param {Expression} node
 * @returns {Expression[]}
 */
export function childrenOf(node) {
  switch (node.type) {
    case 'choice':
      return node.alternatives;
    case 'sequence':
      return node.items;
    case 'label':
    case 'predicate':
      return [node.operand];
    case 'repeat':
      return node.separator === null ? [node.operand] : [node.operand, node.separator];
    case 'group':
    case 'capture':
      return [node.body];
    case 'call':
      return node.args;
    default:
      return [];
  }
}

/**
 * The expressions that make up a rule.
 * @param {Rule} rule
 * @returns {Expression[]}
 */
export function partsOf(rule) {
  if (rule.operators === null) return [/** @type {Choice} */ (rule.body)];
  return [rule.operators.operand, ...rule.operators.levels.map((level) => level.operator)];
}

/**
 * The group that opens a scope of its own because it is labelled: `x:(...)`, `x:(...)*`.
 * @param {Label} label
 * @returns {Group | null}
 */
export function labelledGroup(label) {
  const operand = label.operand.type === 'repeat' ? label.operand.operand : label.operand;
  return operand.type === 'group' ? operand : null;
}

/**
 * The labels that belong to the scope of an alternative, in text order.
 * @param {Expression} node
 * @returns {Label[]}
 */
export function labelsOf(node) {
  /** @type {Label[]} */
  const found = [];
  /** @param {Expression} part */
  const visit = (part) => {
    if (part.type === 'label') {
      found.push(part);
      const group = labelledGroup(part);
      if (group === null) visit(part.operand);
      else if (part.operand.type === 'repeat' && part.operand.separator) visit(part.operand.separator);
    } else if (part.type === 'predicate' || part.type === 'capture') {
      // labels inside are seen only there
    } else if (part.type !== 'sequence' || part.action === null || part === node) {
      childrenOf(part).forEach(visit);
    }
  };
  visit(node);
  return found;
}
