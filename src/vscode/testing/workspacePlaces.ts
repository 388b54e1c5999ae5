import { existsSync } from 'node:fs';
import path from 'node:path';
import type { FsChannel } from '#core/container/fsChannel.ts';
import type { TestResult } from '#core/report/types.ts';
import { stripAnsi } from '#vscode/text.ts';
import { textToBytes } from '#vscode/workspace/attemptUri.ts';

/** A line of a file of the workspace that a failed test is about. */
export interface WorkspacePlace {
  /** Below the workdir, as bytes. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
}

export interface WorkspaceLook {
  readonly files: Pick<FsChannel, 'statMany'>;
  readonly workdir: string;
  /** The task's own folder, on this machine: what lies in its `tests/` is hidden. */
  readonly taskDir: string;
}

interface Claim {
  readonly file: string;
  readonly line: number;
}

const maxClaims = 20;
const maxPaths = 5_000;
const maxLine = 10_000_000;
const maxTextChars = 200_000;

/** `File "/app/a.py", line 3`; `/app/a.js:3:5`; `src/a.py:3: ValueError`. */
const framePattern = /File "([^"\n]+)", line (\d+)|([^\s:"'()<>[\]]+\.[A-Za-z]\w{0,9}):(\d+)(?!\w)/g;
/** JavaScript and Java put the innermost frame first, others last. */
const innermostFirst = /^\s*at .*:\d+/m;

/**
 * Places in the workspace that failed tests are about: where the report says so, else the innermost frame of the trace
 * that lies there. A report comes from a container that ran foreign code: a path counts only when it stays below the
 * workdir and is a file of the workspace, never one of the hidden tests.
 */
export async function locateInWorkspace(
  look: WorkspaceLook,
  tests: readonly TestResult[],
): Promise<ReadonlyMap<string, WorkspacePlace>> {
  const claims = new Map<string, readonly WorkspacePlace[]>();
  const paths = new Set<string>();
  for (const test of tests) {
    if (test.status !== 'failed' && test.status !== 'other') continue;
    const own = claimsOf(test)
      .flatMap((claim) => placeOf(claim, look))
      .filter((place) => paths.has(place.path) || paths.size < maxPaths);
    for (const place of own) paths.add(place.path);
    if (own.length > 0) claims.set(test.id, own);
  }
  const asked = [...paths];
  const root = textToBytes(look.workdir.replace(/\/+$/, ''));
  const stats = asked.length > 0 ? await look.files.statMany(asked.map((below) => `${root}/${below}`)) : [];
  const isFile = new Set(asked.filter((_, index) => stats[index]?.kind === 'file'));
  const found = new Map<string, WorkspacePlace>();
  for (const [id, places] of claims) {
    const place = places.find(({ path: below }) => isFile.has(below));
    if (place) found.set(id, place);
  }
  return found;
}

/** What the report says of a test, the nearest first. */
function claimsOf(test: TestResult): Claim[] {
  const reported =
    test.file !== undefined && test.line !== undefined ? [{ file: test.file, line: test.line }] : [];
  const text = stripAnsi(`${test.message ?? ''}\n${test.trace ?? ''}`).slice(-maxTextChars);
  const frames = [...text.matchAll(framePattern)].map(
    ([, quoted, quotedLine, plain, plainLine]): Claim => ({
      file: (quoted ?? plain ?? '').replace(/^file:\/\//, ''),
      line: Number(quotedLine ?? plainLine),
    }),
  );
  const nearest = innermostFirst.test(text) ? frames : frames.reverse();
  return [...reported, ...nearest].slice(0, maxClaims);
}

/** None for a path outside of the workdir, or of a hidden test. */
function placeOf({ file, line }: Claim, { workdir, taskDir }: WorkspaceLook): WorkspacePlace[] {
  if (file === '' || file.includes('\0') || !Number.isSafeInteger(line) || line < 1 || line > maxLine)
    return [];
  const root = path.posix.resolve(workdir);
  const absolute = path.posix.resolve(root, file);
  if (!absolute.startsWith(`${root}/`) || absolute.startsWith('/tests/')) return [];
  const below = absolute.slice(root.length + 1);
  if (!file.startsWith('/') && isHiddenTest(below, taskDir)) return [];
  return [{ path: textToBytes(below), line }];
}

/** The verifier's own `tests/` may bear the name of a folder in the workspace: a relative path means the hidden one. */
function isHiddenTest(below: string, taskDir: string): boolean {
  const tests = path.join(taskDir, 'tests');
  return existsSync(path.join(tests, below)) || existsSync(path.join(tests, below.replace(/^tests\//, '')));
}
