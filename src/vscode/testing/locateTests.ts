import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { TestResult } from '#core/report/types.ts';
import type { Task } from '#core/task/types.ts';

/** A place in a file of the task's `tests/` folder. */
export interface TestPlace {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
}

/** A frame of a trace that lies in the verifier's `/tests`: "/tests/test_x.py:12". */
const framePattern = /(\/tests\/[^\s:"'()]+)(?::|", line )(\d+)/;

/**
 * Finds the places of tests for the author of a task. A report comes from a container that ran foreign code: a path
 * counts only when, links followed, it is a file inside the task's own `tests/`.
 */
export async function locateTests(
  task: Task,
  tests: readonly TestResult[],
): Promise<ReadonlyMap<string, TestPlace>> {
  const places = new Map<string, TestPlace>();
  const root = await realFile(path.join(task.dir, 'tests'));
  if (root === undefined) return places;
  const known = new Map<string, Promise<string | undefined>>();
  for (const test of tests) {
    const claim = claimedPlace(test);
    if (!claim) continue;
    const found = known.get(claim.file) ?? resolveInside(root, claim.file);
    known.set(claim.file, found);
    const file = await found;
    if (file !== undefined) places.set(test.id, { file, line: claim.line });
  }
  return places;
}

/** Where the report says that a test is: its own frame for a failure, else the file it names. */
function claimedPlace(test: TestResult): TestPlace | undefined {
  const frame = framePattern.exec(test.trace ?? test.message ?? '');
  if (frame?.[1] && frame[2]) return { file: frame[1], line: Math.max(1, Number(frame[2])) };
  return test.file === undefined ? undefined : { file: test.file, line: Math.max(1, test.line ?? 1) };
}

async function resolveInside(root: string, claimed: string): Promise<string | undefined> {
  const relative = claimed.replace(/^\/tests\//, '').replace(/^tests\//, '');
  if (path.isAbsolute(relative)) return undefined;
  const file = await realFile(path.join(root, relative));
  if (file === undefined || !file.startsWith(root + path.sep)) return undefined;
  return file;
}

async function realFile(file: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch {
    // Not there, or not readable: either way there is nothing to open.
    return undefined;
  }
}
