import { describe, expect, test } from 'vitest';
import type { TestResult } from '#core/report/types.ts';
import { readResults } from './fixtures.ts';

function readOne(entry: object, tool = 'demo', summary?: object): TestResult {
  const [result] = readResults({
    tool: { name: tool },
    summary,
    tests: [{ name: 'x', status: 'failed', ...entry }],
  }).tests;
  if (!result) throw new Error('The test was not read.');
  return result;
}

describe('durations become milliseconds', () => {
  const seconds = { start: 1_769_399_603.430_897, stop: 1_769_399_717.555_030_6 };
  test.each([
    ['pytest 0.3: seconds beside seconds', 'pytest', { duration: 114.119_445_354, ...seconds }, 114_119.445],
    ['pytest with milliseconds beside seconds', 'pytest', { duration: 114_119, ...seconds }, 114_119],
    ['pytest with fractions and no times', 'pytest', { duration: 0.25 }, 250],
    ['pytest with whole numbers and no times', 'pytest', { duration: 25 }, 25],
    ['vitest: fractions of ms', 'vitest', { duration: 2.206_333_999 }, 2.206],
    [
      'playwright: ms beside whole seconds',
      'playwright',
      { duration: 11_225, start: 1_762_369_625, stop: 1_762_369_636 },
      11_225,
    ],
    [
      'playwright: a fast test over the border of a second',
      'playwright',
      { duration: 4, start: 1_762_369_625, stop: 1_762_369_626 },
      4,
    ],
    [
      'any tool: seconds beside ms',
      'demo',
      { duration: 1.5, start: 1_760_000_000_000, stop: 1_760_000_001_500 },
      1500,
    ],
    [
      'nanoseconds beside ms',
      'go',
      { duration: 2_000_000, start: 1_760_000_000_000, stop: 1_760_000_000_002 },
      2,
    ],
    [
      'the spec: ms beside ms',
      'demo',
      { duration: 3500, start: 1_609_459_200_000, stop: 1_609_459_203_500 },
      3500,
    ],
    ['cargo: nothing but zeros', 'cargo-test', { duration: 0, start: 0, stop: 0 }, 0],
    ['no duration, but times', 'demo', { start: 1_760_000_000_000, stop: 1_760_000_000_040 }, 40],
    ['java: nothing', 'java-test', {}, undefined],
    ['nonsense', 'demo', { duration: -4 }, undefined],
    ['text', 'demo', { duration: '12s' }, undefined],
  ])('%s', (_, tool, entry, expected) => {
    expect(readOne(entry, tool).durationMs).toBe(expected);
  });

  test("pytest without times per test: the run's own times decide", () => {
    const inMs = { start: 1_760_000_000.0, stop: 1_760_000_001.5 };
    expect(readOne({ duration: 1200.5 }, 'pytest', inMs).durationMs).toBe(1200.5);
    expect(readOne({ duration: 1.25 }, 'pytest', inMs).durationMs).toBe(1250);
  });
});

describe('retries and flaky', () => {
  const attempts = [
    { attempt: 1, status: 'failed' },
    { attempt: 2, status: 'failed' },
    { attempt: 3, status: 'passed' },
  ];
  test.each([
    ['flaky with retries', 'jest', { status: 'passed', flaky: true, retries: 1 }, 1, true],
    ['attempts of a passed test', 'demo', { status: 'passed', retryAttempts: attempts }, 2, true],
    ['attempts of a failed test', 'demo', { retryAttempts: attempts.slice(0, 2) }, 2, undefined],
    ['retries of pytest', 'pytest', { status: 'passed', retries: 2 }, 2, undefined],
    ['retries alone', 'demo', { status: 'passed', retries: 2 }, 2, undefined],
    ['none', 'playwright', { status: 'passed', retries: 0, flaky: false }, undefined, undefined],
  ])('%s', (_, tool, entry, retries, flaky) => {
    const result = readOne(entry, tool);
    expect([result.retries, result.flaky]).toEqual([retries, flaky]);
  });
});

describe('expected and actual', () => {
  test.each([
    ['extra', { extra: { expected: '1', actual: { a: 2 } } }, '1', '{\n  "a": 2\n}'],
    ['extra with null', { extra: { expected: null, actual: 0 } }, 'null', '0'],
    ['jest', { message: 'Error: expect(received).toBe(expected)\n\nExpected: 1\nReceived: 2\n' }, '1', '2'],
    [
      'playwright with colours',
      {
        message:
          'Expected pattern: \u001b[32m/x/\u001b[39m\r\nReceived string:  \u001b[31m"y"\u001b[39m\nCall log:',
      },
      '/x/',
      '"y"',
    ],
    ['testify', { message: 'Not equal: \n  expected: 1\n  actual  : 2' }, '1', '2'],
    ['JUnit', { message: 'expected: <a> but was: <b>' }, 'a', 'b'],
    [
      'a diff',
      { message: '- Expected  - 1\n+ Received  + 1\n\n  Object {\n-   "a": 2,\n+   "a": 1,\n  }\n' },
      ' Object {\n   "a": 2,\n }',
      ' Object {\n   "a": 1,\n }',
    ],
    ['no sides', { message: 'expected [ 1, 2 ] to deeply equal [ 1, 3 ]' }, undefined, undefined],
    ['a passed test', { status: 'passed', message: 'Expected: 1\nReceived: 2' }, undefined, undefined],
  ])('%s', (_, entry, expected, actual) => {
    const result = readOne(entry);
    expect([result.expected, result.actual]).toEqual([expected, actual]);
  });
});

describe('places', () => {
  test.each([
    ['line given', { filePath: 'a.ts', line: 7, trace: 'at a.ts:9:1' }, 'a.ts', 7],
    [
      "pytest's trace",
      {
        file_path: 'test_lib.py',
        trace: '/tests/test_lib.py:34: \nE  x\n\n/tests/util.py:170: AssertionError',
      },
      'test_lib.py',
      34,
    ],
    [
      "Python's traceback",
      { file_path: 'tests\\t.py', trace: '  File "/tests/t.py", line 12, in f' },
      'tests\\t.py',
      12,
    ],
    [
      "node's stack",
      {
        filePath: '/x/a.test.js',
        trace: 'at f (/x/node_modules/j/b.js:1:2)\n at Object.<anonymous> (/x/a.test.js:8:65)',
      },
      '/x/a.test.js',
      8,
    ],
    ['Windows', { filePath: 'C:\\p\\a.test.js', trace: ' at C:\\p\\a.test.js:3:106' }, 'C:\\p\\a.test.js', 3],
    [
      'only a trace: the tests folder first',
      { trace: '/app/src/m.py:5: in f\n/tests/test_m.py:9: Error' },
      '/tests/test_m.py',
      9,
    ],
    [
      'only a trace: not the library',
      { trace: ' at x (/x/node_modules/j/b.js:1:2)\n at LoginTests.swift:42' },
      'LoginTests.swift',
      42,
    ],
    ['another file', { filePath: 'a.ts', trace: 'at b.ts:9:1' }, 'a.ts', undefined],
    ['a coloured trace', { trace: '\u001b[31m/tests/t.py\u001b[0m:4: Error' }, '/tests/t.py', 4],
    ['nothing', { trace: 'boom at 12:30' }, undefined, undefined],
  ])('%s', (_, entry, file, line) => {
    const result = readOne(entry);
    expect([result.file, result.line]).toEqual([file, line]);
  });

  test('a hostile trace is searched in linear time', () => {
    const started = performance.now();
    for (const trace of [
      '('.repeat(2e5),
      'a.'.repeat(1e5),
      ' a'.repeat(1e5),
      'File "'.repeat(4e4),
      'a.b:1'.repeat(4e4),
    ])
      readOne({ trace });
    for (const message of [
      'expected: <'.repeat(2e4),
      'Expected '.repeat(2e4),
      '- Expected\n'.repeat(2e4),
      '\t'.repeat(2e5),
    ])
      readOne({ message });
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

test("vitest's suite ends with the title of the test itself", () => {
  expect(readOne({ name: 'v > fails', suite: 'v > fails' }, 'vitest').suite).toEqual(['v']);
  expect(readOne({ name: 'adds', suite: 'adds' }, 'vitest').suite).toEqual([]);
  expect(readOne({ name: 'adds', suite: 'adds' }).suite).toEqual(['adds']);
});

test('suites deeper than a tree should be are joined', () => {
  const { suite } = readOne({ suite: Array.from({ length: 1000 }, (_, index) => `s${index}`) });
  expect(suite).toHaveLength(32);
  expect(suite[31]?.endsWith(' > s999')).toBe(true);
});

test("the tool's own word for a status is kept where it differs", () => {
  expect(readOne({ raw_status: 'call_failed' }).rawStatus).toBe('call_failed');
  expect(readOne({ status: 'passed', rawStatus: 'passed' })).not.toHaveProperty('rawStatus');
});
