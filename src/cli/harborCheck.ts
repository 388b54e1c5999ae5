import { stat } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '#core/base/errors.ts';
import { connectEngine } from '#core/container/connect.ts';
import { gradeEntry } from '#core/grading/gradeEntry.ts';
import { readSubmission } from '#core/grading/submission.ts';
import type { GradeResult, SubmissionSource } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import type { Side } from '#core/trial/compareSides.ts';
import { type CrossCheck, composeProjectPrefix, crossCheck } from '#core/trial/crossCheck.ts';
import { newTrialName } from '#core/trial/exportTrial.ts';
import { findHarbor, type HarborCommand, howToGetHarbor } from '#core/trial/harborCommand.ts';
import {
  type CliContext,
  exitCodes,
  parseCommand,
  stderrLog,
  storeFolder,
  taskFolder,
  UsageError,
} from './context.ts';
import { sourceOf } from './grade.ts';
import { renderHarborCheck } from './renderHarborCheck.ts';

/** `e2e-swe harbor-check TASK (--workspace DIR|TAR | --solution | --empty) [--harbor CMD] [--public-network] [--json]` */
export async function harborCheckCommand(args: string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    workspace: { type: 'string' },
    solution: { type: 'boolean' },
    empty: { type: 'boolean' },
    harbor: { type: 'string' },
    out: { type: 'string' },
    json: { type: 'boolean' },
    'public-network': { type: 'boolean' },
    'allow-host-env': { type: 'boolean' },
  });
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new UsageError('Name one task folder.');
  const source = sourceOf(values);
  const harbor = findHarbor(values.harbor ?? context.env.E2E_SWE_HARBOR, context.env);
  if (harbor === undefined) {
    const asked = values.harbor ?? context.env.E2E_SWE_HARBOR;
    context.stderr(`e2e-swe: there is no command "${asked ?? 'harbor'}" here. ${howToGetHarbor}\n`);
    return exitCodes.notGraded;
  }
  const entry = await loadTask(taskFolder(name));
  const ours = await grade(entry, source, {
    ...(values.out === undefined ? {} : { out: values.out }),
    allowHostEnv: values['allow-host-env'] ?? false,
    context,
  });
  let check: CrossCheck | undefined;
  let problem = 'The grade ended before there was a submission to give to Harbor.';
  try {
    if (entry.task)
      check = await checkWithHarbor(entry.task, ours, harbor, values['public-network'] ?? false, context);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    problem = [error.message, error.nextStep].filter(Boolean).join(' ');
  }
  context.stdout(
    values.json
      ? `${JSON.stringify(toJson(ours, check, problem), null, 2)}\n`
      : renderHarborCheck(ours, check, problem),
  );
  return { agree: 0, differ: 1, 'one side not graded': exitCodes.notGraded }[
    check?.outcome ?? 'one side not graded'
  ];
}

async function grade(
  entry: Awaited<ReturnType<typeof loadTask>>,
  source: SubmissionSource,
  options: { readonly out?: string; readonly allowHostEnv: boolean; readonly context: CliContext },
): Promise<GradeResult> {
  const { context } = options;
  const events = gradeEntry(
    entry,
    source,
    {
      storeDir: storeFolder(context.env),
      outDir: options.out,
      allowHostEnv: () => Promise.resolve(options.allowHostEnv),
    },
    { connect: () => connectEngine({ env: context.env }), log: stderrLog(context), hostEnv: context.env },
    context.signal,
  );
  let result: GradeResult | undefined;
  for await (const event of events) {
    if (event.kind === 'finished') result = event.result;
    else if (event.kind === 'phase') context.stderr(`${event.title}…\n`);
  }
  if (!result) throw new Error('The grade ended without a result.');
  return result;
}

/** Undefined where our grade ended before there was a submission: then there is nothing to give to Harbor. */
async function checkWithHarbor(
  task: Task,
  ours: GradeResult,
  harbor: HarborCommand,
  publicNetwork: boolean,
  context: CliContext,
): Promise<CrossCheck | undefined> {
  const file = path.join(ours.dir, 'submission.tar.gz');
  const { submission, image, limits } = ours.evidence;
  if (submission === undefined || !(await stat(file).catch(() => undefined))) return undefined;
  context.stderr('Asking Harbor…\n');
  const trialName = newTrialName(task);
  const check = crossCheck({
    task,
    trialName,
    ours: sideOf(ours),
    submission: {
      file,
      read: () =>
        readSubmission({
          file,
          sha256: submission.sha256,
          bytes: submission.bytes,
          entries: [],
          skipped: [],
        }),
      skipped: submission.skipped,
      isSolution: ours.evidence.source === 'solution',
    },
    image: image?.reference,
    limits: { cpus: limits?.cpus ?? null, memoryMb: limits?.memoryMb ?? null },
    startedAt: ours.startedAt,
    finishedAt: ours.finishedAt,
    into: path.join(ours.dir, 'harbor'),
    harbor,
    publicNetwork,
    env: context.env,
    signal: context.signal,
    ...(context.env.E2E_SWE_LOG === 'debug' ? { onOutput: (text: string) => context.stderr(text) } : {}),
  });
  try {
    return await check;
  } finally {
    if (context.signal.aborted) await removeLeftovers(trialName, context);
  }
}

/** A Harbor that was cancelled while it tidied up leaves its containers running. */
async function removeLeftovers(trialName: string, context: CliContext): Promise<void> {
  const engine = await connectEngine({ env: context.env });
  const label = 'com.docker.compose.project';
  const left = await engine.listContainers(label);
  const prefix = composeProjectPrefix(trialName);
  for (const { id } of left.filter(({ labels }) => labels[label]?.startsWith(prefix)))
    await engine.removeContainer(id);
}

function sideOf({ verdict, reason, rewards, tests }: GradeResult): Side {
  return { verdict, ...(reason === undefined ? {} : { reason }), rewards: rewards ?? null, tests };
}

function toJson(ours: GradeResult, check: CrossCheck | undefined, problem: string): object {
  return {
    outcome: check?.outcome ?? 'one side not graded',
    grade: ours,
    harbor: check ?? null,
    ...(check ? {} : { problem }),
  };
}
