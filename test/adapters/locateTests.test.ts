import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { locateTests } from '#vscode/testing/locateTests.ts';
import { makeTask, makeTest } from './support/builders.ts';

let dir = '';

beforeAll(async () => {
  dir = await realpath(await mkdtemp(path.join(tmpdir(), 'e2e-swe-locate-')));
  await mkdir(path.join(dir, 'tests/unit'), { recursive: true });
  await writeFile(path.join(dir, 'tests/test_a.py'), '');
  await writeFile(path.join(dir, 'tests/unit/test_b.py'), '');
  await writeFile(path.join(dir, 'secret.txt'), '');
  await symlink('../secret.txt', path.join(dir, 'tests/link.py'));
});

afterAll(() => rm(dir, { recursive: true }));

async function placeOf(file: string, line?: number, trace?: string): Promise<string | undefined> {
  const result = makeTest('t', 'failed', { file, ...(line ? { line } : {}), ...(trace ? { trace } : {}) });
  const place = (await locateTests(makeTask(dir), [result])).get('t');
  return place && `${path.relative(dir, place.file)}:${place.line}`;
}

test.each([
  ['/tests/test_a.py', 3, 'tests/test_a.py:3'],
  ['test_a.py', undefined, 'tests/test_a.py:1'],
  ['tests/unit/test_b.py', 9, 'tests/unit/test_b.py:9'],
  ['/tests/unit/../test_a.py', 1, 'tests/test_a.py:1'],
])('%s is a file of the task', async (file, line, expected) => {
  expect(await placeOf(file, line)).toBe(expected);
});

test.each(['../secret.txt', '/tests/../secret.txt', '/etc/passwd', 'tests/link.py', 'gone.py', '/tests', ''])(
  '%j is not opened',
  async (file) => {
    expect(await placeOf(file, 1)).toBeUndefined();
  },
);

test('the frame of a failure is nearer than the file of the test', async () => {
  const trace = 'def test():\n>   assert 1 == 2\n\n/tests/unit/test_b.py:12: AssertionError';
  expect(await placeOf('/tests/test_a.py', 3, trace)).toBe('tests/unit/test_b.py:12');
});
