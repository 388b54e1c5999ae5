import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type ExportedTrial, exportTrial, newTrialName } from '#core/trial/exportTrial.ts';
import { taskChecksum } from '#core/trial/taskChecksum.ts';
import { archive, type EntryInput, taskAt, tempDir } from './support.ts';

const when = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:01:00.000Z' };

function taskDir(artifacts: string): string {
  const dir = path.join(tempDir(), 'some-task');
  for (const folder of ['environment', 'tests']) mkdirSync(path.join(dir, folder), { recursive: true });
  writeFileSync(
    path.join(dir, 'task.toml'),
    `artifacts = ${artifacts}\n[verifier]\nenvironment_mode = "separate"\n[environment]\ndocker_image = "x"\n`,
  );
  writeFileSync(path.join(dir, 'instruction.md'), 'x');
  return dir;
}

async function exported(artifacts: string, ...entries: readonly EntryInput[]): Promise<ExportedTrial> {
  const task = await taskAt(taskDir(artifacts));
  return exportTrial({ task, dir: path.join(tempDir(), 'trial'), entries: archive(...entries), ...when });
}

const statuses = ({ manifest }: ExportedTrial): readonly string[] =>
  manifest.map(({ source, type, status, destination }) => `${source} ${type} ${status} ${destination}`);

test('unpacks artifacts at their paths, with an entry for each', async () => {
  const trial = await exported(
    '["/app", "/data/out.txt", "/gone", "/gone.txt", "/hollow"]',
    { name: 'app/' },
    { name: 'app/a', text: 'A' },
    { name: 'data/out.txt', text: 'D' },
    { name: 'hollow/' },
    { name: 'elsewhere/x', text: 'x' },
  );
  expect(statuses(trial)).toEqual([
    '/logs/artifacts directory empty artifacts/logs/artifacts',
    '/app directory ok artifacts/app',
    '/data/out.txt file ok artifacts/data/out.txt',
    '/gone directory failed artifacts/gone',
    '/gone.txt file failed artifacts/gone.txt',
    '/hollow directory empty artifacts/hollow',
  ]);
  expect(readFileSync(path.join(trial.dir, 'artifacts/app/a'), 'utf8')).toBe('A');
  expect(trial.losses).toEqual([
    { rule: 'not-declared', message: expect.stringContaining('elsewhere/x') as string },
  ]);
  const manifest = JSON.parse(
    readFileSync(path.join(trial.dir, 'artifacts/manifest.json'), 'utf8'),
  ) as object[];
  expect(Object.keys(manifest[0] ?? {})).toEqual(['source', 'destination', 'type', 'status', 'service']);
});

test('what overlaps an earlier artifact is skipped, as Harbor does', async () => {
  const trial = await exported(
    '["/app", "/app/report.json", {source = "/srv/x", destination = "app/sub"}]',
    { name: 'app/report.json', text: '{}' },
    { name: 'srv/x', text: 'x' },
  );
  expect(statuses(trial).slice(1)).toEqual([
    '/app directory ok artifacts/app',
    '/app/report.json file skipped artifacts/app/report.json',
    '/srv/x directory skipped artifacts/app/sub',
  ]);
});

test('a destination moves the copy on the host, hard links too', async () => {
  const trial = await exported(
    '[{source = "/srv/x", destination = "kept/here"}]',
    { name: 'srv/x/' },
    { name: 'srv/x/one', text: '1' },
    { name: 'srv/x/two', type: 'hardlink', linkName: 'srv/x/one' },
    { name: 'logs/artifacts/published', text: 'p' },
  );
  expect(readFileSync(path.join(trial.dir, 'artifacts/kept/here/two'), 'utf8')).toBe('1');
  expect(statuses(trial)).toEqual([
    '/logs/artifacts directory ok artifacts/logs/artifacts',
    '/srv/x directory ok artifacts/kept/here',
  ]);
});

test('carries the official grade and what was not taken', async () => {
  const task = await taskAt(taskDir('["/app"]'));
  const verifier = tempDir();
  writeFileSync(path.join(verifier, 'reward.txt'), '1\n');
  const trial = await exportTrial({
    task,
    dir: path.join(tempDir(), 'trial'),
    entries: archive({ name: 'app/' }),
    skipped: ['app/pipe (FIFO)'],
    verifier: { rewards: { reward: 1 }, dir: verifier, ...when },
    ...when,
  });
  expect(trial.losses[0]?.message).toContain('app/pipe (FIFO)');
  expect(readFileSync(path.join(trial.dir, 'verifier/reward.txt'), 'utf8')).toBe('1\n');
  const result = JSON.parse(readFileSync(path.join(trial.dir, 'result.json'), 'utf8')) as object;
  expect(result).toMatchObject({
    task_name: 'some-task',
    trial_name: 'trial',
    verifier_result: { rewards: { reward: 1 } },
    verifier_environment_mode: 'separate',
    exception_info: null,
    task_checksum: await taskChecksum(task.dir),
  });
});

test('writes into no folder that holds something', async () => {
  const task = await taskAt(taskDir('["/app"]'));
  const dir = tempDir();
  writeFileSync(path.join(dir, 'x'), '');
  await expect(exportTrial({ task, dir, entries: archive(), ...when })).rejects.toThrow(/is not empty/);
});

test('names trials as Harbor does', () => {
  expect(newTrialName({ dir: `/t/${'a'.repeat(31)}_bbb` })).toMatch(
    new RegExp(`^${'a'.repeat(31)}__[2-9A-Za-z]{7}$`),
  );
});
