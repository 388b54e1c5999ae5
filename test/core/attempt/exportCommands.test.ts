import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ExportedAttempt } from '#core/attempt/exportAttempt.ts';
import { readRecordLines } from '#core/attempt/readRecordLog.ts';
import { Recorder, recordFileOf } from '#core/attempt/recorder.ts';
import type { Summary } from '#core/attempt/summary.ts';
import { nullLog } from '#core/base/log.ts';
import { attemptCli } from './cli.ts';
import { aProtocol, aTask, storeAttempt } from './storedAttempt.ts';
import { useStore } from './support.ts';

/** `e2e-swe attempt export|summary|import` over a store on disk: none of them needs an engine. */

const used = useStore();

const cli = (...args: string[]) => attemptCli(used.store, ...args);

async function anAttempt(): Promise<string> {
  const { id } = await storeAttempt(used.store, await aTask(used.dir), {
    record: { state: 'submitted' },
    happenings: [{ kind: 'thawed' }, 60_000, { kind: 'note', text: 'the spec is short' }],
    files: { 'ok.txt': 'ok' },
    grade: {
      verifier: {
        'reward.txt': '1\n',
        'ctrf.json': JSON.stringify({
          results: { tests: ['a', 'b'].map((name) => ({ name, status: 'passed' })) },
        }),
      },
    },
  });
  return id;
}

describe('attempt export', () => {
  test('prints the folder, or one JSON object; what was lost is said', async () => {
    const id = await anAttempt();
    const out = path.join(used.dir, 'plain');
    const plain = await cli('export', id, '--out', out);
    expect(plain).toMatchObject({ code: 0, stdout: `${out}\n` });
    expect(plain.stderr).toContain('Unpacking the submission…\n');
    expect((await readdir(out)).toSorted()).toEqual([
      ...['agent', 'artifacts', 'config.json', 'export.json', 'result.json', 'verifier'],
    ]);
    const json = await cli('export', id, '--out', path.join(used.dir, 'json'), '--json');
    expect(JSON.parse(json.stdout) as ExportedAttempt).toMatchObject({ attempt: id, steps: 2, marks: [] });
  });

  test('anonymised leaves notes out, unless they are asked for, and says what it does not look at', async () => {
    const id = await anAttempt();
    for (const [name, flags, has] of [
      ['none', [], false],
      ['notes', ['--notes'], true],
    ] as const) {
      const out = path.join(used.dir, name);
      const { code, stderr } = await cli('export', id, '--out', out, '--anonymised', ...flags);
      expect([code, stderr]).toEqual([0, expect.stringContaining('look through them yourself')]);
      const text = await readFile(path.join(out, 'agent/trajectory.json'), 'utf8');
      expect([text.includes('the spec is short'), text.includes(used.dir)]).toEqual([has, false]);
    }
  });

  test.each([
    [[], 'Name one attempt.'],
    [['x'], 'Say where, with --out'],
    [['nothing', '--out', 'y'], 'There is no attempt "nothing".'],
    [['imp0123456789ab', '--out', 'y'], 'is imported, and only read'],
  ])('%o is refused: %s', async (args, said) => {
    expect(await cli('export', ...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(said) as string,
    });
  });

  test('is recorded in a measured attempt at the task that has not ended', async () => {
    const id = await anAttempt();
    const open = await storeAttempt(used.store, path.join(used.dir, 'corpus/some-task'), {
      record: { state: 'running', protocol: aProtocol },
    });
    const { stderr } = await cli('export', id, '--out', path.join(used.dir, 'out'));
    expect(stderr).toContain(`The measured attempt ${open.id} at some-task has not ended`);
    const dir = used.store.dirOf(open.id);
    await (await Recorder.open(dir, { log: nullLog, reserveBytes: 1 << 12 })).close();
    const lines = [];
    for await (const line of readRecordLines(recordFileOf(dir))) lines.push(line);
    expect(lines).toContainEqual(
      expect.objectContaining({ kind: 'revealed-outside', what: 'attempt-grade', of: id }),
    );
  });
});

test('attempt summary prints words, CSV or JSON, and writes a file', async () => {
  const none = await cli('summary');
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'There are no such attempts.\n' });
  const id = await anAttempt();
  expect((await cli('summary', '--practice')).stdout).toBe(
    'some-task: 1 of 1 resolved (100.0 %, 95 % interval 20.7 % to 100.0 %)\n' +
      '  unpaused time of the resolved: geometric mean 1.0 min, of one: no interval\n',
  );
  expect((await cli('summary')).stdout).toBe('some-task: 0 of 0 resolved\n  excluded: 1 practice\n');
  const json = JSON.parse((await cli('summary', '--json', '--practice')).stdout) as Summary;
  expect(json.attempts[0]).toMatchObject({ attempt: id, official_verdict: 'resolved', notes: 1 });
  expect((await cli('summary', '--csv', '--tasks')).stdout).toMatch(/^task,builders,.*\r\nsome-task,0,/);
  const file = path.join(used.dir, 'rows.csv');
  expect(await cli('summary', '--csv', '--out', file)).toMatchObject({ code: 0, stdout: '' });
  expect(await readFile(file, 'utf8')).toMatch(new RegExp(`^attempt,task,.*\r\n${id},some-task,`));
  expect((await cli('summary', '--task', 'other')).stderr).toBe('There are no such attempts.\n');
  expect((await cli('summary', '--csv', '--json')).code).toBe(2);
});

test('attempt import lists what was exported as attempts that are only read', async () => {
  const id = await anAttempt();
  const trials = path.join(used.dir, 'trials');
  for (const name of ['one', 'two']) await cli('export', id, '--out', path.join(trials, name));
  const imported = await cli('import', trials);
  expect(imported).toMatchObject({ code: 0, stderr: 'Imported 2 trials.\n' });
  const [first = ''] = imported.stdout.split(/\s/);
  const list = await cli('list');
  expect(list.stdout).toMatch(
    new RegExp(`^${id} {2}submitted .*\n(?:imp[0-9a-f]{12} {2}imported {3}some-task.*resolved\n){2}$`),
  );
  expect(JSON.parse((await cli('list', '--json')).stdout)).toMatchObject([
    { id, state: 'submitted' },
    { state: 'imported', trial: { verdict: 'resolved', counts: { passed: 2 } } },
    { state: 'imported' },
  ]);
  const shown = await cli('show', first);
  expect(shown.stdout).toContain('  verdict  resolved\n');
  expect(shown.stdout).toContain('  tests    2 of 2 passed\n');
  expect(shown.stdout).toContain('  agent    human unknown\n');
  for (const args of [
    ['exec', first, '--', 'true'],
    ['submit', first, '--yes'],
    ['delete', first, '--yes'],
  ])
    expect(await cli(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('only read') as string,
    });
  expect((await cli('import', trials, '--remove')).code).toBe(0);
  expect((await cli('list')).stdout).not.toContain('imported');
  expect((await cli('import', trials, '--remove')).stderr).toContain('was not imported');
});
