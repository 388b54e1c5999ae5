import { requireInterimGrading, requireLiveOutput } from '#core/attempt/conditions.ts';
import { type AttemptCommandContext, oneId, requireYes } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';
import { followGrade, printGrade } from './followGrade.ts';

const options = {
  json: { type: 'boolean' },
  live: { type: 'boolean' },
  hardened: { type: 'boolean' },
  'allow-host-env': { type: 'boolean' },
} as const;

/** `e2e-swe attempt grade ID` */
export async function gradeAttemptCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    ...options,
    'keep-working': { type: 'boolean' },
    snapshot: { type: 'string' },
  });
  const id = oneId(positionals);
  const record = await context.store.read(id);
  requireInterimGrading(record);
  if (values.live) requireLiveOutput(record);
  if (values.snapshot !== undefined) {
    if (values['keep-working'])
      throw new UsageError('A snapshot is graded beside the work: leave --keep-working out.');
    const past = context.attempts.gradeSnapshot(id, values.snapshot, gradeOptions(values), context.signal);
    return printGrade(await followGrade(past, context), values.json, context);
  }
  await showWhatStays(id, context);
  const how = { ...gradeOptions(values), keepWorking: values['keep-working'] ?? false };
  const result = await followGrade(context.attempts.grade(id, how, context.signal), context);
  return printGrade(result, values.json, context);
}

/** `e2e-swe attempt submit ID --yes` */
export async function submitAttemptCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { ...options, yes: { type: 'boolean' } });
  const id = oneId(positionals);
  if (values.live) requireLiveOutput(await context.store.read(id));
  await showWhatStays(id, context);
  requireYes(values.yes, `The attempt ${id} ends with its submission.`);
  const result = await followGrade(
    context.attempts.submit(id, context.signal, gradeOptions(values)),
    context,
  );
  return printGrade(result, values.json, context);
}

function gradeOptions(values: {
  live?: boolean | undefined;
  hardened?: boolean | undefined;
  'allow-host-env'?: boolean | undefined;
}) {
  return {
    live: values.live ?? false,
    hardened: values.hardened ?? false,
    allowHostEnv: () => Promise.resolve(values['allow-host-env'] ?? false),
  };
}

/** Only the submission counts: what was changed elsewhere is named before it is too late. */
async function showWhatStays(id: string, context: AttemptCommandContext): Promise<void> {
  const paths = await context.attempts.willNotTravel(id, context.signal);
  if (paths.length === 0) return;
  const more = paths.length > maxListed ? `  … and ${paths.length - maxListed} more\n` : '';
  context.stderr(
    `Changed outside of what is graded, and will not travel:\n${paths
      .slice(0, maxListed)
      .map((path) => `  ${path}\n`)
      .join('')}${more}`,
  );
}

const maxListed = 20;
