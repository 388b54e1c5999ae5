import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTrialResult } from '#core/trial/readTrialResult.ts';
import { tempDir } from './support.ts';

const ctrf = (...statuses: readonly string[]): string =>
  JSON.stringify({
    results: { tool: { name: 't' }, tests: statuses.map((status, index) => ({ name: `t${index}`, status })) },
  });

/** A trial folder: files by relative path; an object becomes JSON. */
function trial(files: Readonly<Record<string, object | string>>): string {
  const dir = tempDir();
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), typeof value === 'string' ? value : JSON.stringify(value));
  }
  return dir;
}

const result = (more: object = {}): object => ({
  task_name: 'some/task',
  trial_name: 'task__AbC1234',
  agent_info: { name: 'oracle', version: '1.0.0', model_info: null },
  verifier_result: { rewards: { reward: 1 } },
  exception_info: null,
  ...more,
});
const raised = (exception_type: string, exception_message = ''): object => ({
  verifier_result: null,
  exception_info: {
    exception_type,
    exception_message,
    exception_traceback: '',
    occurred_at: '2026-01-01T00:00:00Z',
  },
});

describe('a trial of Harbor', () => {
  test('is decided by the same table, with the number of tests from the task', async () => {
    const dir = trial({
      'result.json': result(),
      'verifier/reward.txt': '1',
      'verifier/ctrf.json': ctrf('passed', 'passed'),
    });
    expect(await readTrialResult(dir, { expected: 2 })).toMatchObject({
      format: 'harbor',
      taskName: 'some/task',
      agent: { name: 'oracle' },
      rewards: { reward: 1 },
      verdict: 'resolved',
      marks: [],
    });
    expect(await readTrialResult(dir, { expected: 3 })).toMatchObject({
      verdict: 'unresolved',
      reason: 'tests-not-reported',
    });
  });

  test.each([
    ['VerifierTimeoutError', '', 'verifier-timeout'],
    ['RewardFileNotFoundError', '', 'reward-missing'],
    ['ValidationError', '', 'reward-unreadable'],
    ['EnvironmentStartTimeoutError', '', 'container-start-failed'],
    ['HealthcheckError', '', 'healthcheck-failed'],
    ['RuntimeError', 'Docker compose command failed … pull access denied for x', 'image-missing'],
    ['RuntimeError', 'Docker compose command failed … failed to solve: process', 'image-build-failed'],
    ['RuntimeError', 'Docker compose cp failed, and tar upload fallback also failed', 'copy-incomplete'],
    ['FileNotFoundError', 'Solution script not found: x', 'solution-missing'],
    ['FileNotFoundError', 'x has no environment definition', 'task-invalid'],
    ['ValueError', "Environment variable 'X' not found in host environment", 'verifier-env-missing'],
    ['RegradeError', '/app: never collected (no manifest entry)', 'artifact-missing'],
    ['CancelledError', '', 'cancelled'],
    ['AgentSetupTimeoutError', '', 'agent-failed'],
    ['KeyError', 'x', 'harbor-failed'],
  ])('that ended with %s is not graded: %s', async (type, message, reason) => {
    const dir = trial({ 'result.json': result(raised(type, message)) });
    expect(await readTrialResult(dir)).toMatchObject({
      verdict: 'not graded',
      reason,
      rewards: null,
      exception: { type },
    });
  });

  test('a reward that came after the deadline does not count, and is marked', async () => {
    const dir = trial({ 'result.json': result(raised('VerifierTimeoutError')), 'verifier/reward.txt': '1' });
    expect(await readTrialResult(dir)).toMatchObject({
      verdict: 'not graded',
      reason: 'verifier-timeout',
      marks: [{ rule: 'reward-not-recorded' }],
    });
  });

  test('an agent that ran out of time was graded all the same', async () => {
    const dir = trial({
      'result.json': result({ ...raised('AgentTimeoutError'), verifier_result: { rewards: { reward: 1 } } }),
      'verifier/reward.txt': '1',
    });
    expect(await readTrialResult(dir)).toMatchObject({
      verdict: 'resolved',
      marks: [{ rule: 'agent-exception' }],
    });
  });

  test('the result counts where the reward file says something else', async () => {
    const dir = trial({
      'result.json': result({ verifier_result: { rewards: { reward: 0 } } }),
      'verifier/reward.txt': '1',
    });
    expect(await readTrialResult(dir)).toMatchObject({
      verdict: 'unresolved',
      rewards: { reward: 0 },
      marks: [{ rule: 'reward-file-differs' }],
    });
  });

  test('NaN is no number, however it is written', async () => {
    const text = JSON.stringify(result()).replace('"reward":1', '"reward":NaN');
    const dir = trial({ 'result.json': text, 'verifier/reward.txt': 'nan' });
    expect(await readTrialResult(dir)).toMatchObject({
      verdict: 'not graded',
      reason: 'reward-unreadable',
      rewards: { reward: null },
    });
  });

  test('a null document is a result without rewards', async () => {
    const dir = trial({
      'result.json': result({ verifier_result: { rewards: null } }),
      'verifier/reward.json': 'null',
    });
    expect(await readTrialResult(dir)).toMatchObject({
      verdict: 'not graded',
      reason: 'reward-missing',
      rewards: {},
    });
  });

  test('links among the results are named, never read', async () => {
    const dir = trial({ 'result.json': result(), 'verifier/real': ctrf('failed'), outside: '0' });
    symlinkSync('real', path.join(dir, 'verifier/ctrf.json'));
    symlinkSync('../outside', path.join(dir, 'verifier/reward.txt'));
    const reading = await readTrialResult(dir);
    expect(reading.report.state).toBe('none');
    expect(reading.marks.map(({ rule }) => rule)).toEqual(['result-not-a-file', 'result-not-a-file']);
  });

  test('of several steps has the reports of all, and the exception of the step', async () => {
    const { exception_info } = raised('AgentTimeoutError') as { exception_info: object };
    const dir = trial({
      'result.json': result({
        verifier_result: { rewards: { reward: 0.5 } },
        step_results: [
          { step_name: 'one', verifier_result: { rewards: { reward: 1 } }, exception_info: null },
          { step_name: 'two', verifier_result: { rewards: { reward: 0 } }, exception_info },
          { step_name: '../../etc', verifier_result: null },
        ],
      }),
      'steps/one/verifier/ctrf.json': ctrf('passed'),
      'steps/two/verifier/ctrf.json': ctrf('failed'),
    });
    const reading = await readTrialResult(dir);
    expect(reading).toMatchObject({
      verdict: 'unresolved',
      rewards: { reward: 0.5 },
      exception: { type: 'AgentTimeoutError' },
    });
    expect(reading.report.tests.map(({ status, group }) => `${group} ${status}`)).toEqual([
      'one/ctrf.json passed',
      'two/ctrf.json failed',
    ]);
  });

  test('of an early version lacks most keys', async () => {
    const dir = trial({ 'result.json': { task_name: 't', verifier_result: { rewards: { reward: 0 } } } });
    expect(await readTrialResult(dir)).toMatchObject({ verdict: 'unresolved', trialName: '' });
  });

  test('of BenchFlow has its rewards at the top', async () => {
    const graded = trial({ 'result.json': { task_name: 't', rewards: { reward: 0 }, error: null } });
    expect(await readTrialResult(graded)).toMatchObject({ verdict: 'unresolved', rewards: { reward: 0 } });
    const failed = trial({ 'result.json': { task_name: 't', rewards: null, error: 'sandbox died' } });
    expect(await readTrialResult(failed)).toMatchObject({ verdict: 'not graded', reason: 'harbor-failed' });
  });

  test.each([
    ['no result', {}],
    ['a result that is no JSON', { 'result.json': '{' }],
    ['a result of something else', { 'result.json': { hello: 1 } }],
    ["a job's result", { 'result.json': { id: 'x', n_total_trials: 2, stats: {} } }],
  ])('with %s is none', async (_, files) => {
    await expect(readTrialResult(trial(files))).rejects.toThrow(/result|is a job/);
  });
});

describe('a trial of terminal-bench v1', () => {
  const v1 = (more: object): string =>
    trial({
      'results.json': {
        task_id: 't',
        trial_name: 't.1-of-1',
        failure_mode: 'unset',
        parser_results: null,
        ...more,
      },
    });

  test('is_resolved is its reward, parser_results its report', async () => {
    const dir = v1({ is_resolved: false, parser_results: { one: 'passed', two: 'failed' } });
    const reading = await readTrialResult(dir);
    expect(reading).toMatchObject({
      format: 'terminal-bench-1',
      verdict: 'unresolved',
      reason: 'tests-failed',
      rewards: { reward: 0 },
    });
    expect(reading.report.tests.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'one passed',
      'two failed',
    ]);
    expect(await readTrialResult(v1({ is_resolved: true }))).toMatchObject({ verdict: 'resolved' });
  });

  test.each([
    [{ is_resolved: null, failure_mode: 'parse_error' }, 'reward-unreadable'],
    [{ is_resolved: false, failure_mode: 'test_timeout' }, 'verifier-timeout'],
    [{ is_resolved: null, failure_mode: 'agent_installation_failed' }, 'agent-failed'],
    [{ is_resolved: null }, 'reward-missing'],
  ])('%o is not graded', async (more, reason) => {
    expect(await readTrialResult(v1(more))).toMatchObject({ verdict: 'not graded', reason, rewards: null });
  });

  test.each(['agent_timeout', 'agent_installation_failed'])(
    '%s does not undo what its tests say',
    async (failure_mode) => {
      const dir = v1({ is_resolved: true, failure_mode, parser_results: { one: 'passed' } });
      expect(await readTrialResult(dir)).toMatchObject({
        verdict: 'resolved',
        marks: [{ rule: 'agent-exception' }],
      });
    },
  );
});
