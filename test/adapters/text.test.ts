import { expect, test } from 'vitest';
import { elapsedLabel } from '#vscode/grading/words.ts';
import { createCrlf, oneLine, stripAnsi } from '#vscode/text.ts';

test('colours and titles go, text stays', () => {
  expect(stripAnsi('\u001b[31;1mred\u001b[0m \u001b]0;title\u0007plain')).toBe('red plain');
});

test.each([
  ['a\nb', 'a\r\nb'],
  ['a\r\nb', 'a\r\nb'],
  ['a\rb', 'a\rb'],
])('line ends of %j', (before, after) => {
  expect(createCrlf()(before)).toBe(after);
});

test('a line end that falls on two chunks is one', () => {
  const crlf = createCrlf();
  expect(['a\r', '\nb\r', '', '\n', '\n'].map(crlf).join('')).toBe('a\r\nb\r\n\r\n');
});

test('labels have one line, a name and an end', () => {
  expect(oneLine(' a \n\t\u0000 b ')).toBe('a b');
  expect(oneLine('\u001b[1m \n')).toBe('(no name)');
  expect(oneLine('x'.repeat(500))).toHaveLength(201);
});

test('time in words', () => {
  expect([0, 59_999, 60_000, 125_000].map(elapsedLabel)).toEqual(['0 s', '59 s', '1 min 0 s', '2 min 5 s']);
});
