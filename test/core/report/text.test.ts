import { describe, expect, test } from 'vitest';
import { oneLine, stripAnsi } from '#core/report/text.ts';

describe('stripAnsi', () => {
  test.each([
    ['colours', '\u001b[1;31mred\u001b[0m \u001b[38;2;1;2;3mrgb\u001b[m', 'red rgb'],
    ['cursor moves', '\u001b[2K\u001b[1A\u001b[10;5Htext\u001b[?25l', 'text'],
    ['links ended by BEL', '\u001b]8;;file:///etc/passwd\u0007link\u001b]8;;\u0007', 'link'],
    ['links ended by ST', '\u001b]8;id=1;https://x.invalid\u001b\\link\u001b]8;;\u001b\\.', 'link.'],
    ['titles', '\u001b]0;title\u0007a', 'a'],
    ['device strings', '\u001bP1$r0m\u001b\\a\u001b_x\u001b\\b', 'ab'],
    ['8-bit sequences', '\u009b31mred\u009b0m', 'red'],
    ['two-character escapes', '\u001b(Ba\u001b7b\u001bMc', 'abc'],
    ['a sequence cut off', 'a\u001b[31', 'a'],
    ['an unterminated link loses its line only', '\u001b]8;;x\nnext', '\nnext'],
    ['control characters', 'a\0b\bc\u007fd\u0085e\tf', 'abcde\tf'],
    ['line ends', 'a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['plain text', 'ünïcode 💥 [31m', 'ünïcode 💥 [31m'],
  ])('%s', (_, text, expected) => {
    expect(stripAnsi(text)).toBe(expected);
  });

  test('takes linear time', () => {
    const started = performance.now();
    for (const text of [
      '\u001b'.repeat(2e5),
      '\u001b['.repeat(1e5),
      '\u001b]'.repeat(1e5),
      '\u001b[1;'.repeat(1e5),
      '\u001bP'.repeat(1e5),
    ])
      stripAnsi(text);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('oneLine', () => {
  test.each([
    ['spaces and breaks', ' a\r\n\tb\u2028c\u00a0 d ', 20, 'a b c d'],
    ['bidi and invisible marks', '\u202egnp.exe\u2066x\u200b\ufeff\u{e0041}', 20, 'gnp.exex'],
    ['joiners stay', 'a\u200db', 20, 'a\u200db'],
    ['escapes', '\u001b[31mred\u001b[0m', 20, 'red'],
    ['lone surrogates', 'a\ud800b', 20, 'a\ufffdb'],
    ['exactly long enough', 'abcde', 5, 'abcde'],
    ['too long', 'abcdef', 5, 'abcd…'],
    ['no half characters', 'abc💥e', 5, 'abc…'],
    ['blank', ' \n ', 5, '(no name)'],
    ['nothing visible', '\u200b\u200d', 5, '(no name)'],
    ['visible text far behind', `${'\n'.repeat(5000)}x`, 10, '(no name)'],
    ['cut in the bounded part', `ab${' '.repeat(5000)}x`, 10, 'ab…'],
  ])('%s', (_, text, max, expected) => {
    expect(oneLine(text, max)).toBe(expected);
  });
});
