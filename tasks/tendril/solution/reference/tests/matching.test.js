import assert from 'node:assert/strict';
import test from 'node:test';
import { valueOf } from './support.js';

/** @param {string} grammar @param {string} input @param {string} message */
function fails(grammar, input, message) {
  assert.throws(() => valueOf(grammar, input), (error) => String(error) === message);
}

test('sequences drop silent items', () => {
  assert.equal(valueOf('s = "(" [a-z] ")";', '(x)'), '"x"');
  assert.equal(valueOf('s = "(" ")";', '()'), 'null');
  assert.equal(valueOf('s = ("-") [a-z];', '-x'), '["-","x"]');
});

test('labels, groups and actions', () => {
  assert.equal(valueOf('s = a:"x" (b:"y")? c:(d:"z")*;', 'xzz'), '{"a":"x","c":[{"d":"z"},{"d":"z"}]}');
  assert.equal(valueOf('s = (n+:[0-9] ","?)* -> [...$n, @end];', '1,2'), '["1","2",3]');
});

test('operators group by level and side', () => {
  const grammar = 's = operators [0-9] { left "-" -> [$left, $right]; right "^" -> [$left, $right]; };';
  assert.equal(valueOf(grammar, '1-2-3^4^5'), '[["1","2"],["3",["4","5"]]]');
});

test('the furthest failures are reported', () => {
  fails('s = "a" t | "a" "c"; t "thing" = "b" "d" | "e";', 'ax', 'input:1:2: parse error: expected "c", thing, found "x"');
  fails('s = "a" t | "a" "c"; t "thing" = "b" "d" | "e";', 'ab', 'input:1:3: parse error: expected "d", found end of input');
  fails('s = !"a" .;', 'a', 'input:1:1: parse error: unexpected "a"');
});

test('fail only stops outside of predicates', () => {
  assert.equal(valueOf('s = !bad [x] | "y"; bad = "x" fail "no";', 'x'), '"x"');
  fails('s = !bad "x" "z" | bad; bad = "x" fail "no";', 'x', 'input:1:2: parse error: no');
});

test('time does not explode', () => {
  const nested = `${'('.repeat(300)}x${')'.repeat(300)}`;
  assert.equal(valueOf('s = "(" s ")" "!" | "(" s ")" | "x";', nested), '"x"');
});
