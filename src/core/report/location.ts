import { stripAnsi } from './text.ts';
import type { TestResult } from './types.ts';

/** A place as a report writes it: the path is untrusted text. */
export interface ReportedPlace {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
}

/** Characters of a trace that are searched for places. */
const searchLimit = 64_000;
const maxLine = 0x7fff_ffff;
/** `path.ext:12` and `path.ext:12:3` of most tools, and Python's `File "path", line 12`. */
const frame =
  /(?:^|[\s("'<[])((?:[A-Za-z]:)?[^\s:()"'<>[\]]{1,1000}\.[A-Za-z0-9]{1,8}):(\d{1,10})(?!\d)|File "([^"\n]{1,1000})", line (\d{1,10})/gm;
const libraryPath = /(?:^|[/\\])(?:node_modules|site-packages|dist-packages|lib\/python[\d.]+)[/\\]|^node:/;

/**
 * The first place in a trace that lies in `file` (compared by its last part), or, with no file, the first one in
 * `/tests/`, else the first outside libraries.
 */
export function findPlace(trace: string, file: string | undefined): ReportedPlace | undefined {
  let fallback: ReportedPlace | undefined;
  for (const match of stripAnsi(trace.slice(0, searchLimit)).matchAll(frame)) {
    const path = match[1] ?? match[3];
    if (path === undefined) continue;
    const place = { file: path, line: clampLine(Number(match[2] ?? match[4])) };
    if (file === undefined ? /(?:^|[/\\])tests[/\\]/.test(path) : baseName(path) === baseName(file))
      return place;
    if (file === undefined && !libraryPath.test(path)) fallback ??= place;
  }
  return fallback;
}

/** Any number as a 1-based line. */
export function clampLine(line: number): number {
  return Math.min(maxLine, Math.max(1, Math.trunc(line)));
}

/**
 * Maps a test to a file of the task's `tests/` folder. Only files that are keys of `lineCounts` (relative POSIX paths to
 * their number of lines) can be the answer, so nothing outside is ever opened; the line is clamped to the file.
 */
export function locateTest(
  test: Pick<TestResult, 'file' | 'line'>,
  lineCounts: ReadonlyMap<string, number>,
): ReportedPlace | undefined {
  if (test.file === undefined) return undefined;
  for (const file of candidates(test.file)) {
    const lines = lineCounts.get(file);
    if (lines !== undefined) return { file, line: Math.min(clampLine(test.line ?? 1), Math.max(1, lines)) };
  }
  return undefined;
}

/** Where a written path can lie below `tests/`: as it is, below `tests/`, or below the last `/tests/` of an absolute path. */
function candidates(written: string): readonly string[] {
  const path = written
    .replace(/^file:\/\//, '')
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/, '');
  if (/^[A-Za-z]:/.test(path) || path.split('/').includes('..')) return [];
  const tests = path.lastIndexOf('/tests/');
  const below = tests === -1 ? [] : [path.slice(tests + '/tests/'.length)];
  if (path.startsWith('/')) return below;
  return [path, ...(path.startsWith('tests/') ? [path.slice('tests/'.length)] : []), ...below];
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
