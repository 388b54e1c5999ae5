import { beforeEach, expect, test, vi } from 'vitest';
import type * as vscode from 'vscode';
import { CancelledError, UserError } from '#core/base/errors.ts';
import { gradeAndTell } from '#vscode/commands/gradeAndTell.ts';
import type { Grader } from '#vscode/ports.ts';
import { CancellationTokenSource, fake, TestRunRequest, Uri } from '../fakes/vscode.ts';
import { graderOf, makeEntry, makeResult, makeTask, makeTest } from './support/builders.ts';
import { renderItems, renderRun, trimmed } from './support/render.ts';
import { gradesTo, makeWorld } from './support/world.ts';

const task = makeTask('/c/alpha');
const solution = { kind: 'solution' } as const;
const threePassed = [
  makeTest('a', 'passed'),
  makeTest('b', 'passed'),
  makeTest('c', 'passed', { suite: ['suite', 'inner'] }),
];

beforeEach(() => {
  vi.useRealTimers();
});

test('a resolved grade: run, items, progress, log, notification', async () => {
  const world = await makeWorld(
    [makeEntry('/c/alpha')],
    gradesTo((t) => makeResult(t, 'resolved', threePassed)),
  );
  await gradeAndTell(world, { task, source: solution });
  expect(renderRun(fake.runs[0])).toBe(
    trimmed(`
      run Grading alpha (Reference solution)
      enqueued alpha
      started alpha
      passed test c
      passed test a
      passed test b
      end x1
    `),
  );
  expect(renderItems(world.items)).toBe(
    trimmed(`
      alpha (Reference solution)
        suite
          test a
          test b
          inner
            test c
    `),
  );
  expect(fake.runs[0]?.output).toBe(
    'collected 3 items\r\n\r\nalpha: Resolved. 3 of 3 passed (Reference solution).\r\n',
  );
  expect(fake.progress.map((line) => line.replace(/ · \d+ s$/, ''))).toEqual([
    'Grading alpha (Reference solution): Starting',
    'Grading alpha (Reference solution): Connecting to the container engine',
    'Grading alpha (Reference solution): Building the image',
    'Grading alpha (Reference solution): Building the image: Step 1/3',
    'Grading alpha (Reference solution): Running the hidden tests',
  ]);
  expect(fake.messages).toEqual(['info: alpha: Resolved. 3 of 3 passed (Reference solution). [Show tests]']);
  expect(fake.channel).toContain('info alpha: resolved; kept in /store/grades/alpha/1');
  expect(fake.channel).toContain('trace collected 3 items');
  expect(world.grades.latest(task)?.verdict).toBe('resolved');
  expect(world.revealed).toEqual(['/c/alpha']);
});

test('failures carry message, diff and no colours; missing tests are one errored item', async () => {
  const tests = [
    makeTest('ok', 'passed'),
    makeTest('bad', 'failed', {
      message: '\u001b[31mAssertionError\u001b[0m: 1 != 2',
      expected: '1',
      actual: '2',
    }),
    makeTest('skip', 'skipped'),
    makeTest('odd', 'other', { suite: [] }),
  ];
  const world = await makeWorld(
    [makeEntry('/c/alpha', { testCaseCount: 6 })],
    gradesTo(() =>
      makeResult(makeTask('/c/alpha', { testCaseCount: 6 }), 'unresolved', tests, {
        reason: 'tests-failed',
        explanation: { text: 'Not every hidden test passed.', nextStep: 'Read the failures.' },
      }),
    ),
  );
  await gradeAndTell(world, { task, source: solution });
  expect(renderRun(fake.runs[0])).toBe(
    trimmed(`
      run Grading alpha (Reference solution)
      enqueued alpha
      started alpha
      passed test ok
      failed test bad: AssertionError: 1 != 2 [1 != 2]
      skipped test skip
      errored test odd: The report gives no message (status "other").
      errored 2 tests not reported: The task expects 6 hidden tests, the report has 4. Open the verifier log to see why the others did not run.
      end x1
    `),
  );
  expect(renderItems(world.items).split('\n').slice(1)).toEqual([
    '  2 tests not reported',
    '  test odd',
    '  suite',
    '    test bad',
    '    test skip',
    '    test ok',
  ]);
  expect(fake.messages).toEqual([
    'warning: alpha: Unresolved. 1 of 6 passed, 2 tests not reported (Reference solution). [Show tests]',
  ]);
});

test('all tests passed, unresolved all the same: the task fails with the reason', async () => {
  const world = await makeWorld(
    [makeEntry('/c/alpha')],
    gradesTo((t) =>
      makeResult(t, 'unresolved', threePassed, {
        reason: 'reward-disagrees',
        explanation: { text: 'The verifier did not give the reward 1.', nextStep: 'Look in the output.' },
      }),
    ),
  );
  await gradeAndTell(world, { task, source: solution });
  expect(fake.runs[0]?.log[2]).toBe(
    'failed alpha (Reference solution): The verifier did not give the reward 1.\nLook in the output.',
  );
  expect(fake.messages).toEqual([
    'warning: alpha: Unresolved. The verifier did not give the reward 1. 3 of 3 passed (Reference solution). [Show tests]',
  ]);
});

test('not graded: the task errs with the reason and the next step', async () => {
  const world = await makeWorld(
    [makeEntry('/c/alpha')],
    gradesTo((t) =>
      makeResult(t, 'not graded', [], {
        reason: 'engine-unavailable',
        counts: { ...makeResult(t, 'resolved', []).counts, notReported: 0 },
        explanation: { text: 'No container engine answers.', nextStep: 'Start Docker.', cause: 'engine' },
      }),
    ),
  );
  await gradeAndTell(world, { task, source: solution });
  expect(fake.runs[0]?.log.at(-1)).toBe(
    'errored alpha (Reference solution): No container engine answers.\nStart Docker.',
  );
  expect(fake.messages).toEqual([
    'error: alpha: Not graded. No container engine answers. Start Docker. [Show log]',
  ]);
});

test('an error ends the run with its message and reaches the caller', async () => {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf(new UserError('The folder is gone.')));
  await expect(gradeAndTell(world, { task, source: solution })).rejects.toThrow('The folder is gone.');
  expect(renderRun(fake.runs[0])).toMatch(/errored alpha: The folder is gone\.\nend x1$/);
  expect(world.queue.jobs).toEqual([]);
});

/** Waits for its signal, as a long grade does. */
const endless: Grader = async function* wait(_task, _source, signal) {
  yield { kind: 'phase', phase: 'verify', title: 'Running the hidden tests' };
  await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new CancelledError()));
  });
};

test.each([
  ['notification', () => fake.progressSource?.cancel()],
  ['Testing view', () => fake.runs[0]?.source.cancel()],
])('a grade is cancelled from the %s', async (_name, cancel) => {
  const world = await makeWorld([makeEntry('/c/alpha')], endless);
  const grading = gradeAndTell(world, { task, source: solution });
  await vi.waitFor(() => expect(world.queue.jobs[0]?.step).toBe('Running the hidden tests'));
  cancel();
  await expect(grading).rejects.toBeInstanceOf(CancelledError);
  expect(renderRun(fake.runs[0])).toMatch(/skipped alpha\nend x1$/);
  expect(fake.messages).toEqual([]);
});

test('the seconds go on while a step lasts', async () => {
  const world = await makeWorld([makeEntry('/c/alpha')], endless);
  vi.useFakeTimers();
  const grading = gradeAndTell(world, { task, source: solution });
  await vi.advanceTimersByTimeAsync(3_500);
  expect(fake.progress.at(-1)).toBe('Grading alpha (Reference solution): Running the hidden tests · 3 s');
  world.queue.jobs[0]?.cancel();
  await expect(grading).rejects.toBeInstanceOf(CancelledError);
  const told = fake.progress.length;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(fake.progress).toHaveLength(told);
});

test('tasks of an untrusted workspace are not graded, others are', async () => {
  const world = await makeWorld(
    [makeEntry('/c/alpha')],
    gradesTo((t) => makeResult(t, 'resolved', threePassed)),
  );
  fake.trusted = false;
  fake.workspaceFolders = [{ uri: Uri.file('/c'), name: 'c' }];
  await expect(gradeAndTell(world, { task, source: solution })).rejects.toThrow('Restricted Mode');
  fake.workspaceFolders = [{ uri: Uri.file('/elsewhere'), name: 'e' }];
  await gradeAndTell(world, { task, source: solution });
  expect(fake.runs).toHaveLength(1);
});

test('the Testing view grades again: once per task, with the last choice first', async () => {
  const world = await makeWorld(
    [makeEntry('/c/alpha'), makeEntry('/c/beta')],
    gradesTo((t) => makeResult(t, 'resolved', threePassed, { dir: `/store/grades/${t.name}/1` })),
  );
  fake.picks = ['Empty workspace', 'Empty workspace'];
  const { token } = new CancellationTokenSource();
  await fake.runHandler?.(new TestRunRequest(), token);
  expect(fake.runs.map((run) => run.name)).toEqual([
    'Grading alpha (Empty workspace)',
    'Grading beta (Empty workspace)',
  ]);
  expect(new Set(fake.runs.map((run) => run.request)).size).toBe(1);
  const [, alpha] = [...world.items][0] ?? [];
  const leaf = alpha && [...([...alpha.children][0]?.[1].children ?? [])].map(([, item]) => item);
  await fake.runHandler?.(new TestRunRequest(leaf as never), token);
  expect(fake.runs.slice(2).map((run) => run.name)).toEqual(['Grading alpha (Empty workspace)']);
  expect(fake.offered.at(-1)?.slice(0, 2)).toEqual(['Last choice', '$(circle-outline) Empty workspace']);
});

test('results of two tasks never mix, and a task keeps its tests when the list is read again', async () => {
  const world = await makeWorld(
    [makeEntry('/c/alpha'), makeEntry('/c/beta')],
    gradesTo((t) => makeResult(t, 'resolved', threePassed, { dir: `/store/grades/${t.name}/1` })),
  );
  await gradeAndTell(world, { task, source: solution });
  await gradeAndTell(world, { task: makeTask('/c/beta'), source: solution });
  const ids = (items: vscode.TestItemCollection): string[] =>
    [...items].flatMap(([id, item]) => [id, ...ids(item.children)]);
  const all = ids(world.items);
  expect(new Set(all).size).toBe(all.length);
  await world.index.refresh();
  expect(ids(world.items)).toEqual(all);
});

test('ten thousand tests are told in batches', async () => {
  const many = Array.from({ length: 10_000 }, (_, n) =>
    makeTest(`t${n}`, n % 100 === 0 ? 'failed' : 'passed'),
  );
  const world = await makeWorld(
    [makeEntry('/c/alpha')],
    gradesTo((t) => makeResult(t, 'unresolved', many)),
  );
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await gradeAndTell(world, { task, source: solution });
  clearInterval(timer);
  expect(fake.runs[0]?.log.filter((line) => line.startsWith('failed test'))).toHaveLength(100);
  expect(turns).toBeGreaterThan(5);
});
