// The other commands: tree, check, format, rules, test; files and streams.

import { suite } from './harness.mjs';

const test = suite('tools');

test('parse prints indented JSON and reads every kind of input', async (t) => {
  t.write('g.tdl', '\uFEFFs = items:("x" -> {a: [], b: {}, c: [1, {d: "é\\n"}]})* rest:<[^x]*>; word2 = <.+>;');
  t.write('in.txt', '\uFEFFx\n\té');
  const pretty = `{
  "items": [
    {
      "a": [],
      "b": {},
      "c": [
        1,
        {
          "d": "é\\n"
        }
      ]
    }
  ],
  "rest": "\\n\\té"
}
`;
  await t.prints(pretty, ['parse', 'g.tdl', '-'], { stdin: 'x\n\té', env: { LANG: 'C', LC_ALL: 'C' } });
  await t.prints('{"items":[],"rest":""}\n', ['parse', '--compact', 'g.tdl', '--text', ''], { stdin: 'x' });
  await t.prints('"--é"\n', ['parse', '-t', '--é', '--rule=word2', 'g.tdl']);
  await t.prints('', ['parse', 'g.tdl', 'in.txt', '-o', 'out.json']);
  t.equal(t.read('out.json'), pretty, 'the file of -o');
  await t.prints('', ['parse', 'g.tdl', '--lines', '-o', 'out.json', '-r', 'word2'], { stdin: 'x\n\né', status: 3 });
  const failure = '{"error":"parse","at":"2:1","message":"expected <.+>, found end of input"}';
  t.equal(t.read('out.json'), `"x"\n${failure}\n"é"\n`, 'the file of -o after parse --lines');
  await t.prints('tendril 1.0.0\n', ['--version']);
});

test('errors leave the output file alone and name the input', async (t) => {
  t.write('g.tdl', 's = "x" | "y" z; z = "z" -> int("y");');
  t.write('sub/in.txt', 'z');
  t.write('out.json', '"x"\n');
  await t.fails('sub/in.txt:1:1: parse error: expected "x", "y", found "z"', ['tree', 'g.tdl', 'sub/in.txt', '--output', 'out.json']);
  await t.fails('<text>:1:2: action error: ', ['parse', 'g.tdl', '-o', 'out.json', '-t', 'yz']);
  t.equal(t.read('out.json'), '"x"\n', 'the file of -o after errors');
  t.write('g.tdl', 's = t;');
  await t.fails('../g.tdl:1:5: name error: ', ['rules', '../g.tdl'], { cwd: `${t.cwd}/sub` });
});

test('tree shows the rules that took part', async (t) => {
  t.write('u.tdl', 'skip = [ ]*; pair(a) = a "=" a; token wd = letter+; letter = [a-z"\\n];');
  t.write(
    'g.tdl',
    `use "u.tdl" as u; file = sum* by end none; end = ";"; none = "?"?; skip = [ ]*;
    sum = operators atom { left "+"; prefix "-" mark; }; mark = "'"?; atom = &num num | u.pair(u.wd) | "(" sum ")"; token num = [0-9]+;`,
  );
  await t.prints(
    `file 1:1-2:9
  sum 1:1-1:11
    atom 1:1-1:2
      num 1:1-1:2 "1"
    mark 1:6-1:6
    atom 1:6-1:11
      sum 1:8-1:9
        atom 1:8-1:9
          num 1:8-1:9 "2"
  end 1:12-1:13
  sum 1:14-2:9
    atom 1:14-2:9
      pair 1:14-2:9
        wd 1:14-2:2 "a\\n\\""
        wd 2:6-2:9 "b\\"c"
  none 2:9-2:9
`,
    ['tree', 'g.tdl', '-t', '1 + -( 2 ) ; a\n" =  b"c  '],
  );
});

test('check warns about unused rules', async (t) => {
  t.write('lib.tdl', 'a = "a"; unused = "b";');
  t.write(
    'g.tdl',
    `use "lib.tdl" as lib; start = lib.a list(b) c?; list(x) = x*; b = "b";
lost = found; token found = "f"; c = "c" c; loop = "l" loop;
tested = via; via = "v"; skip = blank*; blank = " "; test tested "v" => "v";
wasted(x) = x;`,
  );
  const warnings = `g.tdl:2:1: warning: unused rule "lost"
g.tdl:2:21: warning: unused rule "found"
g.tdl:2:45: warning: unused rule "loop"
g.tdl:4:1: warning: unused rule "wasted"
`;
  t.write('one.tdl', 's = "s" s?;');
  await t.prints('ok\n', ['check', '--strict', 'one.tdl']);
  await t.prints(`lib.tdl:1:10: warning: unused rule "unused"\n${warnings}ok\n`, ['check', 'lib.tdl', 'one.tdl', 'g.tdl']);
});

test('check warns about unreachable alternatives', async (t) => {
  const marked = `s = "a" | "ab" "c" | "+" | «x:"+=" | "in" | "int" | "in" "x" | t | «"never" "x" | «u;
t = ("x"? | «"y") | «e "z"? | «("p" | (<maybe> ())) | «q; maybe = n:"n"* | «"m";
q = ("x"i | "xy" | &"k" | "k") | ops | «"end"; ops = operators maybe { left "*" | «"**"; };
token u = "in" | «"int" | ("+" | «"+" "-"); v(w) = w | "w" | u | "d" e | "de" | "é" | «"éa";
x = "f" | maybe{2} by "," | "g" | (maybe{1,9}) | «"h"; e = "+" | <"in" | «"int"> | "-"{0} | «v("x");
skip = " " | «" x"; word = [a-z];`;
  const parts = marked.split('«');
  t.write('g.tdl', parts.join(''));
  const warnings = parts.slice(1).map((_, index) => {
    const lines = parts.slice(0, index + 1).join('').split('\n');
    return `g.tdl:${lines.length}:${Array.from(lines.at(-1)).length + 1}: warning: unreachable alternative\n`;
  });
  const unused = 'g.tdl:5:1: warning: unused rule "x"\n';
  const expected = [...warnings.slice(0, -4), unused, ...warnings.slice(-4)].join('');
  await t.prints(expected, ['check', 'g.tdl', '--strict'], { status: 1 });
});

test('format lays statements out', async (t) => {
  const messy = `

# head


# more
use   'lib.tdl'as l ;skip=[ ]*;   # blanks
word=[a-z_];
start "the start"=l.x|y( "a",z )   # inner 1
  |  # inner 2
  # inner 3
  "k" ; # after


y(p,q) = |p q -> {a:1,"b":[ $x , ... $y],"c d":@text,$z,'e':f( ),n:-1.50 , t:true};
token t 'it\\'s "t"'
=<[a-z]{2,2}>x : (a|b -> null)? &c !d{1,}by ","trailing l+:=e{0,3}by(","';'".")();
ops = operators(a|b){ left "+"|"-"->[$op] ; none fail 'x\\ty'; postfix"!"i; };

test   start"a"=>{ "a" : [1,2.0,{}] , b:"\\u{7}" } ;test start 'q' fails 1 : 2;
test l.x "" fails; # the
# end  
`;
  const canonical = `# head

# more
use "lib.tdl" as l;
skip = [ ]*; # blanks
word = [a-z_];
# inner 1
# inner 2
# inner 3
start "the start"
  = l.x
  | y("a", z)
  | "k"
  ; # after

y(p, q) = p q -> {a: 1, b: [$x, ...$y], "c d": @text, $z, e: f(), n: -1.50, t: true};
token t "it's \\"t\\"" = <[a-z]{2}> x:(a | b -> null)? &c !d{1,} by "," trailing l+:=e{0,3} by ("," ";" ".") ();
ops = operators (a | b) {
  left "+" | "-" -> [$op];
  none fail "x\\ty";
  postfix "!"i;
};

test start "a" => {a: [1, 2.0, {}], b: "\\u{7}"};
test start "q" fails 1:2;
test l.x "" fails; # the
# end
`;
  t.write('g.tdl', messy);
  await t.prints('', ['format', '--check', 'g.tdl'], { status: 1 });
  t.equal(t.read('g.tdl'), messy, 'the file after format --check');
  await t.prints('', ['format', '-w', 'g.tdl']);
  t.equal(t.read('g.tdl'), canonical, 'the file after format -w');
  await t.prints('ok\n', ['format', 'g.tdl', '--check']);
  t.write('bad.tdl', 's = ;');
  await t.fails('bad.tdl:1:5: syntax error: ', ['format', '--write', 'bad.tdl']);
});

test('format writes literals in canonical form', async (t) => {
  const pairs = [
    [`'a"b' "a\\"b" 'it\\'s' "\\\\\\n\\t\\r"`, `"a\\"b" "a\\"b" "it's" "\\\\\\n\\t\\r"`],
    ['"\\u{1b}\\u{7F}\\u{e9}\\u{01F600}é" "" "x"i', '"\\u{1B}\\u{7F}é😀é" "" "x"i'],
    ['[-+] [+-] [a^] [^^\\^] [\\]\\\\[]', '[\\-+] [+\\-] [a\\^] [^\\^\\^] [\\]\\\\[]'],
    ['[a-a\\d-] [\\u{41}-\\u{5A}] [\\n\\t\\u{0}-\\u{1f}"\'] [\\p{Lu}\\w\\s]', '[a\\d\\-] [A-Z] [\\n\\t\\u{0}-\\u{1F}"\'] [\\p{Lu}\\w\\s]'],
    ['((a)) ("b") (((c | d)))', '((a)) ("b") (((c | d)))'],
    ['a . b  a.b a .b', 'a . b a.b a . b'],
    ['[ \\\'\\"#;]"#"', '[ \'"#;] "#"'],
  ];
  const comments = '# only\r\n\r\n\r\n# comments';
  const source = `${comments}\n${pairs.map(([text], index) => `s${index}=${text};`).join('')}\n${comments}`;
  const lines = pairs.map(([, text], index) => `s${index} = ${text};\n`).join('');
  t.write('g.tdl', source);
  await t.prints(`# only\n\n# comments\n${lines}# only\n\n# comments\n`, ['format', 'g.tdl']);
  t.equal(t.read('g.tdl'), source, 'the file after format');
});

test('rules describes every rule', async (t) => {
  t.write('u.tdl', 'x "an x" = "x"; y = "y"?;');
  t.write(
    'g.tdl',
    `use "u.tdl" as u; start = list(num, u.y) u.y u.x ops;

list(item, sep) = item* by sep; token num "number" = "-"? digit+; digit = [0-9];
ops = operators atom { left "+" d2; prefix "-" | "~"i; }; d2 = digit?;
  atom "atom" = !"q" . | <"a" digit*> | opt; opt = u.y num* fails2; fails2 = &num () | fail "x"; b = =l l:("z")?;`,
  );
  const rows = [
    ['start', 'rule', 1, [], ['list', 'num', 'ops', 'u.x', 'u.y'], false, ['"y"', 'an x', 'number']],
    ['list', 'rule', 3, ['item', 'sep'], [], null, null],
    ['num', 'token', 3, [], ['digit'], false, ['"-"', '[0-9]']],
    ['digit', 'rule', 3, [], [], false, ['[0-9]']],
    ['ops', 'operators', 4, [], ['atom', 'd2'], true, ['"+"', '"-"', '"~"i', 'atom']],
    ['d2', 'rule', 4, [], ['digit'], true, ['[0-9]']],
    ['atom', 'rule', 5, [], ['digit', 'opt'], true, ['"y"', '<"a" digit*>', 'any character', 'number']],
    ['opt', 'rule', 5, [], ['fails2', 'num', 'u.y'], true, ['"y"', 'number']],
    ['fails2', 'rule', 5, [], ['num'], true, []],
    ['b', 'rule', 5, [], [], true, ['"z"', '=l']],
  ];
  const keys = ['name', 'kind', 'line', 'parameters', 'calls', 'empty', 'first'];
  const expected = rows.map((row) => Object.fromEntries(row.map((value, index) => [keys[index], value])));
  await t.prints(`${JSON.stringify(expected, null, 2)}\n`, ['rules', 'g.tdl']);
});

test('test runs the tests of the grammar', async (t) => {
  t.write('u.tdl', 's = "never"; test s "x" => 1;');
  const good = `use "u.tdl" as u; s = "a" n:n | "b" -> {x: 1, y: [2.0, null]} | "c" -> int("c");
token n = [0-9]+ -> int(@text);
test s "a1" => {n: 1.0}; test s "b" => {y: [2, null], x: 1};
test n "12" => 12;
test n "1x" fails; test n "1\\nx" fails 1:2;
test s "c" fails 1:1;
test
  u.s "never" => "never";
`;
  t.write('bad.tdl', `${good}test s "b" => {x: 1}; test n "1" => "1"; test n "1" fails;\ntest n "1x" fails 1:1; test s "c" => 1;\ntest s "a2" => {n: 2};`);
  const result = await t.run(['test', 'bad.tdl']);
  t.equal(result.code, 5, 'exit status of test');
  const lines = result.out.split('\n');
  const details = lines.filter((line) => line.startsWith('  '));
  t.equal(details.length >= 5, true, 'lines about the failed tests');
  t.equal(
    lines.filter((line) => !line.startsWith('  ')),
    [...[3, 3, 4, 5, 5, 6, 7].map((line) => `bad.tdl:${line}: ok`), 'bad.tdl:9: failed', 'bad.tdl:9: failed', 'bad.tdl:9: failed', 'bad.tdl:10: failed', 'bad.tdl:10: failed', 'bad.tdl:11: ok', '8 of 13 tests passed', ''],
    'results of the tests',
  );
  t.write('none.tdl', 's = "s";');
  await t.prints('0 of 0 tests passed\n', ['test', 'none.tdl']);
});

test('a whole configuration language', async (t) => {
  t.write(
    'conf.tdl',
    `use "common.tdl" as c;
file = sections:section* -> object($sections);
section = "[" name:c.name "]" entries:entry* -> [$name, object($entries)];
entry = key:c.name "=" value:value -> [$key, $value];
value "a value" = c.number | c.string | c.list(value) | "on" -> true | "off" -> false | size;
size = n:c.number u:("k"i -> 1 | "m"i -> 2) -> {amount: $n, unit: $u};
skip = c._blank*;
word = [A-Za-z];
test file "[a] x = on" => {a: {x: true}};
test value "[1, 'x', [off]]" => [1, "x", [false]];
test file "[a] x = only" fails 1:9;
`,
  );
  t.write(
    'common.tdl',
    `_blank = [ \\t\\r\\n] | ";" [^\\n]*;
skip = _blank*;
token name = [A-Za-z] [A-Za-z0-9_-]*;
token number = "-"? [0-9]+ -> int(@text);
token string = "'" text:<("\\\\" . | [^'\\\\])*> "'" -> unescape($text);
list(item) = "[" items:item* by "," trailing "]" -> $items;
`,
  );
  const input = "; settings\n[main]\n  name = 'T\\u00e9st'  ; the name\n  debug=on\n[limits]\nports = [80, [443, 'x'],]\r\nsize = 10\n";
  await t.prints('conf.tdl:9: ok\nconf.tdl:10: ok\nconf.tdl:11: ok\n3 of 3 tests passed\n', ['test', 'conf.tdl']);
  await t.prints('{"main":{"name":"Tést","debug":true},"limits":{"ports":[80,[443,"x"]],"size":10}}\n', ['parse', 'conf.tdl', '--compact'], { stdin: input });
  await t.fails('<stdin>:6:23: parse error: expected ",", "]", found "}"', ['parse', 'conf.tdl'], {
    stdin: input.replace("'x'],]", "'x'}"),
  });
});
