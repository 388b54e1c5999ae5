import type { z } from 'zod';
import { isTable } from './lax.ts';
import { keyProblems, unknownKeys } from './manifest-keys.ts';
import { deprecations } from './manifest-warnings.ts';
import { place } from './place.ts';
import { overlapWarnings, taskSchema } from './schema.ts';
import { plainValue, readToml } from './toml-read.ts';
import { pathKey, type TomlScan } from './toml-scan.ts';
import type { TaskConfig, TaskProblem } from './types.ts';

/** One error of Harbor's model, exactly as pydantic reports it. */
interface HarborError {
  readonly loc: readonly string[];
  readonly type: string;
  readonly msg: string;
}

/** What `parseTaskToml` makes of a task.toml. */
export interface ParsedToml {
  /** Harbor's model accepts the text as it is. */
  readonly valid: boolean;
  /** The model with its defaults; also present for a text whose only fault is a byte order mark or TOML 1.1. */
  readonly config?: TaskConfig;
  /** `[verifier].test_case_count` (harbor.md §10), where it is a whole number above zero. */
  readonly testCaseCount?: number;
  /** Dotted paths of the keys that Harbor ignores. */
  readonly unknownKeys: readonly string[];
  /** All with file `task.toml`, line and column. */
  readonly problems: readonly TaskProblem[];
  /** Harbor's validation errors; empty when `tomlError` or when valid. */
  readonly harborErrors: readonly HarborError[];
  /** Harbor's reader rejects the text itself (its `TOMLDecodeError` or `UnicodeDecodeError`). */
  readonly tomlError: boolean;
  /** Harbor's warnings, as `Category: text`. */
  readonly harborWarnings: readonly string[];
  /** Where keys stand, for diagnostics and for other problems of the same file. */
  readonly scan: TomlScan;
}

/** Reads a task.toml as Harbor 0.22 does (harbor.md §2). Never throws for its content. */
export function parseTaskToml(source: string | Uint8Array): ParsedToml {
  const { table, scan, problems: syntax } = readToml(source);
  const tomlError = syntax.length > 0;
  const base = { scan, tomlError, unknownKeys: [], harborErrors: [], harborWarnings: [] };
  if (table === undefined) return { ...base, valid: false, problems: syntax };
  const deprecated = deprecations(table);
  const unknown = unknownKeys(table);
  const count = isTable(table.verifier) ? table.verifier.test_case_count : undefined;
  const testCaseCount = typeof count === 'number' && Number.isInteger(count) && count > 0 ? count : undefined;
  const result = taskSchema.safeParse(table);
  const warnings = [
    ...deprecated.map(({ path, message }) => place('deprecated-key', 'warning', message, path, scan)),
    ...keyProblems(table, unknown, testCaseCount, scan),
  ];
  const shared = {
    ...base,
    unknownKeys: unknown.map((path) => path.join('.')),
    ...(testCaseCount === undefined ? {} : { testCaseCount }),
  };
  if (!result.success) {
    const errors = withoutUnionNoise(result.error.issues, scan).map((issue) => errorProblem(issue, scan));
    return {
      ...shared,
      valid: false,
      problems: [...syntax, ...errors, ...warnings],
      harborErrors: tomlError ? [] : result.error.issues.map(harborError),
      harborWarnings: deprecated.map(({ harbor }) => `DeprecationWarning: ${harbor}`),
    };
  }
  const overlaps = overlapWarnings(result.data);
  return {
    ...shared,
    valid: !tomlError,
    config: { ...result.data, metadata: plainValue(result.data.metadata) as TaskConfig['metadata'] },
    problems: [
      ...syntax,
      ...warnings,
      ...[...new Set(overlaps)].map((text) =>
        place('artifacts-overlap', 'warning', text, ['artifacts'], scan),
      ),
    ],
    harborWarnings: [
      ...deprecated.map(({ harbor }) => `DeprecationWarning: ${harbor}`),
      ...overlaps.map((text) => `UserWarning: ${text}`),
    ],
  };
}

function harborError(issue: z.core.$ZodIssue): HarborError {
  return { loc: issue.path.map(String), type: param(issue, 'type', 'value_error'), msg: issue.message };
}

function param<T>(issue: z.core.$ZodIssue, name: 'type' | 'at', fallback: T): T {
  const value: unknown = issue.code === 'custom' ? issue.params?.[name] : undefined;
  return value === undefined ? fallback : (value as T);
}

/** Of the errors that pydantic gives for each branch of a union, people get the last branch only. */
function withoutUnionNoise(issues: readonly z.core.$ZodIssue[], scan: TomlScan): readonly z.core.$ZodIssue[] {
  const name = (path: readonly PropertyKey[]): string => pathKey(path as readonly (string | number)[]);
  return issues.filter((issue, index) => {
    const branch = issue.path[issue.path.length - 1];
    const isMarker = (branch === 'str' || branch === 'float') && !scan.positions.has(name(issue.path));
    const above = issue.path.slice(0, -1);
    const isFollowed = issues
      .slice(index + 1)
      .some(({ path }) => path.length > above.length && name(path.slice(0, above.length)) === name(above));
    return !(isMarker && isFollowed);
  });
}

function errorProblem(issue: z.core.$ZodIssue, scan: TomlScan): TaskProblem {
  const type: string = param<string>(issue, 'type', 'value_error');
  const loc = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const path = resolve(param(issue, 'at', loc), scan);
  const name = path.length === 0 ? 'task.toml' : dotted(path);
  if (type === 'missing') {
    const key = dotted([...path, loc[loc.length - 1] ?? '']);
    return place('missing-key', 'error', `${key} is missing; Harbor requires it.`, path, scan);
  }
  const reason = issue.message.replace(/^Value error, /, '').replace(/\.$/, '');
  return place('invalid-value', 'error', `${name}: ${reason}.`, path, scan);
}

/** `steps[0].name`. */
function dotted(path: readonly (string | number)[]): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('');
}

/** The longest part of a location that stands in the document; pydantic's union markers are passed over. */
function resolve(loc: readonly (string | number)[], scan: TomlScan): readonly (string | number)[] {
  let path: readonly (string | number)[] = [];
  for (const part of loc) {
    const next = [...path, part];
    if (scan.positions.has(pathKey(next))) path = next;
  }
  return path.length === 0 && loc[0] === 'schema_version' ? ['version'] : path;
}
