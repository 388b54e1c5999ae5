import { taskOf } from '#core/attempt/context.ts';
import { anonymisedMeans, exportAttempt } from '#core/attempt/exportAttempt.ts';
import { type AttemptCommandContext, oneId } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';
import { tellAttempts } from './grade.ts';

/** `e2e-swe attempt export ID --out DIR [--anonymised] [--notes] [--json]` */
export async function exportCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    out: { type: 'string' },
    anonymised: { type: 'boolean' },
    notes: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const id = oneId(positionals);
  if (values.out === undefined) throw new UsageError('Say where, with --out: a new folder.');
  const anonymised = values.anonymised ?? false;
  const record = await context.store.read(id);
  // It holds the verifier's own files: others who are at the task may not have seen as much.
  if (record.grades.some(({ official }) => official))
    await tellAttempts(
      await taskOf(record),
      { what: 'attempt-grade', of: id, tier: 'full' },
      context,
      context.store,
    );
  const exported = await exportAttempt(
    context.store,
    id,
    {
      dir: values.out,
      anonymised,
      ...(values.notes ? { freeText: true } : {}),
      onProgress: (message) => context.stderr(`${message}…\n`),
    },
    context.signal,
  );
  if (values.json) context.stdout(`${JSON.stringify(exported, null, 2)}\n`);
  else {
    const { dir, steps, losses, marks } = exported;
    const said = [...losses, ...marks].map(({ rule, message }) => `  ${rule}: ${message}\n`).join('');
    context.stdout(`${dir}\n`);
    context.stderr(`${steps} steps.${said ? ` Lost or to know:\n${said}` : '\n'}`);
    if (anonymised) context.stderr(`${anonymisedMeans}\n`);
  }
  return 0;
}
