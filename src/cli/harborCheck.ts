import { UserError } from '#core/base/errors.ts';
import { connectEngine } from '#core/container/connect.ts';
import { checkWithHarbor } from '#core/corpus/harborCheck.ts';
import { renderHarborCheck } from '#core/corpus/renderHarborCheck.ts';
import { gradeEntry } from '#core/grading/gradeEntry.ts';
import type { GradeResult, SubmissionSource } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import type { CrossCheck } from '#core/trial/crossCheck.ts';
import { findHarbor, howToGetHarbor } from '#core/trial/harborCommand.ts';
import {
  type CliContext,
  exitCodes,
  parseCommand,
  stderrLog,
  storeFolder,
  taskFolder,
  UsageError,
} from './context.ts';
import { connectAndSweep, followGrade } from './followGrade.ts';
import { sourceOf, tellAttempts } from './grade.ts';

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
  if (entry.task)
    await tellAttempts(entry.task, { what: 'harbor-check', of: source.kind, tier: 'full' }, context);
  const ours = await grade(entry, source, {
    ...(values.out === undefined ? {} : { out: values.out }),
    allowHostEnv: values['allow-host-env'] ?? false,
    context,
  });
  let check: CrossCheck | undefined;
  let problem = 'The grade ended before there was a submission to give to Harbor.';
  context.stderr('Asking Harbor…\n');
  try {
    if (entry.task)
      check = await checkWithHarbor(entry.task, ours, {
        harbor,
        publicNetwork: values['public-network'] ?? false,
        env: context.env,
        connect: () => connectEngine({ env: context.env }),
        signal: context.signal,
        ...(context.env.E2E_SWE_LOG === 'debug' ? { onOutput: (text: string) => context.stderr(text) } : {}),
      });
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
  const log = stderrLog(context);
  const events = gradeEntry(
    entry,
    source,
    {
      storeDir: storeFolder(context.env),
      outDir: options.out,
      allowHostEnv: () => Promise.resolve(options.allowHostEnv),
    },
    { connect: () => connectAndSweep(context, log), log, hostEnv: context.env },
    context.signal,
  );
  return followGrade(events, context);
}

function toJson(ours: GradeResult, check: CrossCheck | undefined, problem: string): object {
  return {
    outcome: check?.outcome ?? 'one side not graded',
    grade: ours,
    harbor: check ?? null,
    ...(check ? {} : { problem }),
  };
}
