/** Warnings about the main file: rules without use, alternatives without a chance. */

import { childrenOf, partsOf } from './ast.js';
import { compileClass } from './classes.js';

/**
 * @typedef {import('./ast.js').Expression} Expression
 * @typedef {import('./ast.js').Rule} Rule
 */

/**
 * @param {import('./loader.js').Grammar} grammar without errors
 * @returns {string[]} lines in the order of their places
 */
export function findWarnings(grammar) {
  const file = grammar.main;
  /** @type {{at: number, message: string}[]} */
  const found = [];
  const used = usedRules(grammar);
  for (const rule of file.rules.values()) {
    if (!used.has(rule)) found.push({ at: rule.nameAt, message: `unused rule "${rule.name}"` });
  }
  const sure = surelyMatching(grammar);
  const isWord = file.word === null ? null : compileClass(file.word.body);
  for (const statement of file.statements) {
    if (statement.type === 'skip') {
      visitChoices(statement.body, true, sure, isWord, found);
    } else if (statement.type === 'rule') {
      for (const part of partsOf(statement)) visitChoices(part, statement.token, sure, isWord, found);
    }
  }
  found.sort((a, b) => a.at - b.at);
  return found.map(({ at, message }) => `${file.source.label}:${file.source.lineColumn(at)}: warning: ${message}`);
}

/** @param {Expression} node @param {(call: import('./ast.js').Call) => void} action */
export function forEachCall(node, action) {
  if (node.type === 'call') action(node);
  for (const child of childrenOf(node)) forEachCall(child, action);
}

/** @param {import('./loader.js').Grammar} grammar */
function usedRules(grammar) {
  /** @type {Set<Rule>} */
  const used = new Set();
  /** @param {import('./ast.js').Call} call */
  const follow = (call) => {
    if (call.target !== undefined && 'rule' in call.target) add(call.target.rule);
  };
  /** @param {Rule} rule */
  const add = (rule) => {
    if (used.has(rule)) return;
    used.add(rule);
    for (const part of partsOf(rule)) forEachCall(part, follow);
  };
  const first = grammar.main.rules.values().next().value;
  if (first !== undefined) add(first);
  for (const statement of grammar.main.statements) {
    if (statement.type === 'test') follow(statement.rule);
    if (statement.type === 'skip') forEachCall(statement.body, follow);
  }
  return used;
}

/**
 * The rules that match everywhere, perhaps the empty text.
 * @param {import('./loader.js').Grammar} grammar
 * @returns {(node: Expression) => boolean}
 */
function surelyMatching(grammar) {
  /** @type {Set<Rule>} */
  const rules = new Set();
  /** @param {Expression} node @returns {boolean} */
  const isSure = (node) => {
    switch (node.type) {
      case 'choice':
        return node.alternatives.some(isSure);
      case 'sequence':
        return node.items.every(isSure);
      case 'label':
        return isSure(node.operand);
      case 'group':
      case 'capture':
        return isSure(node.body);
      case 'repeat':
        if (node.min === 0) return true;
        return isSure(node.operand) && (node.min === 1 || node.separator === null || isSure(node.separator));
      case 'string':
        return node.text === '';
      case 'empty':
        return true;
      case 'call':
        return node.target !== undefined && 'rule' in node.target && rules.has(node.target.rule);
      default:
        return false;
    }
  };
  const all = grammar.files.flatMap((file) => [...file.rules.values()]);
  for (let size = -1; size !== rules.size; ) {
    size = rules.size;
    for (const rule of all) if (isSure(partsOf(rule)[0])) rules.add(rule);
  }
  return isSure;
}

/**
 * @param {Expression} node
 * @param {boolean} lexical whether the words of the file do not matter here
 * @param {(node: Expression) => boolean} isSure
 * @param {((codePoint: number) => boolean) | null} isWord
 * @param {{at: number, message: string}[]} found
 */
function visitChoices(node, lexical, isSure, isWord, found) {
  if (node.type === 'choice') {
    node.alternatives.forEach((later, index) => {
      const earlier = node.alternatives.slice(0, index);
      const hidden = earlier.some((alternative) => {
        return isSure(alternative) || isPrefix(alternative, later, lexical ? null : isWord);
      });
      if (hidden) found.push({ at: later.at, message: 'unreachable alternative' });
    });
  }
  for (const child of childrenOf(node)) {
    visitChoices(child, lexical || node.type === 'capture', isSure, isWord, found);
  }
}

/**
 * Whether the earlier alternative is one string that starts the first string of the later one.
 * @param {import('./ast.js').Alternative} earlier
 * @param {import('./ast.js').Alternative} later
 * @param {((codePoint: number) => boolean) | null} isWord
 */
function isPrefix(earlier, later, isWord) {
  const [one, other] = [plainString(earlier.items[0]), plainString(later.items[0])];
  if (earlier.items.length !== 1 || one === null || other === null || !other.startsWith(one)) return false;
  const last = Array.from(one).at(-1)?.codePointAt(0);
  return isWord === null || last === undefined || !isWord(last);
}

/** @param {Expression} node */
function plainString(node) {
  const inner = node.type === 'label' ? node.operand : node;
  return inner.type === 'string' && !inner.insensitive ? inner.text : null;
}
