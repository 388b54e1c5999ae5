// How expressions match: choices, repetitions, skipping, tokens, operators, parameters, files.

import { suite } from './harness.mjs';

const test = suite('matching');

test('choices are ordered and repetitions never give back', async (t) => {
  const grammar = `start = first | second | third; first = "a" | "ab"; second = "b"* "b" "!"; third = <"c"{2,3}> <"c"*>;`;
  await t.values(grammar, [
    ['a', '"a"'],
    ['cccc', '["ccc","c"]'],
    ['cc', '["cc",""]'],
  ], [
    ['ab', '1:2 expected end of input, found "b"'],
    ['bb!', '1:3 expected "b", found "!"'],
    ['c', '1:1 expected "a", "ab", "b", <"c"{2,3}>, found "c"'],
  ]);
});

test('bounds, separators and trailing separators', async (t) => {
  const grammar = `start = "a" n{2,3} by "," rest:<.*> -> $rest | "b" n* by "," trailing rest:<.*> -> $rest
    | "c" n+ by ("," | ";") rest:<.*> -> $rest | "d" n{2} by "," trailing rest:<.*> -> $rest
    | "e" ("x"{0,3} <.*>) | "f" ("a"?){2,5} "b" | "g" e;
    token n = [0-9]; skip = " "*; u = ("a" -> 1)? (() "c"?){0,3} "b";
    e = "(" e ")" | [0-9] e?; never(x) = x never(x); x = (("a"?){2} by ",")*;`;
  await t.values(grammar, [
    ['a1,2,3,4', '",4"'],
    ['a1,2,', '","'],
    ['b 1 , 2 , ', '""'],
    ['b,', '","'],
    ['b1,,', '","'],
    ['c1,2;3;', '";"'],
    ['d1,2,3', '"3"'],
    ['exxxx', '[["x","x","x"],"x"]'],
    ['fb', '[null,null]'],
    ['faaab', '["a","a","a"]'],
    ['g(1)', '["1",null]'],
  ], [
    ['a1', '1:3 expected ",", found end of input'],
    ['c,', '1:2 expected n, found ","'],
  ]);
});

test('classes: ranges, sets, negation, escapes and categories', async (t) => {
  const grammar = `start = a:<[a-cX-Z]*> "|" b:<[^a-c|]*> "|" c:<[\\d\\w]*> "|" d:<[-+]*> "|" e:<[a^\\]\\-\\\\[-]*> "|" f:<[\\p{Lu}\\p{N}]*>
    "|" g:<[\\u{1F600}-\\u{1F64F}é]*> "|" h:<(![a-cX-Z\\p{Lu}] [^|])*> "|" i:<[^\\s]*>;`;
  await t.values(grammar, [
    [
      'abXZ|dé😀\n|a_9|+-|^]-\\[a|ÄΣ٣Ⅷ|😀é|dä|x\u00a0',
      '{"a":"abXZ","b":"dé😀\\n","c":"a_9","d":"+-","e":"^]-\\\\[a","f":"ÄΣ٣Ⅷ","g":"😀é","h":"dä","i":"x\u00a0"}',
    ],
  ]);
});

test('strings, with and without case', async (t) => {
  const grammar = `start = a:"select"i b:'é"' c:"É"i d:"\\u{1F600}\\t" e:("" "x") f:.;`;
  await t.values(grammar, [['SeLecté"É😀\tx😀', '{"a":"SeLect","b":"é\\"","c":"É","d":"😀\\t","e":null,"f":"😀"}']], [
    ['selecté"é', '1:9 expected "É"i, found "é"'],
    ['selec', '1:1 expected "select"i, found "s"'],
    ['select', '1:7 expected "é\\"", found end of input'],
    ['selecté"É😀\tx', '1:13 expected any character, found end of input'],
  ]);
});

test('skipping happens before terminals, not inside tokens and captures', async (t) => {
  t.write('once.tdl', 'skip = " "; s = "a" "b";');
  const grammar = `use "once.tdl" as once; start = "a" word2 <"b" "c"> pair "." | "o" once.s; token word2 = [x-z] inner [x-z]; inner = "-" "-"; pair = inner [0-9] [0-9];
    skip = ([ \\n] | "/*" (!"*/" .)* "*/" | "//" [^;]* ";")*;`;
  await t.values(grammar, [
    [' a /* . */ x--y// c; bc - /**/ - 1 2 .  ', '["x--y","bc",[null,"1","2"]]'],
    ['o a b ', 'null'],
  ], [
    ['a x --y', '1:3 expected word2, found "x"'],
    ['a x--y b c', '1:8 expected <"b" "c">, found "b"'],
    ['a x--y bc - - 1 2 . x', '1:21 expected end of input, found "x"'],
    ['a x--y bc - - 1 2 . /* open', '1:21 expected end of input, found "/"'],
    ['o a  b', '1:5 expected "b", found " "'],
  ]);
});

test('the word class keeps strings and names apart', async (t) => {
  const grammar = `start = "in" name | "int" name | "<" "in" tail; token name = "n"? [a-z_]+; token tail = "in" [a-z]+ ("of" [a-z]+)?;
    word = [a-z_0-9]; skip = " "*;`;
  await t.values(grammar, [
    ['in x', '"x"'],
    ['int x', '"x"'],
    ['<in inofx', '"inofx"'],
    ['< in inofx', '"inofx"'],
  ], [
    ['inx', '1:1 expected "<", "in", "int", found "i"'],
    ['in_x', '1:1 expected "<", "in", "int", found "i"'],
    ['< in2 inx', '1:3 expected "in", found "i"'],
  ]);
});

test('predicates look ahead without consuming', async (t) => {
  const grammar = `start = "?" s | (!"end" &[a-z] id)* "end"; token id = [a-z]+; skip = " "*;
    s = &(l:"a" =l) <.*> | .;`;
  await t.values(grammar, [
    ['a b end', '["a","b"]'],
    ['end', '[]'],
    ['?aac', '"aac"'],
    ['?a', '"a"'],
  ]);
});

test('backreferences match what a label matched', async (t) => {
  const grammar = `start = heredoc | quoted | nested | twice;
    heredoc = "<<" tag:<[A-Z]+> body:<(![;] .)*> [;] =tag;
    token quoted = q:["'] (!=q .)* =q;
    nested = "(" a:[a-z] inner:("[" b:[a-z] =a =b "]") ")";
    twice = "2" (x:[a-z] ",")* =x | "?" (y:[a-z])? =y | "!" z:[a-z] (z:[a-z] "x" | [a-z]) =z;`;
  await t.values(grammar, [
    ['<<AB some text;AB', '{"tag":"AB","body":" some text"}'],
    [`"it's"`, `"\\"it's\\""`],
    ['(p[qpq])', '{"a":"p","inner":{"b":"q"}}'],
    ['2a,b,b', '{"x":"b"}'],
    ['!aba', '{"z":"a"}'],
    ['!abxb', '{"z":"b"}'],
  ], [
    ['<<AB x;A', '1:8 expected "AB", found "A"'],
    ['2a,b,a', '1:7 expected ",", found end of input'],
    ['?', '1:2 expected =y, [a-z], found end of input'],
  ]);
});

test('operators: levels, grouping and default values', async (t) => {
  const grammar = `expr = operators term { none "<" | ">"; left "+" | "-"; left "*"; prefix "-"; right "^"; postfix "!" | "[" i:expr "]"; };
    term = [0-9] | "(" expr ")"; skip = " "*;`;
  const bin = (op, left, right) => `{"op":"${op}","left":${left},"right":${right}}`;
  const [one, two, three] = ['"1"', '"2"', '"3"'];
  await t.values(grammar, [
    ['1', one],
    ['1 - 2 + 3', bin('+', bin('-', one, two), three)],
    ['1 + 2 * 3', bin('+', one, bin('*', two, three))],
    ['(1 + 2) * 3', bin('*', bin('+', one, two), three)],
    ['1 ^ 2 ^ 3', bin('^', one, bin('^', two, three))],
    ['- - 1 ^ 2', `{"op":"-","operand":{"op":"-","operand":${bin('^', one, two)}}}`],
    ['1!!', `{"op":"!","operand":{"op":"!","operand":${one}}}`],
    ['1[2]!', `{"op":"!","operand":{"op":{"i":${two}},"operand":${one}}}`],
    ['1 < 2 + 3', bin('<', one, bin('+', two, three))],
    ['2 * -1', bin('*', two, `{"op":"-","operand":${one}}`)],
  ], [
    ['1 < 2 < 3', '1:7 expected "!", "*", "+", "-", "[", "^", end of input, found "<"'],
    ['2 ^ -1', '1:5 expected "(", [0-9], found "-"'],
    ['1 +', '1:4 expected "(", "-", [0-9], found end of input'],
  ]);
});

test('operators with actions, words and spans', async (t) => {
  const grammar = `start = e;
    e = operators (a:<[a-z]> | n) {
      left ("or" "else" -> "orelse") | "or" -> [$op, $left, $right];
      left "and" -> {and: [$left, $right], at: @text, from: @start, to: @end};
      prefix "not" -> ["not", $operand, @column];
      postfix "." name:<[a-z]> -> {of: $operand, get: get($op, "name")};
    };
    n = x:<[0-9]+> -> int($x); word = [a-z]; skip = " "*;`;
  await t.values(grammar, [
    ['1 or 2 or else 3', '["orelse",["or",1,2],3]'],
    [' 1  and 2 and 3', '{"and":[{"and":[1,2],"at":"1  and 2","from":1,"to":9},3],"at":"1  and 2 and 3","from":1,"to":15}'],
    ['not not 1', '["not",["not",1,5],1]'],
    ['1 . a . b', '{"of":{"of":1,"get":"a"},"get":"b"}'],
    ['x or 1', '["or",{"a":"x"},1]'],
  ]);
});

test('rules with parameters', async (t) => {
  const grammar = `start = "c" list(num, ",") | "s" list(pair, ";") | "n" wrap(num) | "k" list("k", num) | "i" both("x"i, 'y');
    list(item, sep) = "[" items:item* by sep "]" -> $items;
    wrap(num) = list(list2, "|") num; list2 = list(num, ","); pair = both(num, num);
    both(a, b) = a ":" b; token num = [0-9]+; skip = " "*;`;
  await t.values(grammar, [
    ['c [1, 2]', '["1","2"]'],
    ['s [1:2; 3:4]', '[["1","2"],["3","4"]]'],
    ['n [[1]|[2,3]] 4', '[[["1"],["2","3"]],"4"]'],
    ['k [k 1 k]', '["k","k"]'],
    ['i X : y', '["X","y"]'],
  ], [
    ['c [1; 2]', '1:5 expected ",", "]", found ";"'],
    ['i z', '1:3 expected "x"i, found "z"'],
  ]);
});

test('used files bring their own skip and word', async (t) => {
  t.write('g/main.tdl', `use "../lib/b.tdl" as b; use 'c.tdl' as c; start = "go" b.list c.up b.tok; word = [a-z]; skip = " "*;`);
  t.write('lib/b.tdl', 'use "../g/c.tdl" as up; list = "<" items:item* ">"; item = up.up | "w" "v"; token tok = "t" "t"; skip = "_"*;');
  t.write('g/c.tdl', 'use "./main.tdl" as main; up = "^" "^" | "rec" main.start;');
  await t.lines([
    ['go_<^^_>^^ tt ', '[{"items":[null]},null,"tt"]'],
    ['go<^ ^>', '{"error":"parse","at":"2:5","message":"expected \\"^\\", found \\" \\""}'],
  ], 3, ['g/main.tdl']);
  await t.lines([
    ['_<wv_>__', '{"items":[null]}'],
    ['_<wv> ', '{"error":"parse","at":"2:6","message":"expected end of input, found \\" \\""}'],
  ], 3, ['g/main.tdl', '-r', 'b.list']);
});

test('a rule is not matched twice at the same place', async (t) => {
  t.write('g.tdl', 'e = "(" e ")" "a" | "(" &(e ".") e ")" | "(" !(e "!") e ")" "b" | "x";');
  const depth = 200;
  await t.lines([
    [`${'('.repeat(depth)}x${')b'.repeat(depth)}`, '"x"'],
    [`${'('.repeat(2 * depth)}x]`, `{"error":"parse","at":"2:${2 * depth + 2}","message":"expected \\")\\", found \\"]\\""}`],
  ], 3);
});

const JSON_GRAMMAR = `value "value" = object | array | string | number | "true" -> true | "false" -> false | "null" -> null;
object = "{" members:(k:string ":" v:value -> [$k, $v])* by "," "}" -> object($members);
array = "[" items:value* by "," "]" -> $items;
token string = '"' text:<([^"\\\\\\u{0}-\\u{1F}] | "\\\\" .)*> '"' -> unescape($text);
token number = "-"? ("0" | [1-9] [0-9]*) -> int(@text);
skip = [ \\t\\r\\n]*;`;

test('large and deeply nested inputs', async (t) => {
  t.write('json.tdl', JSON_GRAMMAR);
  const rows = Array.from({ length: 3550 }, (_, id) => ({ id, name: `item "${id}" é`, tags: ['a', null, true], more: { x: [-id, {}] } }));
  const big = JSON.stringify(rows);
  const deep = '['.repeat(1000) + ']'.repeat(1000);
  await t.lines([
    [big, big],
    [deep, deep],
    ['['.repeat(1000), '{"error":"parse","at":"3:1001","message":"expected \\"]\\", value, found end of input"}'],
  ], 3, ['json.tdl'], { timeout: 20_000 });
});
