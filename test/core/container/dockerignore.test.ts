import { expect, test } from 'vitest';
import { hasExceptions, parseDockerignore } from '#core/container/dockerignore.ts';

/** Patterns, what they ignore and what they keep: the examples of Docker's documentation and of its own tests. */
test.each<[patterns: string, ignored: readonly string[], kept: readonly string[]]>([
  ['# a comment\n*/temp*', ['dir/temporary.txt', 'dir/temp', 'dir/temp/x'], ['temp', 'a/b/temp']],
  ['*/*/temp*', ['a/b/temporary.txt'], ['a/temp', 'a/b/c/temp']],
  ['temp?', ['tempa', 'tempb', 'tempa/x'], ['temp', 'tempab', 'a/tempa']],
  ['**/*.go', ['x.go', 'a/x.go', 'a/b/c.go'], ['x.god', 'go']],
  ['*.md\n!README.md', ['a.md'], ['README.md', 'd/a.md']],
  ['*.md\n!README*.md\nREADME-secret.md', ['a.md', 'README-secret.md'], ['README.md', 'README-x.md']],
  ['*.md\nREADME-secret.md\n!README*.md', ['a.md'], ['README.md', 'README-secret.md']],
  ['/foo/bar', ['foo/bar', 'foo/bar/baz'], ['bar', 'x/foo/bar']],
  ['foo/bar/', ['foo/bar', 'foo/bar/baz'], ['foo']],
  ['./foo', ['foo', 'foo/x'], ['a/foo']],
  ['a/../foo', ['foo'], ['a']],
  ['foo/', ['foo', 'foo/a/b'], ['foobar']],
  ['**', ['a', 'a/b'], []],
  ['**/foo', ['foo', 'a/foo', 'a/b/foo/c'], ['afoo']],
  ['foo/**', ['foo/a', 'foo/a/b'], ['foobar']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'b']],
  ['a**b', ['ab', 'axb', 'ax/yb'], ['b']],
  ['[a-c].txt', ['a.txt', 'c.txt'], ['d.txt', 'ab.txt']],
  ['[^a].txt', ['b.txt'], ['a.txt']],
  ['a\\*b', ['a*b'], ['axb']],
  ['a.b', ['a.b'], ['axb']],
  ['(x)+{1}', ['(x)+{1}'], ['xx']],
  ['*\n!src\nsrc/*.log', ['a', 'src/x.log', '.git/config'], ['src', 'src/a.c']],
  ['\uFEFFfoo\r\n  bar  \r\n', ['foo', 'bar'], ['baz']],
  ['! foo\nx', ['x'], ['foo']],
  ['.', [], ['a', 'a/b']],
  ['', [], ['a']],
  ['[', ['['], ['a']],
])('%j', (patterns, ignored, kept) => {
  const isIgnored = parseDockerignore(patterns);
  expect({ ignored: ignored.filter((name) => !isIgnored(name)), kept: kept.filter(isIgnored) }).toEqual({
    ignored: [],
    kept: [],
  });
});

test('knows whether a rule could bring something back', () => {
  expect(hasExceptions('*\n  !src')).toBe(true);
  expect(hasExceptions('*.md\n# !x')).toBe(false);
});
