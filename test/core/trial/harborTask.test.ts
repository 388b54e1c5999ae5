import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadTask } from '#core/task/load.ts';
import { findHarbor, splitWords } from '#core/trial/harborCommand.ts';
import { type HarborTask, type HarborTaskOptions, harborTask } from '#core/trial/harborTask.ts';
import { taskAt, tempDir } from './support.ts';

function taskDir(toml: string, files: readonly string[] = []): string {
  const dir = path.join(tempDir(), 'some-task');
  for (const name of [
    'environment/Dockerfile',
    'tests/test.sh',
    'solution/secret',
    'instruction.md',
    ...files,
  ]) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), 'x');
  }
  writeFileSync(path.join(dir, 'task.toml'), toml);
  return dir;
}

const options = (more: Partial<HarborTaskOptions> = {}): HarborTaskOptions => ({
  into: tempDir(),
  image: 'e2e-swe/x:1',
  limits: { cpus: 2, memoryMb: 1000 },
  publicNetwork: false,
  ...more,
});

async function view(
  toml: string,
  more: Partial<HarborTaskOptions> = {},
  files: readonly string[] = [],
): Promise<HarborTask & { source: string }> {
  const source = taskDir(toml, files);
  return { source, ...(await harborTask(await taskAt(source), options(more))) };
}

const configOf = async ({ dir }: HarborTask) => (await loadTask(dir)).task?.config;

test('a task that Harbor can run as it is stays where it is', async () => {
  const own = '[verifier]\nenvironment_mode = "separate"\n[environment]\ndocker_image = "x"\ncpus = 2\n';
  expect(await view(own)).toMatchObject({ changes: [] });
  const baked = await view('[verifier]\nenvironment_mode = "separate"\n', {}, ['tests/Dockerfile']);
  expect(baked.dir).toBe(baked.source);
  const shared = await view('');
  expect(shared.dir).toBe(shared.source);
});

test('a separate verifier without an image gets the one that we graded in', async () => {
  const found = await view('[verifier]\nenvironment_mode = "separate"\n[environment]\ncpus = 1\n');
  expect(found.changes).toHaveLength(1);
  expect(path.basename(found.dir)).toBe('some-task');
  expect(await configOf(found)).toMatchObject({ environment: { docker_image: 'e2e-swe/x:1', cpus: 1 } });
  const own = await view('[verifier.environment]\nworkdir = "/x"\n');
  expect(await configOf(own)).toMatchObject({
    environment: { docker_image: null },
    verifier: { environment: { docker_image: 'e2e-swe/x:1', workdir: '/x' } },
  });
});

test('limits come down to what the machine has, in either spelling', async () => {
  const found = await view('[environment]\ncpus = 6\nmemory = "8G"\n');
  expect(found.changes).toEqual([expect.stringContaining('cpus'), expect.stringContaining('memory_mb')]);
  expect(await configOf(found)).toMatchObject({ environment: { cpus: 2, memory_mb: 1000 } });
});

test('the network is opened only when asked for', async () => {
  const toml =
    '[verifier]\nnetwork_mode = "no-network"\n[agent]\nnetwork_mode = "no-network"\n[environment]\nallow_internet = false\n';
  expect((await view(toml)).changes).toEqual([]);
  const open = await view(toml, { publicNetwork: true });
  expect(await configOf(open)).toMatchObject({
    environment: { network_mode: 'public' },
    verifier: { network_mode: null },
    agent: { network_mode: null },
  });
});

test("a carried submission takes the reference solution's place", async () => {
  const archive = path.join(tempDir(), 'x.tar.gz');
  writeFileSync(archive, 'tar');
  const found = await view('[agent]\nuser = "agent"\n', { carry: { archive, roots: ['/app', "/it's"] } });
  expect(existsSync(path.join(found.dir, 'solution/secret'))).toBe(false);
  expect(readFileSync(path.join(found.dir, 'solution/submission.tar.gz'), 'utf8')).toBe('tar');
  expect(readFileSync(path.join(found.dir, 'solution/solve.sh'), 'utf8')).toContain("'/app' '/it'\\''s'");
  expect((await configOf(found))?.agent.user).toBeNull();
});

test('finds the command that is named, on the PATH, or none', () => {
  const folder = tempDir();
  const file = path.join(folder, 'harbor');
  expect(findHarbor(undefined, { PATH: folder })).toBeUndefined();
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  expect(findHarbor(undefined, { PATH: folder })).toEqual({ command: file, args: [] });
  expect(findHarbor(file, {})).toEqual({ command: file, args: [] });
  expect(findHarbor('harbor --x "a b"', { PATH: folder })).toEqual({ command: file, args: ['--x', 'a b'] });
  expect(findHarbor('nothing', { PATH: folder })).toBeUndefined();
  expect(splitWords('"/a b/node" \'c d\' e')).toEqual(['/a b/node', 'c d', 'e']);
});
