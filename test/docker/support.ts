import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Log } from '#core/base/log.ts';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { currentOwner, formatOwner, ownerLabel, workbenchLabel } from '#core/container/labels.ts';
import { type GradeOptions, gradeTask } from '#core/grading/grade.ts';
import type { GradeEvent, GradeResult, SubmissionSource } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import { makeTask, type TaskParts } from '../fixtures/tasks/makeTask.ts';

export const repository = fileURLToPath(new URL('../../', import.meta.url));
const cli = path.join(repository, 'dist/cli.cjs');

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Everything that one file of Docker tests needs and leaves behind, removed by `dispose`. */
export class Lab {
  readonly dir: string;
  readonly engine: ContainerEngine;
  readonly messages: string[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #images = new Set<string>();
  #made = 0;

  private constructor(dir: string, engine: ContainerEngine, env: NodeJS.ProcessEnv) {
    this.dir = dir;
    this.engine = engine;
    this.#env = env;
  }

  /** On the engine that `env` names, or on the one at an address; `commandEnv` names it to the docker command. */
  static async open(
    dockerHost?: string,
    env: NodeJS.ProcessEnv = process.env,
    commandEnv: NodeJS.ProcessEnv = process.env,
  ): Promise<Lab> {
    const engine = await connectEngine({ dockerHost, env });
    return new Lab(await mkdtemp(path.join(tmpdir(), 'e2e-swe-docker-')), engine, commandEnv);
  }

  /** Removes what was made, and asserts that this process left no grade container. */
  async dispose(): Promise<void> {
    const left = await this.ownContainers();
    for (const { id } of left) await this.engine.removeContainer(id);
    for (const image of this.#images)
      docker(['image', 'rm', '-f', image], { allowFailure: true, env: this.#env });
    this.engine.close();
    await rm(this.dir, { recursive: true, force: true });
    expect(left.map(({ name }) => name)).toEqual([]);
  }

  /** Grade containers whose owner is this process. */
  async ownContainers(): Promise<readonly { id: string; name: string }[]> {
    const owner = formatOwner(currentOwner());
    return (await this.engine.listContainers(`${workbenchLabel}=grade`)).filter(
      ({ labels }) => labels[ownerLabel] === owner,
    );
  }

  readonly log: Log = {
    trace: () => undefined,
    debug: () => undefined,
    info: (message) => void this.messages.push(message),
    warn: (message) => void this.messages.push(message),
    error: (message) => void this.messages.push(message),
  };

  /** A task folder of its own; its image is removed at the end. */
  async taskDir(parts: TaskParts = {}, name = 'shell-task'): Promise<string> {
    return makeTask(path.join(this.dir, `task${this.#made++}`, name), parts);
  }

  async task(parts: TaskParts = {}, name?: string): Promise<Task> {
    const { task, problems } = await loadTask(await this.taskDir(parts, name));
    if (!task) throw new Error(`The fixture is no task: ${JSON.stringify(problems)}`);
    return task;
  }

  /** A workspace of text files. */
  async workspace(files: Readonly<Record<string, string>> = { 'ok.txt': 'ok\n' }): Promise<string> {
    const folder = path.join(this.dir, `ws${this.#made++}`);
    await mkdir(folder);
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
    return folder;
  }

  /** An image that is to be removed at the end. */
  owns(image: string): string {
    this.#images.add(image);
    return image;
  }

  async grade(
    task: Task,
    source: SubmissionSource,
    options: Partial<GradeOptions> = {},
    signal: AbortSignal = new AbortController().signal,
    onEvent: (event: GradeEvent) => void = () => undefined,
    engine = this.engine,
  ): Promise<GradeResult> {
    let result: GradeResult | undefined;
    const events = gradeTask(
      task,
      source,
      { storeDir: path.join(this.dir, 'store'), ...options },
      { connect: () => Promise.resolve(engine), log: this.log, hostEnv: {} },
      signal,
    );
    for await (const event of events) {
      onEvent(event);
      if (event.kind === 'finished') result = event.result;
    }
    if (!result) throw new Error('The grade ended without a result.');
    const { reference } = result.evidence.image ?? {};
    // The bundled tasks' images take long to build, and serve other tests too.
    if (reference?.startsWith('e2e-swe/') && !/^e2e-swe\/(?:tidequery|tendril):/.test(reference))
      this.owns(reference);
    return result;
  }

  async gradeFolder(task: Task, files?: Readonly<Record<string, string>>): Promise<GradeResult> {
    return this.grade(task, { kind: 'folder', path: await this.workspace(files) });
  }
}

/** A file that the grade kept of /logs/verifier. */
export function kept(result: GradeResult, name: string): string {
  return readFileSync(path.join(result.dir, 'verifier', name), 'utf8');
}

export function rules(result: GradeResult): string[] {
  return result.marks.map(({ rule }) => rule);
}

export function docker(
  args: readonly string[],
  options: { readonly allowFailure?: boolean; readonly env?: NodeJS.ProcessEnv } = {},
): string {
  try {
    return execFileSync('docker', [...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: options.env ?? process.env,
    }).trim();
  } catch (error) {
    if (options.allowFailure) return '';
    throw error;
  }
}

/** Bundles the command line where the bundle is missing or older than its sources. */
export function ensureCli(): void {
  const newest = newestOf(path.join(repository, 'src'));
  if (existsSync(cli) && statSync(cli).mtimeMs >= newest) return;
  execFileSync(process.execPath, ['esbuild.config.mjs'], { cwd: repository, stdio: 'pipe' });
}

function newestOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((latest, entry) => {
    const full = path.join(folder, entry.name);
    return Math.max(latest, entry.isDirectory() ? newestOf(full) : statSync(full).mtimeMs);
  }, 0);
}

/** Starts the command line; the child is there for tests that end it early. */
export function startCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = repository,
  as?: { readonly uid: number; readonly gid: number; readonly cli: string },
) {
  return startNode(as?.cli ?? cli, args, env, cwd, as);
}

/** Starts a script of ours. */
export function startNode(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = repository,
  as?: { readonly uid: number; readonly gid: number },
) {
  const child = spawn(process.execPath, [script, ...args], {
    ...(as ? { uid: as.uid, gid: as.gid } : {}),
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.stderr += text;
  });
  const done = new Promise<CliResult>((resolve) => {
    child.on('close', (code) => resolve({ code, ...out }));
  });
  return { child, done, out };
}

export function runCli(...given: Parameters<typeof startCli>): Promise<CliResult> {
  return startCli(...given).done;
}

/** Asks until it is so; fails after a minute, which a loaded machine may need. */
export async function waitFor(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const until = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(`Waited ${seconds} s for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
