import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, errorMessage, UserError } from '#core/base/errors.ts';
import { decide } from '#core/report/decide.ts';
import { parsePythonJson } from '#core/report/pythonJson.ts';
import type { Mark, Reward } from '#core/report/types.ts';
import { isGradedAllTheSame, reasonsOf, type TrialException } from './exceptions.ts';
import { readTerminalBench } from './terminalBench.ts';
import { type HarborResult, harborResult, terminalBenchResult } from './trialShape.ts';
import type { TrialReading } from './types.ts';
import { readVerifierFolders } from './verifierFolder.ts';

const resultCap = 64 * 1024 ** 2;

/**
 * Reads the result of a Harbor trial (E2E-SWE's are Harbor's) or of terminal-bench v1 and decides by the same table as
 * a grade (design.md §4.7). `expected`: the task's `test_case_count`. Errors: `UserError` where there is no result that
 * can be read (Harbor writes it last: a trial without one is unfinished).
 */
export async function readTrialResult(
  dir: string,
  options: { readonly expected?: number | undefined } = {},
): Promise<TrialReading> {
  const folder = path.resolve(dir);
  const harbor = await readJson(path.join(folder, 'result.json'));
  if (harbor !== undefined) {
    const parsed = harborResult.safeParse(harbor);
    if (parsed.success) return readHarbor(folder, asHarbor(parsed.data), options.expected);
    if (isJob(harbor))
      throw new UserError(`"${folder}" is a job of Harbor, not a trial.`, {
        nextStep: 'Choose one of the trial folders in it.',
      });
    throw unknownShape(path.join(folder, 'result.json'), parsed.error.issues[0]?.message);
  }
  const older = await readJson(path.join(folder, 'results.json'));
  if (older !== undefined) {
    const parsed = terminalBenchResult.safeParse(older);
    if (parsed.success) return { dir: folder, ...readTerminalBench(parsed.data) };
    throw unknownShape(path.join(folder, 'results.json'), parsed.error.issues[0]?.message);
  }
  throw new UserError(`"${folder}" has no result: it is no trial, or one that did not end.`, {
    nextStep: 'Choose a folder with a result.json (Harbor) or results.json (terminal-bench v1).',
  });
}

/** BenchFlow writes the rewards and its error at the top. */
function asHarbor(result: HarborResult): HarborResult {
  if ('verifier_result' in result || result.rewards === undefined) return result;
  const message = result.verifier_error ?? result.error;
  return {
    ...result,
    verifier_result: result.rewards === null ? null : { rewards: result.rewards },
    exception_info: message ? { exception_type: 'Exception', exception_message: message } : null,
  };
}

async function readHarbor(
  dir: string,
  result: HarborResult,
  expected: number | undefined,
): Promise<TrialReading> {
  const steps = result.step_results ?? [];
  const found = await readVerifierFolders(
    steps.length > 0
      ? steps.map(({ step_name }) => ({
          label: step_name,
          dir: path.join(dir, 'steps', safeName(step_name), 'verifier'),
        }))
      : [{ label: '', dir: path.join(dir, 'verifier') }],
  );
  const failedStep = steps.find((step) => step.exception_info);
  const info = result.exception_info ?? failedStep?.exception_info;
  const exception = info ? { type: info.exception_type, message: info.exception_message } : undefined;
  const rewards = result.verifier_result ? (result.verifier_result.rewards ?? {}) : null;
  const reward = rewardOf(result, found.reward, exception);
  const decision = decide({ reward, report: found.report, expected });
  const marks = [...found.marks, ...decision.marks, ...ownMarks(result, found.reward, exception)];
  const graded = decision.verdict !== 'not graded';
  const reason = graded || !exception ? decision.reason : reasonsOf(exception)[0];
  const { agent_info: agent } = result;
  return {
    format: 'harbor',
    dir,
    taskName: result.task_name,
    ...(result.task_id?.path ? { taskPath: result.task_id.path } : {}),
    ...(result.started_at ? { startedAt: result.started_at } : {}),
    ...(result.finished_at ? { finishedAt: result.finished_at } : {}),
    trialName: result.trial_name,
    ...(agent && {
      agent: {
        name: agent.name,
        version: agent.version,
        ...(agent.model_info ? { model: agent.model_info.name } : {}),
      },
    }),
    rewards,
    ...(exception && { exception }),
    reward,
    report: found.report,
    verdict: decision.verdict,
    ...(reason === undefined ? {} : { reason }),
    marks,
  };
}

/** The result decides whether there is a reward; the file tells more about it (NaN, its name, what was ignored). */
function rewardOf(result: HarborResult, file: Reward, exception: TrialException | undefined): Reward {
  const rewards = result.verifier_result?.rewards;
  if (!result.verifier_result) {
    // Late files of a run that was given up count for nothing; a file that could not be read keeps its reason.
    return exception && file.state === 'unreadable' ? file : { state: 'none' };
  }
  if (file.state === 'read' && sameRewards(file.rewards, rewards ?? {})) return file;
  return {
    state: 'read',
    value: rewards?.reward ?? null,
    rewards: rewards ?? {},
    source: file.state === 'none' ? 'reward.txt' : file.source,
    ...(rewards ? {} : { nullDocument: true as const }),
  };
}

function ownMarks(
  result: HarborResult,
  file: Reward,
  exception: TrialException | undefined,
): readonly Mark[] {
  const marks: Mark[] = [];
  const rewards = result.verifier_result?.rewards;
  if (rewards && file.state === 'read' && !sameRewards(file.rewards, rewards) && !result.step_results)
    marks.push({
      rule: 'reward-file-differs',
      message: 'The reward file in the trial is not what its result records; the result counts.',
    });
  if (!result.verifier_result && file.state === 'read')
    marks.push({
      rule: 'reward-not-recorded',
      message: `The trial ended with ${exception?.type ?? 'no result'}, yet its verifier folder holds a reward; it does not count.`,
    });
  if (exception && isGradedAllTheSame(exception.type) && result.verifier_result)
    marks.push({
      rule: 'agent-exception',
      message: `The agent ended with ${exception.type}; it was graded all the same.`,
    });
  else if (exception && result.verifier_result)
    marks.push({
      rule: 'trial-exception',
      message: `The trial records ${exception.type} beside its reward.`,
    });
  return marks;
}

export function sameRewards(
  a: Readonly<Record<string, number | null>>,
  b: Readonly<Record<string, number | null>>,
): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
  );
}

/** A step's name becomes a folder name; one that would leave the trial is none. */
function safeName(name: string): string {
  return /^[^/\\]+$/.test(name) && name !== '..' && name !== '.' ? name : '-';
}

async function readJson(file: string): Promise<unknown> {
  let text: string;
  try {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const info = await handle.stat();
      if (!info.isFile() || info.size > resultCap) throw unknownShape(file, `it has ${info.size} bytes`);
      text = await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    if (error instanceof UserError) throw error;
    throw unknownShape(file, errorMessage(error));
  }
  try {
    return parsePythonJson(text);
  } catch (error) {
    throw unknownShape(file, errorMessage(error));
  }
}

/** A job's own result.json, beside those of its trials (harbor.md §6.3). */
function isJob(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'n_total_trials' in value;
}

function unknownShape(file: string, why: string | undefined): UserError {
  return new UserError(`"${file}" cannot be read as the result of a trial${why ? `: ${why}` : ''}.`, {
    nextStep: 'Choose a trial folder of Harbor or of terminal-bench v1.',
  });
}
