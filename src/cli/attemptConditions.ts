import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { AttemptProtocol } from '#core/attempt/protocol.ts';
import { exampleDebrief, exampleProtocol, readDebrief, readProtocol } from '#core/attempt/readConditions.ts';
import { errorCode, UserError } from '#core/base/errors.ts';
import type { AttemptCommandContext } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';

const examples: Readonly<Record<string, object>> = { protocol: exampleProtocol, debrief: exampleDebrief };

/** `e2e-swe attempt example (protocol|debrief)`: what `start --protocol` and `debrief` read. */
export async function exampleCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const [name = '', ...others] = positionals;
  const example = Object.hasOwn(examples, name) && others.length === 0 ? examples[name] : undefined;
  if (!example) throw new UsageError(`Say of what: ${Object.keys(examples).join(' or ')}.`);
  context.stdout(`${JSON.stringify(example, null, 2)}\n`);
  return 0;
}

/** `e2e-swe attempt debrief ID (FILE.json|-)` */
export async function debriefCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const [id, file, ...others] = positionals;
  if (id === undefined || file === undefined || others.length > 0)
    throw new UsageError('Name one attempt and one file: attempt debrief ID (FILE.json|-).');
  const where = file === '-' ? 'Standard input' : file;
  const debrief = readDebrief(file === '-' ? await text(process.stdin) : await contentOf(file), where);
  await context.attempts.debrief(id, debrief);
  context.stderr(`Kept with ${id}.\n`);
  return 0;
}

/** The conditions in a file. Errors: `UserError` that names the file and the field. */
export async function protocolIn(file: string): Promise<AttemptProtocol> {
  return readProtocol(await contentOf(file), file);
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UserError(`"${file}" cannot be read (${errorCode(error) ?? 'error'}).`, {
      nextStep: 'Name a file of JSON.',
      cause: error,
    });
  }
}
