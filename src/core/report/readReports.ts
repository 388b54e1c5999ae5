import { type CtrfDocument, findCtrfDocuments, type SummaryKey } from './ctrfDocument.ts';
import { decodeReport } from './decodeReport.ts';
import { durationFactor, isPytest } from './durationFactor.ts';
import { readTest, type TestContext } from './readTest.ts';
import { syntheticFailure } from './syntheticFailure.ts';
import { createIdMaker, type IdMaker } from './testId.ts';
import type { Report, TestResult } from './types.ts';

/** A file of /logs/verifier: its name or relative path, and its bytes (regular files only, capped by the caller). */
export interface ReportFile {
  readonly name: string;
  readonly data: Uint8Array;
}

type Outcome =
  | { readonly file: string; readonly documents: readonly CtrfDocument[]; readonly notes: readonly string[] }
  /** `broken`: no JSON at all, as against JSON of another kind. */
  | { readonly file: string; readonly error: string; readonly broken: boolean };
type Understood = Extract<Outcome, { readonly documents: unknown }>;

const summaryKeys = [
  'tests',
  'passed',
  'failed',
  'skipped',
  'pending',
  'other',
] as const satisfies readonly SummaryKey[];

/**
 * Reads the CTRF reports among the files of a verifier's log folder. Files named `*ctrf*.json` are reports; only where
 * none of them is understood are other JSON files taken that are CTRF by content (`results.json`). Several reports are
 * groups of one grade; one that is broken hides none of the others. Never throws.
 */
export function readReports(files: readonly ReportFile[]): Report {
  const json = withLabels(files.filter((file) => /\.json$/i.test(file.name)));
  const notes: string[] = [];
  const named = distinct(
    json.filter((file) => isNamedReport(file.name)),
    notes,
  ).map(readFile);
  const byContent = named.some(isUnderstood)
    ? []
    : distinct(
        json.filter((file) => !isNamedReport(file.name) && looksLikeCtrf(file.data)),
        notes,
      )
        .map(readFile)
        .filter((outcome) => isUnderstood(outcome) || (outcome.broken && named.length === 0));
  const outcomes = [...named, ...byContent];
  if (outcomes.length === 0) return { tests: [], state: 'none', notes };

  const unreadable: string[] = [];
  for (const outcome of outcomes) {
    if (isUnderstood(outcome)) {
      notes.push(...outcome.notes.map((note) => `${outcome.file} ${note}.`));
    } else {
      unreadable.push(outcome.file);
      notes.push(`${outcome.file} ${outcome.error}.`);
    }
  }
  return merge(outcomes.filter(isUnderstood), unreadable, notes);
}

function isUnderstood(outcome: Outcome): outcome is Understood {
  return 'documents' in outcome;
}

function merge(understood: readonly Understood[], unreadable: readonly string[], notes: string[]): Report {
  const tail = unreadable.length > 0 ? { unreadable } : {};
  if (understood.length === 0) return { tests: [], state: 'unreadable', notes, ...tail };
  const documents = understood.flatMap(({ file, documents: found }) =>
    found.map((document, index) => ({ document, group: index === 0 ? file : `${file}#${index + 1}` })),
  );
  const makeId = createIdMaker();
  const lists = documents.map(({ document, group }) =>
    readDocument(document, { file: group, group: documents.length > 1 ? group : undefined, makeId }, notes),
  );
  const tools = [...new Set(documents.flatMap(({ document }) => document.tool ?? []))];
  const claimed = documents.map(({ document }) => document.summary?.tests);
  const tests = lists.length === 1 ? (lists[0] ?? []) : lists.flat();
  const synthetic = syntheticFailure(tests);
  if (synthetic)
    notes.push(`The only entry, ${synthetic.name}, stands for a build that failed: no hidden test ran.`);
  return {
    ...(tools.length > 0 && { tool: tools.join(', ') }),
    tests,
    state: 'read',
    notes,
    ...(claimed.every((count) => count !== undefined) && {
      summaryTests: claimed.reduce((sum, count) => sum + count, 0),
    }),
    ...tail,
  };
}

/** Reads the tests of one document; the raw entries are let go one by one to keep memory low. */
function readDocument(
  document: CtrfDocument,
  place: {
    readonly file: string;
    readonly group: string | undefined;
    readonly makeId: IdMaker;
  },
  notes: string[],
): readonly TestResult[] {
  const { tool, summary, tests: entries } = document;
  const context: TestContext = {
    group: place.group,
    factor: durationFactor(entries, tool, summary),
    pytest: isPytest(tool),
    vitest: tool !== undefined && /vitest/i.test(tool),
    makeId: (suite, name) => place.makeId(place.file, suite, name),
    otherCase: new Set(),
    unknownStatuses: new Map(),
    pytestRetries: 0,
  };
  const tests: TestResult[] = [];
  for (let index = 0; index < entries.length; index++) {
    const test = readTest(entries[index], context);
    entries[index] = undefined;
    if (test) tests.push(test);
  }
  notes.push(...describe(document, tests, context).map((note) => `${place.file} ${note}.`));
  return tests;
}

/** What was odd about one document: predicates of its file. */
function describe(
  document: CtrfDocument,
  tests: readonly TestResult[],
  context: TestContext,
): readonly string[] {
  const notes: string[] = [];
  const strange = document.tests.length - tests.length;
  if (strange > 0)
    notes.push(`lists ${strange} ${strange === 1 ? 'entry that is no test' : 'entries that are no tests'}`);
  if (context.otherCase.size > 0)
    notes.push(`writes statuses otherwise than CTRF does: ${[...context.otherCase].slice(0, 5).join(', ')}`);
  for (const [word, count] of [...context.unknownStatuses].slice(0, 5))
    notes.push(`has ${count} with the status ${JSON.stringify(word.slice(0, 40))}, counted as other`);
  if (context.factor !== 1 && !context.pytest)
    notes.push('gives durations in another unit than milliseconds; they were converted');
  if (context.pytestRetries > 0)
    notes.push(
      `counts retries for ${context.pytestRetries} of pytest's tests: these may be further parameters, of which only the first result was kept`,
    );
  const odd = summaryKeys.flatMap((key) => {
    const claimed = document.summary?.[key];
    const found = key === 'tests' ? tests.length : tests.filter((test) => test.status === key).length;
    return claimed === undefined || claimed === found ? [] : [`${claimed} ${key} (listed: ${found})`];
  });
  if (odd.length > 0) notes.push(`has a summary that its list of tests does not bear out: ${odd.join(', ')}`);
  return notes;
}

function readFile(file: ReportFile): Outcome {
  const { name } = file;
  const decoded = decodeReport(file.data);
  if ('error' in decoded) return { file: name, error: decoded.error, broken: true };
  const documents = findCtrfDocuments(decoded.json);
  return documents.length > 0
    ? { file: name, documents, notes: decoded.notes }
    : { file: name, error: 'is no CTRF report', broken: false };
}

/** Drops files that repeat another byte for byte. */
function distinct(files: readonly ReportFile[], notes: string[]): readonly ReportFile[] {
  return files.filter((file, index) => {
    const first = files.slice(0, index).find((other) => Buffer.compare(other.data, file.data) === 0);
    if (first) notes.push(`${file.name} is the same as ${first.name} and was not counted again.`);
    return first === undefined;
  });
}

function isNamedReport(name: string): boolean {
  return /ctrf/i.test(baseName(name));
}

/** A cheap look before a file is parsed: other JSON may be large, such as trajectories. */
function looksLikeCtrf(data: Uint8Array): boolean {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return (
    bytes.includes('"tests"') && ['"results"', '"summary"', '"tool"'].some((word) => bytes.includes(word))
  );
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** In order of their names, each called by the last part of its path unless two share it. */
function withLabels(files: readonly ReportFile[]): readonly ReportFile[] {
  const count = (base: string): number => files.filter((file) => baseName(file.name) === base).length;
  return files
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map((file) => ({
      name: count(baseName(file.name)) === 1 ? baseName(file.name) : file.name,
      data: file.data,
    }));
}
