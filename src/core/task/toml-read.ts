import { parse, TomlDate, TomlError } from 'smol-toml';
import { isTable, setOwn } from './lax.ts';
import { scanToml, type TomlScan } from './toml-scan.ts';
import type { TaskProblem } from './types.ts';

/** task.toml -> a plain object, under the rules of Harbor's reader: UTF-8 without a mark, TOML 1.0. */

export interface TomlDocument {
  /** Absent when the text is no TOML at all. */
  readonly table?: Readonly<Record<string, unknown>>;
  /** The positions of keys; empty when there is no table. */
  readonly scan: TomlScan;
  /** Errors only: Harbor rejects the document for each of them. */
  readonly problems: readonly TaskProblem[];
}

const EMPTY: TomlScan = { positions: new Map(), violations: [] };
const FILE = 'task.toml';
/** smol-toml's own limit, which it does not keep for dotted keys. */
const MAX_DEPTH = 1000;

/** Reads bytes or text; a byte order mark and TOML 1.1 are read and reported. */
export function readToml(source: string | Uint8Array): TomlDocument {
  const decoded = typeof source === 'string' ? { text: source } : decode(source);
  if ('problem' in decoded) return { scan: EMPTY, problems: [decoded.problem] };
  const problems: TaskProblem[] = [];
  // Python reads text files with universal newlines.
  let text = decoded.text.replace(/\r\n?/g, '\n');
  if (text.startsWith('\uFEFF')) {
    text = text.slice(1);
    problems.push(
      problem(
        'toml-bom',
        'task.toml starts with a byte order mark, which Harbor rejects: save it as UTF-8 without BOM.',
        { line: 1, column: 1 },
      ),
    );
  }
  let table: Record<string, unknown>;
  try {
    table = parse(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '');
    problems.push(problem('toml-syntax', `task.toml is not valid TOML: ${reason}.`, error));
    return { scan: EMPTY, problems };
  }
  if (isTooDeep(table)) {
    const message = `task.toml nests its keys more than ${MAX_DEPTH} levels deep, which is not read: flatten them.`;
    problems.push(problem('toml-syntax', message, { line: 1, column: 1 }));
    return { scan: EMPTY, problems };
  }
  const scan = scanToml(text);
  for (const violation of scan.violations) {
    const message = `task.toml has ${violation.message}, which Harbor's TOML 1.0 reader rejects.`;
    problems.push(problem('toml-syntax', message, violation));
  }
  return { table: normalise(table) as Record<string, unknown>, scan, problems };
}

function isTooDeep(table: unknown): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: table, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (!Array.isArray(value) && !isTable(value)) continue;
    if (depth > MAX_DEPTH) return true;
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 });
  }
  return false;
}

function problem(
  code: string,
  message: string,
  { line, column }: { readonly line: number; readonly column: number },
): TaskProblem {
  return { code, severity: 'error', message, file: FILE, line, column };
}

function decode(bytes: Uint8Array): { readonly text: string } | { readonly problem: TaskProblem } {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (utf16 || bytes.subarray(0, 64).includes(0)) {
    const name = utf16 ? 'UTF-16' : 'not text';
    const message = `task.toml is ${name}; Harbor reads UTF-8 only: save it as UTF-8 without BOM.`;
    return { problem: problem('toml-encoding', message, { line: 1, column: 1 }) };
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    const message =
      'task.toml has bytes that are not UTF-8, which Harbor rejects: save it as UTF-8 without BOM.';
    return { problem: problem('toml-encoding', message, badBytePosition(bytes)) };
  }
}

/** The line of the first byte that is no UTF-8, and the column after the text that still is. */
function badBytePosition(bytes: Uint8Array): { readonly line: number; readonly column: number } {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let line = 1;
  for (let start = 0; start <= bytes.length; line++) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      const lossy = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end));
      return { line, column: lossy.indexOf('\uFFFD') + 1 };
    }
    start = end + 1;
  }
  return { line: 1, column: 1 };
}

/**
 * Null-prototype tables -> plain objects in which `__proto__` is a key like any other. Dates stay, so that no field
 * takes one for text; `plainValue` writes them out.
 */
function normalise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalise);
  if (!isTable(value)) return value;
  const out = {};
  for (const [key, item] of Object.entries(value)) setOwn(out, key, normalise(item));
  return out;
}

/**
 * A value of free metadata as JSON can hold it: dates and times as text (ISO 8601, as Harbor dumps them), integers
 * beyond 2^53 as text, so that no digit is lost.
 */
export function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof TomlDate) return dateText(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isTable(value)) return value;
  const out = {};
  for (const [key, item] of Object.entries(value)) setOwn(out, key, plainValue(item));
  return out;
}

/** `2026-01-02T03:04:05.500000Z`: microseconds as Python writes them, none where they are zero. */
function dateText(date: TomlDate): string {
  return date
    .toISOString()
    .replace(/\.(\d{3})/, (_, ms: string) => (ms === '000' ? '' : `.${ms}000`))
    .replace(/[+-]00:00$/, 'Z');
}
