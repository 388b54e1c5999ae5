/** The table of rules that `tendril rules` prints. */

import { partsOf } from './ast.js';
import { sortByCodePoint } from './engine.js';
import { forEachCall } from './warnings.js';

/**
 * @param {import('./loader.js').Grammar} grammar
 * @param {import('./analysis.js').Analysis} analysis
 * @returns {import('./values.js').Value}
 */
export function describeRules(grammar, analysis) {
  return Array.from(grammar.main.rules.values(), (rule) => {
    /** @type {Set<string>} */
    const calls = new Set();
    for (const part of partsOf(rule)) {
      forEachCall(part, (call) => {
        if (call.target !== undefined && 'rule' in call.target) calls.add(call.name);
      });
    }
    const isPlain = rule.parameters.length === 0;
    /** @type {[string, import('./values.js').Value][]} */
    const members = [
      ['name', rule.name],
      ['kind', rule.token ? 'token' : rule.operators === null ? 'rule' : 'operators'],
      ['line', BigInt(grammar.main.source.position(rule.nameAt).line)],
      ['parameters', rule.parameters.map((parameter) => parameter.name)],
      ['calls', sortByCodePoint([...calls])],
      ['empty', isPlain ? analysis.matchesEmpty(rule) : null],
      ['first', isPlain ? sortByCodePoint(analysis.firstOf(rule)) : null],
    ];
    return new Map(members);
  });
}
