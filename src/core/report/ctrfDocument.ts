import { z } from 'zod';

/** A number as reports give it; anything else counts as absent. */
const optionalNumber = z.number().optional().catch(undefined);
const summarySchema = z.looseObject({
  tests: optionalNumber,
  passed: optionalNumber,
  failed: optionalNumber,
  skipped: optionalNumber,
  pending: optionalNumber,
  other: optionalNumber,
  start: optionalNumber,
  stop: optionalNumber,
});
const toolSchema = z
  .union([z.string(), z.looseObject({ name: z.string() }).transform((tool) => tool.name)])
  .optional()
  .catch(undefined);

/** The summary that a report writes about itself; every figure may be missing. Times as written, unit unknown. */
export type CtrfSummary = Partial<Record<SummaryKey, number | undefined>>;
export type SummaryKey = 'tests' | 'passed' | 'failed' | 'skipped' | 'pending' | 'other' | 'start' | 'stop';

/** The parts of one CTRF document that count; the tests are not looked into yet. */
export interface CtrfDocument {
  readonly tool: string | undefined;
  readonly summary: CtrfSummary | undefined;
  /** Owned by the reader, which may overwrite the entries. */
  readonly tests: unknown[];
}

/**
 * Finds the CTRF documents in a JSON value: the spec's `{results: {tool, summary, tests}}`, the same without `results`,
 * a list of documents, or either one level inside a wrapper. Empty when there is none.
 */
export function findCtrfDocuments(json: unknown): readonly CtrfDocument[] {
  return documentsAt(json, 2);
}

function documentsAt(value: unknown, depth: number): readonly CtrfDocument[] {
  if (typeof value !== 'object' || value === null || depth < 0) return [];
  if (Array.isArray(value)) return value.flatMap((item) => documentsAt(item, depth - 1));
  const wrapped = 'results' in value ? documentFrom(value.results, true) : undefined;
  const document = wrapped ?? documentFrom(value, false);
  if (document) return [document];
  return Object.values(value).flatMap((item) => documentsAt(item, depth - 1));
}

/** `wrapped`: it stood under `results`, so that a list of tests is enough to know it. */
function documentFrom(value: unknown, wrapped: boolean): CtrfDocument | undefined {
  if (typeof value !== 'object' || value === null || !('tests' in value)) return undefined;
  const summary = summarySchema.safeParse('summary' in value ? value.summary : undefined).data;
  const tool = toolSchema.parse('tool' in value ? value.tool : undefined);
  if (!wrapped && summary === undefined && tool === undefined) return undefined;
  // Go writes an empty list as null.
  if (value.tests === null) return { tool, summary, tests: [] };
  return Array.isArray(value.tests) ? { tool, summary, tests: value.tests } : undefined;
}
