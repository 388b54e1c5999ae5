import { describe, expect, test } from 'vitest';
import { readReports } from '#core/report/readReports.ts';
import { bytes, readResults, reportFile } from './fixtures.ts';

const passed = { name: 'a', status: 'passed', duration: 5 };
const document = { results: { tool: { name: 'demo' }, tests: [passed] } };

describe('which files are reports', () => {
  test('no file, no report', () => {
    expect(readReports([])).toEqual({ tests: [], state: 'none', notes: [] });
    const others = [
      reportFile('reward.json', { reward: 1 }),
      reportFile('ctrf.txt', document),
      reportFile('test.json', { tests: [] }),
    ];
    expect(readReports(others).state).toBe('none');
  });

  test.each([
    'ctrf.json',
    'ctrf-report.json',
    'CTRF_black.JSON',
    'sub/my-ctrf.json',
    'results.json',
    'report.json',
  ])('%s is read', (name) => {
    expect(readReports([reportFile(name, document)])).toMatchObject({
      state: 'read',
      tests: [{ name: 'a' }],
      notes: [],
    });
  });

  test('a file known by content does not count beside a named report, but does in place of a broken one', () => {
    const both = readReports([
      reportFile('results.json', { results: { ...document.results, summary: {} } }),
      reportFile('ctrf.json', document),
    ]);
    expect(both.tests).toHaveLength(1);
    const instead = readReports([
      reportFile('results.json', { results: { ...document.results, summary: {} } }),
      reportFile('ctrf.json', '{"results"'),
    ]);
    expect(instead).toMatchObject({ state: 'read', unreadable: ['ctrf.json'], tests: [{ name: 'a' }] });
  });

  test.each([
    ['without results', { tool: { name: 'demo' }, tests: [passed] }],
    ['in a wrapper', { ctrf: document }],
    ['in a list', [document]],
    ['with a tool that is a string', { results: { tool: 'demo', tests: [passed] } }],
  ])('a document %s is understood', (_, json) => {
    expect(readReports([reportFile('ctrf.json', json)])).toMatchObject({
      state: 'read',
      tool: 'demo',
      tests: [{ name: 'a' }],
    });
  });

  test.each([
    ['{}', 'is no CTRF report'],
    ['[]', 'is no CTRF report'],
    ['null', 'is no CTRF report'],
    ['{"results":{"tool":{"name":"x"},"summary":{"tests":3}}}', 'is no CTRF report'],
    ['{"results":{"tests":{}}}', 'is no CTRF report'],
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['Traceback (most recent call last)', 'is not JSON'],
    ['{"results":{"tests":[{"name":"a","status":"pas', 'is cut off or still being written'],
    ['{"results":{"tests":[{"name":"a"', 'is cut off or still being written'],
    ['{"results":{"tests":[x]}}', 'is not JSON'],
    [`{"results":${'['.repeat(5000)}`, 'is nested too deeply'],
  ])('%s is unreadable, with a note', (text, note) => {
    const report = readReports([reportFile('ctrf.json', text)]);
    expect(report).toMatchObject({ state: 'unreadable', tests: [], unreadable: ['ctrf.json'] });
    expect(report.notes).toEqual([expect.stringContaining(note)]);
  });

  test('a broken file of another name is a report only where it looks like one', () => {
    const cut = '{"results":{"tool":{"name":"x"},"tests":[';
    expect(readReports([reportFile('results.json', cut)]).state).toBe('unreadable');
    expect(readReports([reportFile('trajectory.json', '{"steps":[')]).state).toBe('none');
    expect(
      readReports([reportFile('mocha.json', { stats: {}, tests: [{ title: 'a' }], results: [] })]).state,
    ).toBe('none');
  });

  test('every cut of a report is unreadable or whole, never a throw', () => {
    const text = JSON.stringify(document);
    for (let length = 0; length < text.length; length++)
      expect(readReports([reportFile('ctrf.json', text.slice(0, length))]).state).toBe('unreadable');
  });
});

describe('how files are written', () => {
  const text = JSON.stringify(document, undefined, 2);
  const utf16 = (little: boolean): Uint8Array => {
    const data = Buffer.from(`\ufeff${text}`, 'utf16le');
    return little ? data : data.swap16();
  };
  test.each([
    ['a UTF-8 byte order mark', bytes(`\ufeff${text}`), 0],
    ['UTF-16 LE', utf16(true), 0],
    ['UTF-16 BE', utf16(false), 0],
    ['CRLF', bytes(text.replaceAll('\n', '\r\n')), 0],
    ['NULs behind it', bytes(`${text}\0\0\0`), 0],
    ['text behind it', bytes(`${text}\nDone in 3 s.\n`), 1],
    ['a second document behind it', bytes(text + text), 1],
    ['text before it', bytes(`npm warn x\n${text}`), 1],
    ["Python's NaN", bytes(text.replace('5', 'NaN')), 0],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from(',"x":"\xff"}', 'latin1')]),
      1,
    ],
  ])('%s', (_, data, notes) => {
    const report = readReports([{ name: 'ctrf.json', data }]);
    expect(report).toMatchObject({ state: 'read', tests: [{ name: 'a', status: 'passed' }] });
    expect(report.notes).toHaveLength(notes);
  });
});

describe('several reports', () => {
  test('are groups of one grade', () => {
    const report = readReports([
      reportFile('ctrf_b.json', document),
      reportFile('ctrf_a.json', { results: { tool: { name: 'other' }, tests: [passed] } }),
    ]);
    expect(report.tests.map((entry) => entry.group)).toEqual(['ctrf_a.json', 'ctrf_b.json']);
    expect(new Set(report.tests.map((entry) => entry.id)).size).toBe(2);
    expect(report.tool).toBe('other, demo');
    expect(readReports([reportFile('ctrf.json', document)]).tests[0]).not.toHaveProperty('group');
  });

  test('a broken one is noted and the others count', () => {
    const report = readReports([
      reportFile('ctrf_a.json', document),
      reportFile('ctrf_b.json', '{"results":'),
    ]);
    expect(report).toMatchObject({ state: 'read', unreadable: ['ctrf_b.json'] });
    expect(report.tests).toHaveLength(1);
    expect(report.notes).toEqual(['ctrf_b.json is cut off or still being written.']);
  });

  test('the same bytes twice count once', () => {
    const report = readReports([reportFile('ctrf.json', document), reportFile('old/ctrf.json', document)]);
    expect(report.tests).toHaveLength(1);
    expect(report.notes[0]).toBe('old/ctrf.json is the same as ctrf.json and was not counted again.');
  });
});

describe('what reports leave out or get wrong', () => {
  test('values nested without end are no crash', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    const entry = `{"name":"a","status":"failed","message":${deep},"trace":[${deep}],"extra":{"expected":${deep},"actual":1}}`;
    const report = readReports([
      reportFile('ctrf.json', `{"results":{"tests":[${entry},{"name":${deep}}]}}`),
    ]);
    expect(report.tests).toHaveLength(2);
    expect(report.tests[0]).toMatchObject({ message: '(nested too deeply to be shown)', actual: '1' });
  });

  test('an expected failure that passed is passed (playwright)', () => {
    const [test] = readResults({ tests: [{ name: 'a', status: 'passed', rawStatus: 'failed' }] }).tests;
    expect(test).toMatchObject({ status: 'passed', rawStatus: 'failed' });
  });

  test('tests that are null are an empty list', () => {
    expect(readResults({ tests: null })).toMatchObject({ state: 'read', tests: [] });
  });

  test('statuses outside the five are other, with a note', () => {
    const report = readResults({
      tests: [{ name: 'a', status: ' passed' }, { name: 'b', status: 'broken' }, { name: 'c' }],
    });
    expect(report.tests.map((entry) => entry.status)).toEqual(['other', 'other', 'other']);
    expect(report.notes).toHaveLength(3);
  });

  test('statuses in capitals are what they say, with a note', () => {
    const statuses = ['PASSED', 'Failed', 'PASSED', 'skipped'];
    const report = readResults({ tests: statuses.map((status) => ({ name: status, status })) });
    expect(report.tests.map((entry) => entry.status)).toEqual(['passed', 'failed', 'passed', 'skipped']);
    expect(report.notes).toEqual(['ctrf.json writes statuses otherwise than CTRF does: PASSED, Failed.']);
  });

  test('entries that are no tests are noted and hide no other', () => {
    const report = readResults({ tests: [null, 'x', 3, [], passed] });
    expect(report.tests).toHaveLength(1);
    expect(report.notes).toEqual(['ctrf.json lists 4 entries that are no tests.']);
  });

  test('a summary that the list does not bear out is noted, the list counts', () => {
    const report = readResults({
      summary: { tests: 9, passed: 8, failed: 'x', skipped: 0 },
      tests: [passed],
    });
    expect(report).toMatchObject({ summaryTests: 9 });
    expect(report.notes).toEqual([
      'ctrf.json has a summary that its list of tests does not bear out: 9 tests (listed: 1), 8 passed (listed: 1).',
    ]);
  });

  test('names and messages that are no strings become text', () => {
    const [number, none, lines] = readResults({
      tests: [
        { name: 7, status: 'failed', message: { a: 1 } },
        { status: 'failed', message: null },
        { name: 'x', status: 'failed', message: ['a', 'b'], trace: '' },
      ],
    }).tests;
    expect(number).toMatchObject({ name: '7', message: '{"a":1}' });
    expect(none).toMatchObject({ name: '' });
    expect(none).not.toHaveProperty('message');
    expect(lines).toMatchObject({ message: 'a\nb' });
    expect(lines).not.toHaveProperty('trace');
  });

  test.each(['BUILD', 'HARNESS', '<harness>'])('%s as the only, failed entry is noted', (name) => {
    expect(readResults({ tests: [{ name, status: 'failed' }] }).notes.join()).toContain(
      'stands for a build that failed',
    );
    expect(readResults({ tests: [{ name, status: 'passed' }] }).notes).toEqual([]);
    expect(readResults({ tests: [{ name, status: 'failed' }, passed] }).notes).toEqual([]);
  });
});
