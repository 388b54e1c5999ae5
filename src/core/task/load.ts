import { access, constants, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, UserError } from '#core/base/errors.ts';
import { type FolderFacts, folderFacts } from './folder.ts';
import { folderProblems } from './folder-problems.ts';
import { parseTaskToml } from './manifest.ts';
import type { Task, TaskEntry, TaskProblem } from './types.ts';
import { resolveVerifier } from './verifier.ts';

/** A task.toml of more bytes than this is not read. */
const MAX_TOML_BYTES = 8 << 20;

/** Throws a `UserError` that names what is not a folder. */
export async function requireFolder(dir: string): Promise<void> {
  const info = await stat(dir).catch((error: unknown) => {
    throw new UserError(`There is no folder ${dir}.`, {
      nextStep: 'Check the path, and name a task folder or a folder of tasks.',
      cause: error,
    });
  });
  if (info.isDirectory()) {
    await access(dir, constants.R_OK | constants.X_OK).catch((error: unknown) => {
      throw new UserError(`The folder ${dir} cannot be opened.`, {
        nextStep: 'Make it readable for your user, or name another folder.',
        cause: error,
      });
    });
    return;
  }
  throw new UserError(`${dir} is not a folder.`, {
    nextStep: 'Name the folder that holds task.toml, or a folder of such folders.',
  });
}

/**
 * Reads one folder as a task (harbor.md §1, §2). Bad content never throws: it is in `problems`, each with its place.
 * A path that is no folder is a `UserError`.
 */
export async function loadTask(dir: string): Promise<TaskEntry> {
  const absolute = path.resolve(dir);
  await requireFolder(absolute);
  return loadWithFacts(absolute, await folderFacts(absolute));
}

/** `loadTask` for a folder that was already looked at. */
export async function loadWithFacts(dir: string, facts: FolderFacts): Promise<TaskEntry> {
  const name = path.basename(dir);
  const refused = (...problems: TaskProblem[]): TaskEntry => ({
    path: dir,
    name,
    valid: false,
    gradable: false,
    problems,
  });
  if (!facts.taskToml) return refused(noManifest(facts));
  const source = await readManifest(path.join(dir, 'task.toml'));
  if ('problem' in source) return refused(source.problem);
  const parsed = parseTaskToml(source.bytes);
  const { config } = parsed;
  if (config === undefined) return refused(...parsed.problems);
  const verifier = resolveVerifier(config);
  const task: Task = {
    dir,
    name: config.task?.name ?? name,
    config,
    verifierMode: verifier.mode,
    verifierEnvironment: verifier.environment,
    testCaseCount: parsed.testCaseCount,
    unknownKeys: parsed.unknownKeys,
  };
  if (!parsed.valid) return { ...refused(...parsed.problems), name: task.name };
  const problems = [
    ...parsed.problems,
    ...(await folderProblems(dir, { config, verifier, facts }, parsed.scan)),
  ];
  const errors = problems.filter((problem) => problem.severity === 'error');
  return {
    path: dir,
    name: task.name,
    valid: true,
    gradable: errors.length === 0,
    // What stops the grade comes first.
    problems: [...errors, ...problems.filter((problem) => problem.severity !== 'error')],
    task,
  };
}

function noManifest(facts: FolderFacts): TaskProblem {
  if (facts.terminalBench1) {
    const message =
      'This is a Terminal-Bench 1 task (task.yaml), which Harbor does not read: convert it to a task.toml.';
    return { code: 'terminal-bench-1', severity: 'error', message, file: 'task.yaml' };
  }
  const message = 'task.toml is missing: without it Harbor does not take this folder for a task.';
  return { code: 'missing-task-toml', severity: 'error', message, file: 'task.toml' };
}

async function readManifest(
  file: string,
): Promise<{ readonly bytes: Uint8Array } | { readonly problem: TaskProblem }> {
  const unreadable = (why: string): { readonly problem: TaskProblem } => ({
    problem: {
      code: 'unreadable-file',
      severity: 'error',
      message: `task.toml cannot be read: ${why}.`,
      file: 'task.toml',
    },
  });
  try {
    const info = await stat(file);
    if (!info.isFile()) return unreadable('it is not a file');
    if (info.size > MAX_TOML_BYTES)
      return unreadable(`it has ${info.size} bytes, more than ${MAX_TOML_BYTES}`);
    return { bytes: await readFile(file) };
  } catch (error) {
    return unreadable(errorMessage(error));
  }
}
