// What a match is worth: default values, labels and their scopes, actions, functions.

import { suite } from './harness.mjs';

const test = suite('values');

const LEX = 'skip = [ \\t\\n]*; word = [a-z]; token id = [a-z]+; token n = [0-9]+ -> int(@text);\n';

test('sequences leave silent items out', async (t) => {
  const grammar = `start = "one" id | "two" id n | "three" | "four" "x" | "five" _gap id _gap | "six" ("!") id
    | "seven" &id !n id () | "eight" "."? id "."? | "nine" n? id | "ten" ["] id;
    _gap = "-"*;\n${LEX}`;
  await t.values(grammar, [
    ['one a', '"a"'],
    ['two a 7', '["a",7]'],
    ['three', '"three"'],
    ['four x', 'null'],
    ['five -- a -', '"a"'],
    ['six ! a', '["!","a"]'],
    ['seven a', '"a"'],
    ['eight a .', '"a"'],
    ['nine a', '[null,"a"]'],
    ['nine 3 a', '[3,"a"]'],
    ['ten " a', '["\\"","a"]'],
  ]);
});

test('repetitions give lists, options null', async (t) => {
  const grammar = `start = "a" id* | "b" n+ | "c" (id n)* | "d" id? | "e" n{2} | "f" n* by "," | "g" (id by2)* ;
    by2 = n+ by ";";\n${LEX}`;
  await t.values(grammar, [
    ['a', '[]'],
    ['a x yz', '["x","yz"]'],
    ['b 1 2', '[1,2]'],
    ['c x 1 y 2', '[["x",1],["y",2]]'],
    ['d', 'null'],
    ['d x', '"x"'],
    ['e 1 2', '[1,2]'],
    ['f 1, 2 ,3', '[1,2,3]'],
    ['g x 1;2 y 3', '[["x",[1,2]],["y",[3]]]'],
  ]);
});

test('labels make objects in the order of the grammar', async (t) => {
  const grammar = `start = "let" name:id ("as" alias:id)? "=" value:(n | id) | "keys" ("a" second:n | "b" first:n)*
      | "many" (all+:id last:id)* rest:n? | plain;
    plain = id n;\n${LEX}`;
  await t.values(grammar, [
    ['let x = 5', '{"name":"x","value":5}'],
    ['let x as y = z', '{"name":"x","alias":"y","value":"z"}'],
    ['keys b 1 a 2', '{"second":2,"first":1}'],
    ['keys', '{}'],
    ['many a b c d', '{"all":["a","c"],"last":"d","rest":null}'],
    ['many 4', '{"rest":4}'],
    ['foo 4', '["foo",4]'],
  ]);
});

test('a labelled group is a scope of its own', async (t) => {
  const grammar = `start = "tab" cells:(key:id "=" val:n)* by "," end:"." | "one" pair:(a:id b:n)
      | "opt" pair:(a:id b:n)? x:id | "alt" it:(a:id | n | b:id) | "deep" outer:(in:(x:id y:n) ("," z:id)?);\n${LEX}`;
  await t.values(grammar, [
    ['tab a=1, b = 2.', '{"cells":[{"key":"a","val":1},{"key":"b","val":2}],"end":"."}'],
    ['tab .', '{"cells":[],"end":"."}'],
    ['one a 1', '{"pair":{"a":"a","b":1}}'],
    ['opt a', '{"pair":null,"x":"a"}'],
    ['alt 5', '{"it":5}'],
    ['alt q', '{"it":{"a":"q"}}'],
    ['deep p 1, q', '{"outer":{"in":{"x":"p","y":1},"z":"q"}}'],
  ]);
});

test('alternatives with an action are scopes wherever they stand', async (t) => {
  const grammar = `start = "pairs" (k:id v:n -> [$v, $k])* by "," | "mix" a:id (b:n -> {n: $b})+
      | "or" a:n | "or" x:id -> $x | "lone" (id -> "replaced") n;\n${LEX}`;
  await t.values(grammar, [
    ['pairs a 1, b 2', '[[1,"a"],[2,"b"]]'],
    ['mix q 1 2', '{"a":"q"}'],
    ['or 1', '{"a":1}'],
    ['or z', '"z"'],
    ['lone z 1', '["replaced",1]'],
  ]);
});

test('templates build any JSON', async (t) => {
  const grammar = `start = "c" -> [1, -2.50, 1e3, true, false, null, 'it\\'s', {}, []]
    | "o" a:id b:n? -> {type: "o", "two words": $a, $b, nested: {list: [[$a], $b]}}
    | "s" (a+:n)* b:(x:id)? -> {all: [0, ...$a, 9], ...$b, x2: 1, ...$b}
    | "k" -> {b: 1, "10": 2, "2": 3, b: 4, "__proto__": 5};\n${LEX}`;
  await t.values(grammar, [
    ['c', '[1,-2.5,1000,true,false,null,"it\'s",{},[]]'],
    ['o e', '{"type":"o","two words":"e","b":null,"nested":{"list":[["e"],null]}}'],
    ['o e 7', '{"type":"o","two words":"e","b":7,"nested":{"list":[["e"],7]}}'],
    ['s', '{"all":[0,9],"x2":1}'],
    ['s 1 2 q', '{"all":[0,1,2,9],"x":"q","x2":1}'],
    ['k', '{"b":4,"10":2,"2":3,"__proto__":5}'],
  ]);
});

test('spans tell what an alternative matched', async (t) => {
  const grammar = `start = items:item* ; token id = [a-zé😀]+; skip = ([ \\n] | "#" [^\\n]*)*;
    item = "<" id ">" -> [@text, @line, @column, @start, @end] | "_" inner:empty -> $inner
      | &"?" any:(![ ] "?" -> @start) -> {$any, at: @start};
    empty = "x"? -> [@text, @start, @end];`;
  await t.values(grammar, [
    [
      '  < ab ><a>\n #c\n  <😀é> _  x_  _ ? _',
      '{"items":[["< ab >",1,3,2,8],["<a>",1,9,8,11],["<😀é>",3,3,18,22],["x",26,27],["",28,28],["",31,31],{"any":32,"at":32},["",35,35]]}',
    ],
  ]);
});

test('numbers: int of any size and base, num as doubles', async (t) => {
  const grammar = `start = "int" x:w -> int($x) | "hex" x:w -> int($x, 16) | "b36" x:w -> int($x, 36)
    | "num" x:w -> num($x) | "again" x:i -> [int($x), num($x), num(2.5)];
    i = x:w -> int($x); token w = [^ ]+; skip = " "*;`;
  await t.values(grammar, [
    ['int 123456789012345678901234567890', '123456789012345678901234567890'],
    ['int -007', '-7'],
    ['int +5', '5'],
    ['hex fFfFfFfFfFfFfFfFf', '295147905179352825855'],
    ['b36 Zz', '1295'],
    ['num 2.50', '2.5'],
    ['num 1e21', '1e+21'],
    ['num 3', '3'],
    ['num -0.000001', '-0.000001'],
    ['again 9007199254740993', '[9007199254740993,9007199254740992,2.5]'],
  ], ['int 1.5', 'int 0x1', 'hex -f', 'hex fg', 'num .5', 'num 1e999', 'num Infinity', 'int \u0663'].map((text) => [text, 'action 1']));
});

test('text functions', async (t) => {
  const grammar = `start = f:f* by " " -> $f;
    f = "u" x:w -> [upper($x), lower($x)] | "t" x:q -> trim(unescape($x)) | "l" x:q -> len($x) | "e" x:q -> unescape($x)
      | "s" -> [str("a"), str(12), str(2.5), str(true), str(null)]
      | "j" -> [join(["a", 1, null]), join(["a", "b"], ", "), join([])];
    token q = "'" x:<[^']*> "'" -> $x; token w = [A-Za-zäß]+;`;
  await t.values(grammar, [
    ['uaBß', '[["ABSS","abß"]]'],
    ["t' \\t\\r\\n a b\u00a0\\n'", '["a b\u00a0"]'],
    ["l'aé😀' l''", '[3,0]'],
    [String.raw`e'a\n\t\\\/\"\u00e9\uD83D\uDE00\u{1F600}'`, String.raw`["a\n\t\\/\"é😀😀"]`],
    ['s', '[["a","12","2.5","true","null"]]'],
    ['j', '[["a1null","a, b",""]]'],
  ], [String.raw`e'\x'`, String.raw`e'\uD83D'`, String.raw`e'\u12'`, String.raw`e'a\'`].map((text) => [text, 'action 1']));
});

test('functions on lists and objects', async (t) => {
  const grammar = `start = "flat" -> flat([1, [2, [3]], [], "x"]) | "len" -> [len([1, [2]]), len({a: 1}), len([])]
    | "object" pairs:(k:k v:k -> [$k, $v])* -> object($pairs)
    | "get" -> [get([1, 2, 3], 0), get([1, 2, 3], -1), get([1], 1), get({a: 5}, "a"), get({a: 5}, "b"), get({}, "constructor")]
    | "default" x:k? -> [default($x, "none"), default(false, 1), default(null, null)]
    | "bad" ("a" -> get([1], "0") | "b" -> object([["x"]]) | "c" -> flat("x") | "d" -> len(5) | "e" -> join([[1]])
      | "f" -> upper(null) | "g" -> [...{}] | "h" -> {...[1]} | "i" -> get("abc", 0) | "j" -> object([[1, 2]]));
    token k = [a-z]; skip = " "*;`;
  await t.values(grammar, [
    ['flat', '[1,2,[3],"x"]'],
    ['len', '[2,1,0]'],
    ['object a b c d a e', '{"a":"e","c":"d"}'],
    ['get', '[1,3,null,5,null,null]'],
    ['default', '["none",false,null]'],
    ['default x', '["x",false,null]'],
  ], Array.from('abcdefghij', (letter) => [`bad ${letter}`, 'action 5']));
});

test('actions run only for what was taken, after the match', async (t) => {
  const grammar = `start = a "x" | b "y" | c; a = ("1" -> int("no")) "2"; b = "1" "2" -> "b";
    c = first:d second:d -> $first; d = "3" -> int("no") | "4" -> 4; skip = " "*;`;
  await t.values(grammar, [['1 2 y', '"b"']], [
    ['1 2 x', 'action 1'],
    ['4 3', 'action 3'],
    ['13', '1:2 expected "2", found "3"'],
  ]);
});
