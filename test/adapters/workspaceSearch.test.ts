import { beforeEach, expect, test } from 'vitest';
import type { ExecSpec } from '#core/container/engine.ts';
import { optionsSentence } from '#vscode/search/askQuery.ts';
import { globToRegExp, splitGlobs } from '#vscode/search/globs.ts';
import { fileItems } from '#vscode/search/goToFile.ts';
import { createIgnore, parseIgnoreFile } from '#vscode/search/ignoreFile.ts';
import { listFiles, type SearchPlace } from '#vscode/search/listFiles.ts';
import { batchesOf, parseGrep, type SearchQuery, searchFiles } from '#vscode/search/searchFiles.ts';
import { SearchView, searchSentence } from '#vscode/search/searchView.ts';
import { attemptUri } from '#vscode/workspace/attemptUri.ts';
import { fake } from '../fakes/vscode.ts';
import { FakeFiles } from './support/fakeFiles.ts';
import { renderTree, trimmed } from './support/render.ts';

beforeEach(() => fake.reset());

test.each([
  ['*.py', ['a.py', 'src/a.py'], ['a.pyc', 'src/b.txt']],
  ['src/**', ['src/a', 'src/b/c'], ['lib/src2', 'a']],
  ['**/node_modules', ['node_modules/x', 'a/node_modules/b/c'], ['node_modules2/x']],
  ['/top.txt', ['top.txt'], ['a/top.txt']],
  ['test_?.{py,js}', ['test_1.py', 'x/test_2.js'], ['test_12.py', 'test_1.ts']],
  ['[!a]*.c', ['b.c'], ['a.c']],
  ['a+b(1).txt', ['a+b(1).txt'], ['aab1.txt']],
])('the pattern %s', (glob, yes, no) => {
  const pattern = globToRegExp(glob);
  expect(yes.filter((path) => !pattern.test(path))).toEqual([]);
  expect(no.filter((path) => pattern.test(path))).toEqual([]);
});

test('patterns are split at commas outside braces', () => {
  expect(splitGlobs('src/**, *.{a,b} ,,c')).toEqual(['src/**', '*.{a,b}', 'c']);
});

test('ignore files: folders, negation, anchors, deeper files', () => {
  const isIgnored = createIgnore([
    ...parseIgnoreFile('# comment\nbuild/\n*.log\n!keep.log\n/only-top\n', ''),
    ...parseIgnoreFile('local.txt\n!very.log\n', 'src/'),
  ]);
  const paths = [
    'build/a',
    'x/build/b',
    'build',
    'a.log',
    'keep.log',
    'only-top',
    'x/only-top',
    'src/local.txt',
  ];
  expect([...paths, 'local.txt', 'src/very.log', 'build/keep.log'].filter(isIgnored)).toEqual([
    'build/a',
    'x/build/b',
    'a.log',
    'only-top',
    'src/local.txt',
    'build/keep.log',
  ]);
});

const file = (path: string) => ({ path, text: path });

test('lines of grep: paths with colons, binary files, other talk', () => {
  const batch = [file('a'), file('a:1:b'), file('c d')];
  const output = Buffer.from(
    './a:3:x:4:y\n./a:1:b:2:two\r\n./c d:1:bin\0ary\nBinary file ./a matches\n./zz:1:q\n',
  );
  expect(parseGrep(output, batch).map(({ file: of, line, text }) => `${of.path}|${line}|${text}`)).toEqual([
    'a|3|x:4:y',
    'a:1:b|2|two',
  ]);
});

test('files go to grep in batches that an argument list takes', () => {
  const files = Array.from({ length: 1_200 }, (_, at) => file(`${at}`.padStart(200, 'x')));
  const batches = [...batchesOf(files)];
  expect(batches.flat()).toHaveLength(1_200);
  for (const batch of batches) {
    expect(batch.length).toBeLessThanOrEqual(500);
    expect(batch.reduce((sum, { path }) => sum + path.length + 3, 0)).toBeLessThan(70_000);
  }
});

const query: SearchQuery = {
  text: 'foo',
  isRegExp: false,
  isCaseSensitive: false,
  include: [],
  exclude: [],
  useIgnoreFiles: true,
};

function makePlace(answers: (spec: ExecSpec) => { stdout: string; stderr?: string }) {
  const calls: ExecSpec[] = [];
  const files = new FakeFiles();
  const place: SearchPlace = {
    container: {
      exec: async (spec) => {
        calls.push(spec);
        const { stdout, stderr = '' } = answers(spec);
        return { exitCode: 0, stdout: Buffer.from(stdout, 'latin1'), stderr: Buffer.from(stderr) };
      },
    },
    files: files as unknown as SearchPlace['files'],
    workdir: '/app',
    user: undefined,
  };
  return { place, calls, files };
}

const isFind = (spec: ExecSpec): boolean => spec.command[2]?.includes('find') ?? false;
const live = (): AbortSignal => new AbortController().signal;

test('ignored and excluded files are not searched; names that are no UTF-8 are listed', async () => {
  fake.settings.set('search.exclude', { '**/vendor': true, '**/kept': false });
  const { place, calls, files } = makePlace(() => ({
    stdout: './.gitignore\0./out.log\0./src/a.py\0./vendor/b.py\0./b\xff.py\0./cut',
  }));
  files.content.set('/app/.gitignore', Buffer.from('*.log\n'));
  const listed = await listFiles(place, { useIgnoreFiles: true, exclude: ['*.md'] }, live());
  expect(listed.map(({ text }) => text)).toEqual(['.gitignore', 'b\uefff.py', 'src/a.py']);
  expect(calls[0]?.command).toContain('vendor');
  expect(calls[0]?.command).not.toContain('kept');
  expect(fileItems(listed).map(({ label, description }) => `${label} ${description}`)).toContain(
    '$(file) a.py src',
  );
});

test('a search: results as a tree, with what is marked', async () => {
  const { place } = makePlace((spec) =>
    isFind(spec)
      ? { stdout: './a.txt\0./src/b.txt\0' }
      : { stdout: './a.txt:1:  Foo and foo\n./src/b.txt:7:a food\n', stderr: 'code 0\n' },
  );
  const view = new SearchView({ uriOf: (path) => attemptUri('one', path) });
  const outcome = await searchFiles(place, query, live(), () => undefined);
  view.show(query, outcome, true);
  expect(outcome.files[0]?.matches[0]?.ranges).toEqual([
    [2, 5],
    [10, 13],
  ]);
  expect(searchSentence(query, outcome)).toBe('2 results in 2 files for “foo”.');
  const rows = await view.getChildren();
  const item = view.getTreeItem(view.getChildren(rows[0])[0] as (typeof rows)[0]);
  expect(item.label).toEqual({
    label: 'Foo and foo',
    highlights: [
      [0, 3],
      [8, 11],
    ],
  });
  view.clear();
  expect(await renderTree(view)).toBe(trimmed(''));
});

test('what was not searched is told, with its reason, and can be opened', async () => {
  const { place, calls } = makePlace((spec) =>
    isFind(spec)
      ? { stdout: './a.txt\0./b\nc.txt\0./\xff\0//\0./big.bin\0./node/huge.log\0' }
      : { stdout: './a.txt:1:foo\n', stderr: 'code 0\n' },
  );
  const view = new SearchView({ uriOf: (path) => attemptUri('one', path) });
  const filtered = { ...query, exclude: ['node'] };
  view.show(query, await searchFiles(place, filtered, live(), () => undefined), true);
  expect(calls[1]?.command).not.toContain('./big.bin');
  expect(await renderTree(view)).toBe(
    trimmed(`
      [file] a.txt — 1
        [undefined] [object Object] — 1
      [info] Larger than 10 MB — 1 file not searched
        [file] big.bin
      [info] Name with a line break or not UTF-8 — 2 files not searched
        [file] b c.txt
        [file] \uefff
    `),
  );
});

test('a wrong expression is told in grep’s words; nothing found is told', async () => {
  const bad = makePlace((spec) =>
    isFind(spec) ? { stdout: './a\0' } : { stdout: '', stderr: 'grep: Unmatched [\ncode 2\n' },
  );
  await expect(searchFiles(bad.place, { ...query, isRegExp: true }, live(), () => undefined)).rejects.toThrow(
    'The search failed: grep: Unmatched [',
  );
  const none = makePlace((spec) => (isFind(spec) ? { stdout: './a\0' } : { stdout: '', stderr: 'code 1\n' }));
  const outcome = await searchFiles(none.place, query, live(), () => undefined);
  expect(searchSentence(query, outcome)).toBe(
    'No results for “foo”. Ignored and excluded files were not searched.',
  );
});

test('a search stops at its limit, and when it is cancelled', async () => {
  const many = makePlace((spec) =>
    isFind(spec) ? { stdout: './a\0' } : { stdout: './a:1:foo\n'.repeat(2_500), stderr: 'code 0\n' },
  );
  const outcome = await searchFiles(many.place, query, live(), () => undefined);
  expect([outcome.matchCount, outcome.isCapped]).toEqual([2_000, true]);
  expect(searchSentence(query, outcome)).toContain('There are more: narrow the search.');
  const controller = new AbortController();
  const cancelled = searchFiles(
    makePlace((spec) => {
      controller.abort();
      return { stdout: isFind(spec) ? './a\0' : '' };
    }).place,
    query,
    controller.signal,
    () => undefined,
  );
  await expect(cancelled).rejects.toThrow('Cancelled.');
});

test('the options of a search in words', () => {
  expect(optionsSentence({ ...query, isRegExp: true, include: ['src/**'] })).toBe(
    'Any case · regular expression · without ignored files · in src/**',
  );
});
