import { type Position, pathKey, type TomlScan } from './toml-scan.ts';
import type { TaskProblem } from './types.ts';

/** The position of a key, else of the nearest table above it, else the first line. */
function positionOf(scan: TomlScan, path: readonly (string | number)[]): Position {
  for (let length = path.length; length > 0; length--) {
    const found = scan.positions.get(pathKey(path.slice(0, length)));
    if (found !== undefined) return found;
  }
  return { line: 1, column: 1 };
}

/** A problem of task.toml at a key. */
export function place(
  code: string,
  severity: TaskProblem['severity'],
  message: string,
  path: readonly (string | number)[],
  scan: TomlScan,
): TaskProblem {
  return { code, severity, message, file: 'task.toml', ...positionOf(scan, path) };
}
