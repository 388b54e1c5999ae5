import assert from 'node:assert/strict';
import test from 'node:test';
import { ErrorList, TendrilError } from '../src/errors.js';
import { formatGrammar } from '../src/formatter.js';
import { parseGrammar } from '../src/parser.js';
import { Source } from '../src/source.js';
import { findWarnings } from '../src/warnings.js';
import { grammarOf } from './support.js';

/** @param {string} text @returns {string[]} KIND LINE:COLUMN of each error */
function problems(text) {
  try {
    grammarOf(text);
    return [];
  } catch (error) {
    const errors = error instanceof ErrorList ? error.errors : [error];
    return errors.map((each) => {
      assert.ok(each instanceof TendrilError);
      return `${each.kind} ${each.place.split(':').slice(-2).join(':')}`;
    });
  }
}

/** @param {string} text */
function formatted(text) {
  return formatGrammar(parseGrammar(new Source('g.tdl', text)));
}

test('syntax errors', () => {
  assert.deepEqual(problems('s = "a'), ['syntax 1:5']);
  assert.deepEqual(problems('s = "a"'), ['syntax 1:8']);
  assert.deepEqual(problems('s = [z-a];'), ['syntax 1:6']);
});

test('name errors come all at once', () => {
  assert.deepEqual(problems('s = a b:"x" -> $c;\ns = "y" -> nope(@what);'), [
    'name 1:5',
    'name 1:16',
    'name 2:1',
    'name 2:12',
    'name 2:17',
  ]);
});

test('left recursion and endless repetitions', () => {
  assert.deepEqual(problems('a = b; b = "x"? a; c = ("y"?)+;'), ['grammar 1:1', 'grammar 1:8', 'grammar 1:30']);
  assert.deepEqual(problems('a = b; b = "x" a | "z";'), []);
});

test('warnings', () => {
  const lines = findWarnings(grammarOf('s = "a" | "ab"; u = "x";').grammar).map((line) => line.replace(/^.*?:(?=\d)/, ''));
  assert.deepEqual(lines, ['1:11: warning: unreachable alternative', '1:17: warning: unused rule "u"']);
});

test('formatting is stable and keeps comments', () => {
  const once = formatted("# top\n\n\ns='a'|b  # in\n; # end\nb=[-x]{1,1}->{'k':1};");
  assert.equal(once, '# top\n\n# in\ns\n  = "a"\n  | b\n  ; # end\nb = [\\-x]{1} -> {k: 1};\n');
  assert.equal(formatted(once), once);
});

test('first terminals and empty matches', () => {
  const { grammar, analysis } = grammarOf('s = a? &"q" t; a "an a" = "x"; token t = [0-9]; e = a*;');
  assert.deepEqual(analysis.firstOf(grammar.startRule('s')).sort(), ['an a', 't']);
  assert.equal(analysis.matchesEmpty(grammar.startRule('e')), true);
});
