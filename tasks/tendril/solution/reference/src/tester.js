/** Runs the tests that a grammar contains. */

import { Machine } from './engine.js';
import { TendrilError } from './errors.js';
import { Shaper } from './shape.js';
import { Source } from './source.js';
import { equalValues, toJson } from './values.js';

/**
 * @param {import('./loader.js').Grammar} grammar
 * @returns {{output: string, passed: boolean}}
 */
export function runTests(grammar) {
  const { source, statements } = grammar.main;
  let output = '';
  let total = 0;
  let passed = 0;
  for (const test of statements) {
    if (test.type !== 'test') continue;
    const problem = findProblem(grammar, test);
    total++;
    if (problem === null) passed++;
    const place = `${source.label}:${source.position(test.at).line}`;
    output += problem === null ? `${place}: ok\n` : `${place}: failed\n${problem.replace(/^/gm, '  ')}\n`;
  }
  return { output: `${output}${passed} of ${total} tests passed\n`, passed: passed === total };
}

/**
 * @param {import('./loader.js').Grammar} grammar
 * @param {import('./ast.js').Test} test
 * @returns {string | null}
 */
function findProblem(grammar, test) {
  const rule = grammar.startRule(test.rule.name);
  const input = new Source('input', test.input);
  let value;
  try {
    value = new Shaper(input).value(new Machine(input).parse(rule), new Map());
  } catch (error) {
    if (!(error instanceof TendrilError)) throw error;
    if (test.value !== null) return `the input fails: ${error}`;
    const wanted = `input:${test.position}`;
    return test.position === null || error.place === wanted ? null : `the input fails elsewhere: ${error}`;
  }
  const received = `received ${toJson(value, true)}`;
  if (test.value === null) return `the input does not fail\n${received}`;
  const expected = new Shaper(input).template(test.value, new Map(), /** @type {any} */ (null));
  return equalValues(value, expected) ? null : `expected ${toJson(expected, true)}\n${received}`;
}
