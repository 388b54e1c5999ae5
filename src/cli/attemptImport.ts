import path from 'node:path';
import {
  type ExpectedTests,
  type ImportedAttempt,
  ImportedAttempts,
} from '#core/attempt/importedAttempts.ts';
import { UserError } from '#core/base/errors.ts';
import { countTests } from '#core/report/countTests.ts';
import { loadTask } from '#core/task/load.ts';
import type { AttemptCommandContext } from './attemptContext.ts';
import { renderImportedRow } from './attemptRender.ts';
import { bundledTasks, parseCommand, UsageError } from './context.ts';

/** `e2e-swe attempt import DIR [--remove] [--json]` */
export async function importCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    remove: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const [dir, ...others] = positionals;
  if (dir === undefined || others.length > 0) throw new UsageError('Name one trial or job folder.');
  const imports = new ImportedAttempts(context.store.storeDir);
  if (values.remove) {
    await imports.remove(dir);
    context.stderr(`${dir} is not listed any more; its trials stay.\n`);
    return 0;
  }
  const found = await imports.add(dir, expectedTests, context.signal);
  if (values.json) context.stdout(`${JSON.stringify(found.map(withoutTests), null, 2)}\n`);
  else for (const attempt of found) context.stdout(renderImportedRow(attempt));
  const damaged = found.filter(({ damage }) => damage !== undefined).length;
  const trials = `${found.length} ${found.length === 1 ? 'trial' : 'trials'}`;
  context.stderr(
    `Imported ${trials}${damaged > 0 ? `, ${damaged} without a result that can be read` : ''}.\n`,
  );
  return 0;
}

/** As a list has it: the tests of thousands of trials are for `show`. */
export function withoutTests({ trial, ...attempt }: ImportedAttempt): object {
  if (!trial) return attempt;
  const { report, ...rest } = trial;
  return { ...attempt, trial: { ...rest, counts: countTests(report, undefined) } };
}

/** All that was imported, for lists. */
export function listImported(context: AttemptCommandContext): Promise<readonly ImportedAttempt[]> {
  return new ImportedAttempts(context.store.storeDir).list(expectedTests, context.signal);
}

/** Errors: `UserError` where none has the id. */
export async function readImported(id: string, context: AttemptCommandContext): Promise<ImportedAttempt> {
  const found = (await listImported(context)).find((attempt) => attempt.id === id);
  if (found) return found;
  throw new UserError(`There is no imported attempt "${id}".`, {
    nextStep: 'List the attempts to see which there are.',
  });
}

/** By the task's folder, where the trial was run here, else by the name of a bundled one. */
const expectedTests: ExpectedTests = async (wanted) => {
  const bundled = /^[\w.-]+$/.test(wanted.name) ? path.join(bundledTasks(), wanted.name) : undefined;
  for (const dir of [wanted.path, bundled]) {
    if (dir === undefined || !path.isAbsolute(dir)) continue;
    const { task } = await loadTask(dir).catch(() => ({ task: undefined }));
    if (task?.name === wanted.name) return task.testCaseCount;
  }
  return undefined;
};
