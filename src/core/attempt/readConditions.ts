import type { z } from 'zod';
import { UserError } from '#core/base/errors.ts';
import { type AttemptDebrief, type AttemptProtocol, debriefSchema, protocolSchema } from './protocol.ts';

/** What `attempt start --protocol` reads; a place to begin from. */
export const exampleProtocol: AttemptProtocol = {
  pseudonym: 'otter-7',
  exposure: 'none',
  experienceYears: 5,
  expertise: ['python', 'compilers'],
  aiPolicy: 'none',
  otherDevice: 'documentation',
  tier: 'counts',
  interimGrading: true,
  compensation: '60 EUR an hour; 100 EUR more for a resolved task',
  consent: 'ethics approval 2026-17',
};

/** What `attempt debrief` reads. */
export const exampleDebrief: AttemptDebrief = {
  difficulty: 3,
  estimateMinutes: 240,
  approach: 'The parser first, with tests of my own; then the evaluator.',
  deadEnds: 'A generated parser: its errors had no positions.',
  ambiguities: 'The spec leaves open what an empty input is.',
  aiUse: '',
};

/** The conditions in a file, `where` in words. Errors: `UserError` that names the file and the field. */
export function readProtocol(text: string, where: string): AttemptProtocol {
  return readAs(protocolSchema.strict(), text, where, 'protocol');
}

/** A debrief in a file, `where` in words. Errors: `UserError` that names the file and the field. */
export function readDebrief(text: string, where: string): AttemptDebrief {
  return readAs(debriefSchema.strict(), text, where, 'debrief');
}

function readAs<T>(schema: z.ZodType<T>, text: string, where: string, what: string): T {
  const nextStep = `"e2e-swe attempt example ${what}" prints one that is right.`;
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${where} is no JSON.`, { nextStep, cause: error });
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new UserError(`${where}: ${problemOf(parsed.error, data)}.`, { nextStep, cause: parsed.error });
}

function problemOf(error: z.ZodError, data: unknown): string {
  const issue = error.issues[0];
  if (!issue) return 'it is not as it should be';
  if (issue.code === 'unrecognized_keys') return `there is no field "${issue.keys[0] ?? ''}"`;
  const field = issue.path.join('.');
  if (field === '') return 'it is no JSON object';
  if (valueAt(data, issue.path) === undefined) return `the field "${field}" is missing`;
  const wanted =
    issue.code === 'invalid_value'
      ? `one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
      : issue.message.replace(/^Invalid input: /, '').replace(/^Too (small|big): /, '');
  return `the field "${field}" is ${JSON.stringify(valueAt(data, issue.path))}, not as it should be (${wanted})`;
}

function valueAt(data: unknown, place: readonly PropertyKey[]): unknown {
  return place.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    data,
  );
}
