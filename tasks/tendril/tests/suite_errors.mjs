// Errors: in grammars, in inputs and on the command line.

import { suite } from './harness.mjs';

const test = suite('errors');

test('syntax errors point at the token', async (t) => {
  await t.grammarFails('syntax', [
    's = "a" = «"b";',
    's = "a"«',
    's = "a"\n  | «;',
    '# c\ns = ("a"« # c\n\n',
    's = a -> «;',
    's = x:y«:z;',
    's = a.b«:z;',
    's = "a"*«*;',
    's = "a"? «by ",";',
    's = "a"{3,«2};',
    's = "a"{«-1};',
    's = &«!"a";',
    's = list(«(a));',
    's = a «[;',
    's = «skip;',
    '«by = "a";',
    'token s = «operators x { left "a"; };',
    's = operators x { «infix "a"; };',
    's = operators x { left "a" -> $op «| "b"; };',
    's = operators x { «}',
    'use "x"«;',
    'use "x" as «by;',
    'word = «"a";',
    's(«"x") = "a";',
    's = "é" «$x;',
    's = "a" «^ "b";',
  ]);
});

test('syntax errors in literals and templates', async (t) => {
  await t.grammarFails('syntax', [
    's = "a«\\q";',
    's = «"open;\nt = "x";',
    's = "x«\\u{110000}" "y";',
    's = "«\\u{D800}";',
    "s = 'a«\\x41';",
    's = [a-c«z-a];',
    's = [«\\d-z];',
    's = [a«\\p{Xx}];',
    's = «[];',
    's = «[^];',
    's = «[ab;\nt = "]";',
    's = "a" -> {a: 1, «1: 2};',
    's = "a" -> [1, 2«;',
    's = "a" -> {a «1};',
    's = "a" -> «$;',
    's = "a" -> f«;',
    's = "a" -> 1 «2;',
    's = "a" -> [1 «.. 2];',
    'test s "a" => [1, «$x];',
    'test s "a" => {«...1};',
    'test s "a" => «upper("x");',
    'test s «=> 1;',
    'test s "a" fails 1:«x;',
    'test s "a" «passes;',
    "s = 'it\\'s' \"\\u{1F600}😀\" «'",
  ]);
});

test('all name errors are reported in order', async (t) => {
  t.write('lib.tdl', 'a = "a"; b(x) = x;');
  t.write('g/main.tdl', 'use "../lib/one.tdl" as one; use "../lib/two.tdl" as two;\ns = x;');
  t.write('lib/one.tdl', 'use "two.tdl" as two; s = y;');
  t.write('lib/two.tdl', 's = z;\n  t = s(s);');
  await t.grammarFails('name', [
    's = «a "b" «c(«d);\nt = «s(t);',
    'use "lib.tdl" as l; use "lib.tdl" as «l; s = l.a l.b("x") «l.c «m.a «l.b «l.a("x");',
    's = x:t -> [$x, «$y, «@txt, «up($x), «int(), «default(1)];\nt = "t" -> «$x;',
    'l(i, «i) = i «i("x") «j; s = l("a", b); «s = "z"; b = l("b", «l);',
    'skip = " "; word = [a]; «skip = "x"; s = "s"; «word = [b];',
    's = «=x (y:"a") =y &(z:"a" =z) «=z <w:"a" =w> «=w v:(u:"b" =y =u) «=u;',
    's = (a:"x" -> $a) -> «$a; t = b:"x" (c:"y" -> [$c, «$b]) c+:"z" «c:"y" -> $b;',
    's = operators "1" { left "+" -> [$op, $left, $right, «$operand]; prefix "-" -> [$operand, «$left]; };',
    's = "s"; p(x) = x; test «u "" fails; test s "" fails; test «p "" fails; test «q.r "" => 1;',
    'use «"none.tdl" as n; s = n.x; t = «x;',
  ], ['g/main.tdl', ...['g/main.tdl:2:5', 'lib/one.tdl:1:27', 'lib/two.tdl:1:5', 'lib/two.tdl:2:7'].map((place) => `${place}: name error: `)]);
});

test('left recursion is found in every form', async (t) => {
  t.write('a.tdl', 'use "b.tdl" as b; s = b.s; t = "x";');
  t.write('b.tdl', 'use "a.tdl" as a;\ns = a.s "b";');
  await t.grammarFails('grammar', [
    '«e = e "+" n | n; n = "1";',
    's = a; «a = b | "x"; «b = "y"? !"z" c; «c = &a "q"; d = "(" a ")" | d2; d2 = "x" d;',
    's = wrap(t); «wrap(x) = "a"* x; «t = wrap(t) "b"; u = wrap("u");',
    '«e = operators t { left "+"; }; «t = "(" e ")" | ("-"? e);',
    '«s = "a" | ("b"*) (x:s);',
    '«s = operators "1" { left "+"; prefix s "-"; }; t = operators "1" { left t "-"; };',
    '«s = <"a"* s> | "b"{0,2} t; t = "t" s;',
  ], ['a.tdl', 'a.tdl:1:19: grammar error: ', 'b.tdl:2:1: grammar error: ']);
});

test('endless repetitions are found', async (t) => {
  await t.grammarFails('grammar', [
    's = ("a"?)«*;',
    's = ("a"* &"b")«+ (("c" | ())«{2,} "x"){1,3};',
    's = e«* by e | "x"* by e "y" | e* by ","; e = "" | "q";',
    's = many(t) many("x"); many(i) = i«*; t = !"x";',
    's = operators "1" { left «"+"? | "-"; prefix «"-"*; };',
    'skip = (" "*)«*; s = ("a"{0,3})«+ <"b"*>«*;',
    's = l:"a" (=l)«*;',
  ]);
});

test('parse errors name everything that was expected', async (t) => {
  const grammar = `file = stmt* ; stmt = "let" name "=" expr ";" | "print"i expr ";" | call ";"; call = name "(" expr* by "," ")";
    expr "expression" = operators term { left "+"; prefix "-"; }; term = number | name | "(" expr ")" | <"$" [a-z]+> | [%!];
    token name "a name" = [a-zé]+; token number = [0-9]+ ("." [0-9]+)?; skip = [ \\n]*; word = [a-zé];`;
  await t.values(grammar, [], [
    ['let x = ;', '1:9 expected expression, found ";"'],
    ['let x = 1 2;', '1:11 expected "+", ";", found "2"'],
    ['let x = (1 + ', '1:14 expected "(", "-", <"$" [a-z]+>, [%!], a name, number, found end of input'],
    ['f(1,', '1:5 expected expression, found end of input'],
    ['f(1', '1:4 expected ")", "+", ",", found end of input'],
    ['f(1 + )', '1:7 expected "(", "-", <"$" [a-z]+>, [%!], a name, number, found ")"'],
    ['é(1); 😀', '1:7 expected "let", "print"i, a name, end of input, found "😀"'],
    ['let let = 1.;', '1:12 expected "+", ";", found "."'],
    ['print $1', '1:7 expected "(", expression, found "$"'],
    ['x "', '1:3 expected "(", found "\\""'],
    ['x \u0007', '1:3 expected "(", found "\\u{7}"'],
  ]);
});

test('failures in predicates and named rules', async (t) => {
  const grammar = `start = "a" !"b" c | "d" &"e" any | opt "h" | "i" !. | "j" k k2 | "&" (!"x" "y" | "x") "!";
    c = "c"; any = .; opt "option" = ("f" "g")?; k "key" = "k" "l"?; k2 "second" = &"k" k | "m"; skip = " "*;`;
  await t.values(grammar, [], [
    ['a  b', '1:4 unexpected "b"'],
    ['a  d', '1:4 expected "c", found "d"'],
    ['d  x', '1:4 unexpected "x"'],
    ['d', '1:2 unexpected end of input'],
    ['x', '1:1 expected "&", "a", "d", "h", "i", "j", option, found "x"'],
    ['f x', '1:3 expected "g", found "x"'],
    ['i x', '1:3 unexpected "x"'],
    ['j k x', '1:5 expected "l", second, found "x"'],
    ['j', '1:2 expected key, found end of input'],
    ['a c a', '1:5 expected end of input, found "a"'],
    ['&x', '1:3 expected "!", found end of input'],
    ['&z', '1:2 expected "x", "y", found "z"'],
  ]);
});

test('fail stops with its own message', async (t) => {
  const grammar = `start = "if" cond "then" | "x" !bad w | &(fail "never" | "y") "y" bad? | "t" tok | "z" !bad "q" | "z" bad;
    cond = "(" "ok" ")" | "=" fail 'use "==" instead' | [a-z] fail "missing (" ; bad = "!" fail "no \\u{21}";
    token tok = "'" [a-z]* ("'" | fail "open text"); w = "w" | "!"; skip = " "*;`;
  await t.values(
    grammar,
    [
      ['x !', '"!"'],
      ['y', 'null'],
      ["t 'ab'", `"'ab'"`],
    ],
    [
      ['if  = 1', '1:7 use "==" instead'],
      ['if a', '1:5 missing ('],
      ['y !  ', '1:6 no !'],
      ["t 'ab1", '1:6 open text'],
      ['z !', '1:4 no !'],
      ['if (x', '1:5 expected "ok", found "x"'],
    ],
  );
});

test('wrong command lines and files are usage errors', async (t) => {
  t.write('g.tdl', 's = "a"; p(x) = x;');
  t.write('empty.tdl', '# nothing\n');
  t.write('latin.tdl', Buffer.from('s = "\xe9";', 'latin1'));
  t.write('latin.txt', Buffer.from('\xe9', 'latin1'));
  const usage = 'tendril: usage error: ';
  await t.fails([usage, usage], ['check', 'missing.tdl', 'latin.tdl']);
  for (const args of [
    [],
    ['frobnicate', 'g.tdl'],
    ['parse', 'g.tdl', '-r', 'nothing', '-t', 'a'],
    ['parse', 'g.tdl', '-r', 'p', '-t', 'a'],
    ['parse', 'g.tdl', 'input', '-t', 'a'],
    ['parse', 'g.tdl', 'latin.txt'],
    ['parse', 'empty.tdl', '-t', 'a'],
    ['check', 'g.tdl', '--wrong'],
    ['tree', 'g.tdl', 'missing.txt'],
  ]) {
    await t.fails(usage, args);
  }
});
