import { constants, open, stat } from 'node:fs/promises';
import path from 'node:path';

/** What is in a task folder, as far as it decides whether and how the task can be graded (harbor.md §1). */

export interface FolderFacts {
  readonly taskToml: boolean;
  readonly instruction: boolean;
  readonly environment: boolean;
  readonly environmentDockerfile: boolean;
  readonly environmentCompose: boolean;
  readonly tests: boolean;
  readonly testSh: boolean;
  readonly testBat: boolean;
  readonly testsDockerfile: boolean;
  readonly testsCompose: boolean;
  /** A task of Terminal-Bench 1: `task.yaml` beside what such a task has. */
  readonly terminalBench1: boolean;
}

/** Looks at a folder; never throws. */
export async function folderFacts(dir: string): Promise<FolderFacts> {
  const has = (name: string): Promise<boolean> => exists(dir, name);
  const [taskToml, instruction, environment, environmentDockerfile, environmentCompose, tests] =
    await Promise.all(
      [
        'task.toml',
        'instruction.md',
        'environment',
        'environment/Dockerfile',
        COMPOSE('environment'),
        'tests',
      ].map(has),
    );
  const [testSh, testBat, testsDockerfile, testsCompose, yaml, ...v1] = await Promise.all(
    ['tests/test.sh', 'tests/test.bat', 'tests/Dockerfile', COMPOSE('tests'), 'task.yaml', ...V1_FILES].map(
      has,
    ),
  );
  return {
    taskToml: taskToml === true,
    instruction: instruction === true,
    environment: environment === true,
    environmentDockerfile: environmentDockerfile === true,
    environmentCompose: environmentCompose === true,
    tests: tests === true,
    testSh: testSh === true,
    testBat: testBat === true,
    testsDockerfile: testsDockerfile === true,
    testsCompose: testsCompose === true,
    terminalBench1: yaml === true && (tests === true || v1.includes(true)),
  };
}

/** Harbor looks at this exact name only. */
const COMPOSE = (folder: string): string => `${folder}/docker-compose.yaml`;
const V1_FILES = ['run-tests.sh', 'solution.sh', 'solution.yaml', 'Dockerfile', 'docker-compose.yaml'];

/** Something is there, links followed. */
export async function exists(dir: string, name: string): Promise<boolean> {
  return stat(path.join(dir, name)).then(
    () => true,
    () => false,
  );
}

/** A task, or something that its author may well take for one. */
export function looksLikeTask(facts: FolderFacts): boolean {
  return facts.taskToml || facts.instruction || facts.terminalBench1 || (facts.tests && facts.environment);
}

/** The first MiB of a regular file; a FIFO or a device that took its name is neither waited for nor read. */
export async function readStart(file: string): Promise<Buffer | undefined> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1 << 20), 0, 1 << 20, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The first line (1-based) of a file's first MiB that ends in CR LF. */
export async function firstCrlfLine(file: string): Promise<number | undefined> {
  const start = await readStart(file);
  const at = start?.indexOf('\r\n') ?? -1;
  return at < 0 ? undefined : start?.subarray(0, at).toString('latin1').split('\n').length;
}

/** The WORKDIR of a Dockerfile's last stage where it is absolute and without variables. */
export async function dockerfileWorkdir(file: string): Promise<string | undefined> {
  const text = (await readStart(file))?.toString('utf8') ?? '';
  let workdir: string | undefined;
  for (const line of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    if (/^\s*FROM\s/i.test(line)) workdir = undefined;
    const value = /^\s*WORKDIR\s+(.+?)\s*$/i.exec(line)?.[1]?.replace(/^(["'])(.*)\1$/, '$2');
    if (value === undefined) continue;
    const joined: string = value.startsWith('/') ? value : path.posix.join(workdir ?? '/', value);
    if (value.includes('$')) return undefined;
    workdir = path.posix.normalize(joined);
  }
  return workdir;
}
