import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestResult } from '#core/report/types.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { locateInWorkspace } from '#vscode/testing/workspacePlaces.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { makeAttempt } from './support/attempts.ts';
import { graderOf, makeEntry, makeResult, makeTask, makeTest } from './support/builders.ts';
import { FakeFiles } from './support/fakeFiles.ts';
import { makeWorld } from './support/world.ts';

let taskDir = '';
const files = new FakeFiles();

beforeAll(() => {
  taskDir = mkdtempSync(path.join(tmpdir(), 'e2e-swe-inline-'));
  mkdirSync(path.join(taskDir, 'tests/unit'), { recursive: true });
  writeFileSync(path.join(taskDir, 'tests/test_a.py'), '');
  writeFileSync(path.join(taskDir, 'tests/unit/test_b.py'), '');
  for (const name of [
    'src/a.py',
    'src/b.js',
    'tests/test_a.py',
    'tests/test_own.py',
    'gr\xc3\xbc\xc3\x9fe.py',
  ])
    files.content.set(`/app/${name}`, Buffer.from('x\n'));
  files.folders.add('/app/src');
});
afterAll(() => rmSync(taskDir, { recursive: true }));

async function placeOf(more: Partial<TestResult>, status: TestResult['status'] = 'failed') {
  const found = await locateInWorkspace({ files, workdir: '/app', taskDir }, [makeTest('t', status, more)]);
  const place = found.get('t');
  return place && `${place.path}:${place.line}`;
}

test.each([
  ['src/a.py', 3, 'src/a.py:3'],
  ['./src/../src/a.py', 3, 'src/a.py:3'],
  ['/app/src/a.py', 7, 'src/a.py:7'],
  ['/app/tests/test_a.py', 7, 'tests/test_a.py:7'],
  ['tests/test_own.py', 2, 'tests/test_own.py:2'],
  ['grüße.py', 1, 'gr\xc3\xbc\xc3\x9fe.py:1'],
])('%s is a file of the workspace', async (file, line, expected) => {
  expect(await placeOf({ file, line })).toBe(expected);
  expect(await placeOf({ file, line }, 'passed')).toBeUndefined();
});

test.each([
  ['../etc/passwd', 1],
  ['/app/../etc/passwd', 1],
  ['/etc/passwd', 1],
  ['/tests/test_a.py', 1],
  ['../tests/test_a.py', 1],
  // Relative, and a hidden test has that name: the builder's own file is not meant.
  ['tests/test_a.py', 1],
  ['test_a.py', 1],
  ['/application/src/a.py', 1],
  ['/app', 1],
  ['src', 1],
  ['gone.py', 1],
  ['', 1],
  ['src/a.py\0', 1],
  ['src/a.py', 0],
  ['src/a.py', 1e12],
  ['src/a.py', Number.NaN],
])('%j:%d is not shown', async (file, line) => {
  expect(await placeOf({ file, line })).toBeUndefined();
});

test.each([
  ['pytest', '/tests/test_a.py:12: in test_x\n    run()\nsrc/a.py:5: ValueError', 'src/a.py:5'],
  [
    'Python',
    'Traceback:\n  File "/tests/test_a.py", line 3, in t\n  File "/app/src/a.py", line 9, in f\n  File "/usr/lib/json.py", line 1, in g\nValueError',
    'src/a.py:9',
  ],
  [
    'Node',
    'Error: no\n    at f (/app/src/b.js:4:11)\n    at g (file:///app/src/a.py:6:1)\n    at /tests/run.mjs:9:1',
    'src/b.js:4',
  ],
  ['colours', '\u001b[31msrc/a.py\u001b[0m:8: AssertionError', 'src/a.py:8'],
  ['an escape', 'File "/app/../app2/a.py", line 1', undefined],
])('the innermost frame in the workspace: %s', async (_, trace, expected) => {
  expect(await placeOf({ trace, file: '/tests/test_a.py', line: 1 })).toBe(expected);
});

test('a thousand tests are one question to the container, and a hostile report is cut', async () => {
  let asked = 0;
  const counting = {
    statMany: async (paths: readonly string[]) => {
      asked += paths.length;
      return files.statMany(paths);
    },
  };
  const tests = Array.from({ length: 9_000 }, (_, index) =>
    makeTest(`${index}`, 'failed', { file: `f${index}.py`, line: 1 }),
  );
  await locateInWorkspace({ files: counting, workdir: '/app', taskDir }, tests);
  expect(asked).toBe(5_000);
});

test('a grade puts messages at lines of the workspace; the next one, or a command, takes them away', async () => {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf());
  fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  world.room.add(makeAttempt('one'));
  world.room.files.content.set('/app/src/a.py', Buffer.from('x\n'));
  const reader = { discover: async () => [], find: async () => [], readSpec: async () => '' };
  const { commands, problems } = registerWorkspace({ ...world, reader });
  const run = async (id: keyof typeof commands): Promise<void> => {
    const handler: CommandHandler = commands[id];
    await handler();
  };
  const gradeTo = async (...tests: readonly TestResult[]): Promise<void> => {
    const result = makeResult(makeTask('/c/alpha'), 'unresolved', tests, { source: 'attempt' });
    world.room.events = [{ kind: 'finished', result }];
    await run('e2eSwe.gradeAttempt');
  };
  const bad = makeTest('bad', 'failed', {
    ...{ file: 'src/a.py', line: 4, message: '\u001b[31m1 != 2\u001b[0m', expected: '1', actual: '2' },
    trace: 'secret = hidden_test_source()\n/tests/test_x.py:1: in t',
  });
  await gradeTo(bad, makeTest('ok', 'passed', { file: 'src/a.py', line: 1 }), makeTest('c', 'failed'));
  expect(fake.problems).toEqual(['e2e-swe:/one/src/a.py:4: test bad: 1 != 2 [E2E-SWE grade]']);
  expect(fake.context.get('e2eSwe.hasProblems')).toBe(true);
  const told = fake.runs.at(-1)?.log.filter((line) => line.startsWith('failed'));
  expect(told?.map((line) => line.split('\n').at(-1))).toEqual([
    '/tests/test_x.py:1: in t [1 != 2] @ /one/src/a.py:4',
    'failed test c: The report gives no message (status "failed").',
  ]);
  await gradeTo(makeTest('c', 'failed'));
  expect(fake.problems).toEqual([]);
  await gradeTo(bad);
  expect(fake.problems).toHaveLength(1);
  await run('e2eSwe.clearProblems');
  expect(fake.problems).toEqual([]);
  expect(fake.context.get('e2eSwe.hasProblems')).toBe(false);
  await gradeTo(bad);
  world.room.files.failure = 'unavailable';
  await gradeTo(bad);
  expect(fake.problems).toEqual([]);
  problems.dispose();
});
