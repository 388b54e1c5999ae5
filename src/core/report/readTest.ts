import { spanMs } from './durationFactor.ts';
import { readExpectation } from './expectation.ts';
import { jsonText } from './jsonText.ts';
import { clampLine, findPlace } from './location.ts';
import type { TestResult, TestStatus } from './types.ts';

/** What all tests of one report share; the tallies are filled while they are read. */
export interface TestContext {
  readonly group: string | undefined;
  /** Milliseconds per unit of `duration`. */
  readonly factor: number;
  readonly pytest: boolean;
  readonly vitest: boolean;
  readonly makeId: (suite: readonly string[], name: string) => string;
  /** Statuses that are written otherwise than CTRF writes them: in capitals. */
  readonly otherCase: Set<string>;
  /** How often each word that is no status was met. */
  readonly unknownStatuses: Map<string, number>;
  /** pytest's tests with retries. */
  pytestRetries: number;
}

type Draft = { -readonly [Key in keyof TestResult]: TestResult[Key] };
type Entry = Readonly<Record<string, unknown>>;

const statuses: ReadonlySet<unknown> = new Set<TestStatus>([
  'passed',
  'failed',
  'skipped',
  'pending',
  'other',
]);
/** Characters of a message or trace that are taken: a grade is one JSON document, read again whenever it is listed. */
const maxText = 1_000_000;
/** Levels of suites that a tree is asked to show; deeper ones are joined. */
const maxSuiteDepth = 32;

/**
 * Reads one entry of `tests` by hand (a schema would take most of a second for 100,000). Undefined when it is no object.
 */
export function readTest(value: unknown, context: TestContext): TestResult | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entry = value as Entry;
  const name = typeof entry.name === 'string' ? entry.name : asText(entry.name);
  const suite = readSuite(entry.suite, name, context.vitest);
  const status = readStatus(entry.status, context);
  const test: Draft = { id: context.makeId(suite, name), name, suite, status };
  if (context.group !== undefined) test.group = context.group;
  const rawStatus = entry.raw_status ?? entry.rawStatus;
  if (typeof rawStatus === 'string' && rawStatus !== status) test.rawStatus = rawStatus;
  readTimes(entry, test, context);
  readRetries(entry, test, context);
  const message = capped(asOptionalText(entry.message));
  const trace = capped(asOptionalText(entry.trace));
  if (message !== undefined) test.message = message;
  if (trace !== undefined) test.trace = trace;
  readPlace(entry, test);
  const expectation = status === 'passed' ? undefined : readExpectation(entry.extra, message);
  if (expectation) {
    test.expected = expectation.expected;
    test.actual = expectation.actual;
  }
  return test;
}

function capped(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= maxText) return text;
  return `${text.slice(0, maxText)}\n… (cut: ${text.length} characters, all of them in the report's file)`;
}

function readStatus(raw: unknown, context: TestContext): TestStatus {
  if (statuses.has(raw)) return raw as TestStatus;
  const word = raw === undefined ? 'none' : asText(raw);
  // It cannot make a wrong verdict: a resolved one needs the reward too.
  const lower = word.toLowerCase();
  if (statuses.has(lower)) {
    context.otherCase.add(word);
    return lower as TestStatus;
  }
  context.unknownStatuses.set(word, (context.unknownStatuses.get(word) ?? 0) + 1);
  return 'other';
}

/** An array, one string with ` > ` between the levels, null or nothing. Vitest's string ends with the test's own title. */
function readSuite(raw: unknown, name: string, vitest: boolean): readonly string[] {
  let suite: readonly string[];
  if (typeof raw === 'string') {
    suite = raw === '' ? [] : raw.split(' > ');
    if (raw === name && (vitest || suite.length > 1)) suite = suite.slice(0, -1);
  } else if (Array.isArray(raw)) {
    suite = raw.filter((part): part is string => typeof part === 'string');
  } else {
    return [];
  }
  if (suite.length <= maxSuiteDepth) return suite;
  return [...suite.slice(0, maxSuiteDepth - 1), suite.slice(maxSuiteDepth - 1).join(' > ')];
}

function readTimes(entry: Entry, test: Draft, context: TestContext): void {
  const duration = entry.duration;
  const known = typeof duration === 'number' && duration >= 0 && Number.isFinite(duration);
  const ms = known ? duration * context.factor : spanMs(entry.start, entry.stop);
  if (ms !== undefined && Number.isFinite(ms)) test.durationMs = Math.round(ms * 1000) / 1000;
}

/** Flaky is what the report calls so, or a passed test with failed attempts; pytest's `retries` alone are not. */
function readRetries(entry: Entry, test: Draft, context: TestContext): void {
  const failed = Array.isArray(entry.retryAttempts) ? entry.retryAttempts.filter(isFailedAttempt).length : 0;
  const counted = entry.retries;
  const retries = typeof counted === 'number' && Number.isSafeInteger(counted) ? counted : failed;
  if (retries > 0) {
    test.retries = retries;
    if (context.pytest) context.pytestRetries++;
  }
  if (entry.flaky === true || (failed > 0 && test.status === 'passed')) test.flaky = true;
}

function isFailedAttempt(attempt: unknown): boolean {
  return (
    typeof attempt === 'object' && attempt !== null && 'status' in attempt && attempt.status === 'failed'
  );
}

function readPlace(entry: Entry, test: Draft): void {
  const written = entry.filePath ?? entry.file_path ?? entry.file;
  if (typeof written === 'string' && written !== '') test.file = written;
  const line = entry.line;
  if (typeof line === 'number' && Number.isFinite(line)) test.line = clampLine(line);
  if (test.status === 'passed' || (test.file !== undefined && test.line !== undefined)) return;
  const place = findPlace(test.trace ?? test.message ?? '', test.file);
  if (!place) return;
  test.file ??= place.file;
  test.line ??= place.line;
}

/** Text as it is, lists of text line by line, anything else as JSON. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (!Array.isArray(value)) return jsonText(value);
  return value.map((line) => (typeof line === 'string' ? line : jsonText(line))).join('\n');
}

function asOptionalText(value: unknown): string | undefined {
  return asText(value) || undefined;
}
