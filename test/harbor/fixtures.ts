import {
  chmodSync,
  cpSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Small tasks and workspaces for the real Harbor: shell only, one image, seconds each. */

/** Every task's folder has this name, so that all share one built image. */
export const taskFolderName = 'harbor-fixture';

export const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'e2e-swe-harbor-test-')));
let count = 0;

/**
 * The script of the fixtures: two tests, `a` and `b`, a CTRF report by printf, a reward. What a workspace's `behave`
 * holds is run first: a verifier that goes wrong in a given way.
 */
const testScript = `#!/bin/bash
cd /app
v=/logs/verifier
[ -f setup.sh ] && bash ./setup.sh
[ -f behave ] && . ./behave
a=failed; b=failed; reward=0
[ "$(cat a 2>/dev/null)" = A ] && a=passed
[ "$(cat b 2>/dev/null)" = B ] && b=passed
[ $a$b = passedpassed ] && reward=1
printf '{"results":{"tool":{"name":"sh"},"summary":{"tests":2},"tests":[{"name":"a","status":"%s"},{"name":"b","status":"%s"}]}}' $a $b >$v/ctrf.json
echo $reward >$v/reward.txt
`;

/** Lists the workspace as tests: type, mode, size, whole seconds, target and name of every entry below /app. */
const listScript = `#!/bin/bash
cd /app
{
  printf '{"results":{"tool":{"name":"find"},"tests":['
  find . -mindepth 1 -printf '%y %m %s %T@ %P %l\\n' | sed -E 's/^(d [0-7]+) [0-9]+ [0-9.]+ /\\1 - - /; s/^(l [0-7]+ [0-9]+) [0-9.]+ /\\1 - /; s/^(f [0-7]+ [0-9]+ [0-9]+)[.][0-9]+/\\1/' |
    LC_ALL=C sort | sed 's/.*/{"name":"&","status":"passed"}/' | paste -sd,
  printf ']}}'
} >/logs/verifier/ctrf.json
echo 1 >/logs/verifier/reward.txt
`;

export const scripts = { test: testScript, list: listScript } as const;

export interface TaskOptions {
  /** Lines of [verifier] and of [environment]. */
  readonly verifier?: readonly string[];
  readonly environment?: readonly string[];
  readonly script?: string;
  readonly solution?: string;
  readonly dockerfile?: string;
  /** A Dockerfile beside the tests. */
  readonly testsDockerfile?: string;
  /** Sources, or the value of the key as TOML. */
  readonly artifacts?: readonly string[] | string;
  /** Lines at the end of task.toml. */
  readonly tail?: readonly string[];
  readonly mode?: 'separate' | 'shared';
}

export const solution = '#!/bin/bash\ncd /app\necho A >a\necho B >b\n';
export const dockerfile = 'FROM debian:bookworm-slim\nWORKDIR /app\n';

/** Writes a task; the network is public, since Harbor's own "no network" needs images that cannot always be pulled. */
export function makeTask(options: TaskOptions = {}): string {
  const dir = path.join(base, `task-${++count}`, taskFolderName);
  for (const folder of ['environment', 'tests', 'solution'])
    mkdirSync(path.join(dir, folder), { recursive: true });
  const write = (name: string, text: string, mode = 0o644): void => {
    writeFileSync(path.join(dir, name), text);
    chmodSync(path.join(dir, name), mode);
  };
  write(
    'task.toml',
    `${[
      'version = "1.0"',
      `artifacts = ${typeof options.artifacts === 'string' ? options.artifacts : JSON.stringify(options.artifacts ?? ['/app'])}`,
      '[verifier]',
      `environment_mode = "${options.mode ?? 'separate'}"`,
      ...(options.verifier ?? ['timeout_sec = 60.0', 'test_case_count = 2']),
      '[agent]',
      'timeout_sec = 60.0',
      '[environment]',
      'build_timeout_sec = 120.0',
      ...(options.environment ?? []),
      ...(options.tail ?? []),
    ].join('\n')}\n`,
  );
  write('instruction.md', 'Write A to a and B to b.\n');
  write('environment/Dockerfile', options.dockerfile ?? dockerfile);
  if (options.testsDockerfile) write('tests/Dockerfile', options.testsDockerfile);
  write('tests/test.sh', options.script ?? testScript, 0o755);
  write('solution/solve.sh', options.solution ?? solution, 0o755);
  return dir;
}

/** Writes a workspace; names that end in a slash are folders, values that start with `->` are links. */
export function makeWorkspace(
  files: Readonly<Record<string, string | { text: string; mode: number }>>,
): string {
  const dir = path.join(base, `workspace-${++count}`);
  mkdirSync(dir);
  for (const [name, value] of Object.entries(files)) {
    const place = path.join(dir, name);
    if (name.endsWith('/')) {
      mkdirSync(place, { recursive: true });
      continue;
    }
    mkdirSync(path.dirname(place), { recursive: true });
    const { text, mode } = typeof value === 'string' ? { text: value, mode: 0o644 } : value;
    if (text.startsWith('->')) symlinkSync(text.slice(2), place);
    else {
      writeFileSync(place, text);
      chmodSync(place, mode);
    }
  }
  return dir;
}

/** A copy of a bundled task, whose folder the command may not write to. */
export function copyTask(from: string): string {
  const dir = path.join(base, `task-${++count}`, path.basename(from));
  cpSync(from, dir, { recursive: true, verbatimSymlinks: true });
  return dir;
}

/** Gives a tree to another user. */
export function chownTree(dir: string, uid: number): void {
  lchownSync(dir, uid, uid);
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
    lchownSync(path.join(dir, name), uid, uid);
}

/** Rows for `test.each`, whose `%s` shows a name whole. */
export function named<T extends { readonly name: string }>(cases: readonly T[]): (readonly [string, T])[] {
  return cases.map((one) => [one.name, one] as const);
}
