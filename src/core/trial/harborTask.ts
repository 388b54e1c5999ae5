import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify, type TomlTable } from 'smol-toml';
import type { EnvironmentConfig, Task } from '#core/task/types.ts';

/** A task as Harbor is given it, and in what it is not the task itself. */
export interface HarborTask {
  readonly dir: string;
  /** One sentence each; empty where Harbor gets the task's own folder. */
  readonly changes: readonly string[];
}

export interface HarborTaskOptions {
  /** New folder for a changed copy. */
  readonly into: string;
  /** The image that the submission was graded in. */
  readonly image: string | undefined;
  /** What the engine has: Docker refuses more (harbor.md §2.6). */
  readonly limits: { readonly cpus: number | null; readonly memoryMb: number | null };
  /** Give every container the network: Harbor's own "no network" needs images that are pulled (harbor.md §3.5). */
  readonly publicNetwork: boolean;
  /** A gzipped tar, named by container paths, that takes the reference solution's place. */
  readonly carry?: { readonly archive: string; readonly roots: readonly string[] } | undefined;
}

/**
 * Harbor's view of a task: the task's own folder where that will do, else a copy with as little changed as Harbor
 * needs to run it here. The copy keeps the folder's name, which is the task's name where task.toml gives none.
 */
export async function harborTask(task: Task, options: HarborTaskOptions): Promise<HarborTask> {
  const changes: string[] = [];
  const toml = parse(await readFile(path.join(task.dir, 'task.toml'), 'utf8'), {
    integersAsBigInt: 'asNeeded',
  });
  giveImage(toml, task, options.image, changes);
  lowerLimits(toml, task, options.limits, changes);
  if (options.publicNetwork) openNetwork(toml, changes);
  if (options.carry) {
    changes.push("The reference solution was replaced by the submission, which Harbor's oracle unpacks.");
    if (task.config.agent.user !== null) {
      delete tableOf(toml, ['agent'])?.user;
      changes.push('[agent].user was left out: root unpacks the submission.');
    }
  }
  if (changes.length === 0) return { dir: task.dir, changes };
  const dir = path.join(options.into, path.basename(task.dir));
  const solution = path.join(task.dir, 'solution');
  await cp(task.dir, dir, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) =>
      !(options.carry && (source === solution || source.startsWith(`${solution}${path.sep}`))),
  });
  await writeFile(path.join(dir, 'task.toml'), stringify(toml));
  if (options.carry) await carrySubmission(dir, options.carry);
  return { dir, changes };
}

/** Without docker_image and tests/Dockerfile Harbor has no image for a separate verifier (harbor.md §4.3). */
function giveImage(toml: TomlTable, task: Task, image: string | undefined, changes: string[]): void {
  if (task.verifierMode !== 'separate' || task.verifierEnvironment.docker_image || image === undefined)
    return;
  if (['Dockerfile', 'docker-compose.yaml'].some((name) => existsSync(path.join(task.dir, 'tests', name))))
    return;
  const table = task.config.verifier.environment ? ['verifier', 'environment'] : ['environment'];
  ensureTable(toml, table).docker_image = image;
  changes.push(
    `[${table.join('.')}].docker_image = "${image}" was added: Harbor takes a separate verifier's image from there or from tests/Dockerfile, and the task has neither.`,
  );
}

function lowerLimits(
  toml: TomlTable,
  task: Task,
  limits: HarborTaskOptions['limits'],
  changes: string[],
): void {
  const places: [string[], EnvironmentConfig | null][] = [
    [['environment'], task.config.environment],
    [['verifier', 'environment'], task.config.verifier.environment],
  ];
  for (const [table, environment] of places) {
    if (environment === null) continue;
    const lower = (key: 'cpus' | 'memory_mb', most: number | null): void => {
      const wanted = environment[key];
      if (wanted === null || most === null || wanted <= most) return;
      const target = ensureTable(toml, table);
      target[key] = most;
      if (key === 'memory_mb') delete target.memory;
      changes.push(
        `[${table.join('.')}].${key} was lowered from ${wanted} to ${most}: this machine has no more.`,
      );
    };
    lower('cpus', limits.cpus);
    lower('memory_mb', limits.memoryMb);
  }
}

function openNetwork(toml: TomlTable, changes: string[]): void {
  let changed = false;
  for (const table of [['environment'], ['verifier', 'environment'], ['agent'], ['verifier']]) {
    const found = tableOf(toml, table);
    if (!found) continue;
    for (const key of ['network_mode', 'allow_internet', 'allowed_hosts']) {
      changed ||= Object.hasOwn(found, key);
      delete found[key];
    }
  }
  if (changed) changes.push("The network was left open on Harbor's side (asked for with --public-network).");
}

/** As the oracle runs it (harbor.md §5): what the submission holds takes the place of what the image has there. */
async function carrySubmission(
  dir: string,
  carry: { readonly archive: string; readonly roots: readonly string[] },
): Promise<void> {
  const solution = path.join(dir, 'solution');
  await mkdir(solution, { recursive: true });
  await copyFile(carry.archive, path.join(solution, 'submission.tar.gz'));
  const script = path.join(solution, 'solve.sh');
  const roots = carry.roots.map((root) => `'${root.replaceAll("'", "'\\''")}'`).join(' ');
  await writeFile(
    script,
    `#!/bin/bash
set -e
for root in ${roots}; do
  if [ -d "$root" ] && [ ! -L "$root" ]; then find "$root" -mindepth 1 -maxdepth 1 -exec rm -rf {} +; fi
done
tar -xzpf /solution/submission.tar.gz --numeric-owner -C /
`,
  );
  await chmod(script, 0o755);
}

function tableOf(toml: TomlTable, keys: readonly string[]): TomlTable | undefined {
  let table: TomlTable | undefined = toml;
  for (const key of keys) {
    const next: unknown = table?.[key];
    table = isTable(next) ? next : undefined;
  }
  return table;
}

function ensureTable(toml: TomlTable, keys: readonly string[]): TomlTable {
  let table = toml;
  for (const key of keys) {
    const next: unknown = table[key];
    const found: TomlTable = isTable(next) ? next : {};
    table[key] = found;
    table = found;
  }
  return table;
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
