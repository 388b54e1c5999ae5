import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { type ExpectedTests, ImportedAttempts, isImportedId } from '#core/attempt/importedAttempts.ts';
import { findTrials } from '#core/trial/findTrials.ts';
import { hasShared, shared } from '../task/support.ts';
import { useStore } from './support.ts';

const used = useStore();
const unknown: ExpectedTests = async () => undefined;

/** Files by relative path; an object becomes JSON. */
function write(files: Readonly<Record<string, object | string>>, name = 'jobs'): string {
  const dir = path.join(used.dir, name);
  for (const [file, value] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), typeof value === 'string' ? value : JSON.stringify(value));
  }
  return dir;
}

const trial = (task: string, reward: number): object => ({
  ...{ task_name: task, trial_name: `${task}__AAAAAAA`, started_at: '2026-01-01T00:00:00Z' },
  ...{ task_id: { path: `/tasks/${task}` }, verifier_result: { rewards: { reward } }, exception_info: null },
});
const report = (...statuses: string[]): object => ({
  results: { tool: { name: 't' }, tests: statuses.map((status, at) => ({ name: `t${at}`, status })) },
});

function aJob(): string {
  return write({
    'job/result.json': { n_total_trials: 4 },
    'job/config.json': {},
    'job/one__AAAAAAA/result.json': trial('one', 1),
    'job/one__AAAAAAA/verifier/ctrf.json': report('passed'),
    'job/one__AAAAAAA/verifier/reward.txt': '1',
    // Whatever a builder leaves is no trial.
    'job/one__AAAAAAA/artifacts/app/result.json': trial('planted', 1),
    'job/one__AAAAAAA/app/result.json': trial('planted', 1),
    'job/two__BBBBBBB/result.json': trial('two', 0),
    'job/half__CCCCCCC/result.json': '{"task_name": "ha',
    'job/running__DDDDDDD/config.json': {},
    'job/running__DDDDDDD/agent/log': '',
    'other/three__EEEEEEE/result.json': trial('three', 1),
  });
}

const told = (
  found: readonly { taskName: string; damage?: string; trial?: { verdict: string } }[],
): string[] =>
  found.map(({ taskName, damage, trial: read }) => `${taskName}: ${damage ? 'damaged' : read?.verdict}`);

describe('imported trials', () => {
  test('of a trial, a job, or a folder of jobs are found, the planted ones not', async () => {
    const dir = aJob();
    const imports = new ImportedAttempts(used.store.storeDir);
    expect(told(await imports.add(path.join(dir, 'job/one__AAAAAAA'), unknown))).toEqual(['one: resolved']);
    expect(told(await imports.add(path.join(dir, 'job'), unknown))).toEqual([
      ...['half: damaged', 'one: resolved', 'running: damaged', 'two: unresolved'],
    ]);
    expect((await imports.add(dir, unknown)).length).toBe(5);
    symlinkSync(path.join(dir, 'other'), path.join(dir, 'job/link'));
    expect((await findTrials(path.join(dir, 'job'))).length).toBe(4);
    // Imported three times over, each is listed once.
    expect((await imports.list(unknown)).length).toBe(5);
    const [half] = await imports.list(unknown);
    expect(half?.damage).toContain('cannot be read as the result of a trial');
  });

  test('are the same in another process, follow their files, and leave no trace in them', async () => {
    const dir = aJob();
    const before = print(dir);
    const imports = new ImportedAttempts(used.store.storeDir);
    await imports.add(dir, unknown);
    const first = await imports.list(unknown);
    expect(await new ImportedAttempts(used.store.storeDir).list(unknown)).toEqual(first);
    expect(await imports.list(unknown)).toEqual(first);
    expect(print(dir)).toBe(before);
    const later = path.join(dir, 'job/two__BBBBBBB/result.json');
    writeFileSync(later, JSON.stringify(trial('two', 1)));
    utimesSync(later, 1, 1);
    write({ 'job/running__DDDDDDD/result.json': trial('running', 0) });
    expect(told(await imports.list(unknown))).toEqual([
      ...['half: damaged', 'one: resolved', 'running: unresolved', 'two: resolved', 'three: resolved'],
    ]);
    expect(await new AttemptStore(used.store.storeDir).list()).toEqual([]);
    for (const { id } of first) expect([isImportedId(id), used.store.find(id)]).toEqual([true, undefined]);
  });

  test('are decided with the number of tests of their task, once that is known', async () => {
    const imports = new ImportedAttempts(used.store.storeDir);
    await imports.add(path.join(aJob(), 'job/one__AAAAAAA'), unknown);
    const asked: unknown[] = [];
    const expected: ExpectedTests = async (task) => {
      asked.push(task);
      return 2;
    };
    const [one] = await imports.list(expected);
    expect(one?.trial).toMatchObject({ verdict: 'unresolved', reason: 'tests-not-reported' });
    expect(asked).toEqual([{ name: 'one', path: '/tasks/one' }]);
    expect((await imports.list(expected))[0]).toEqual(one);
  });

  test('can be taken out again; of a folder that is gone a row stays until then', async () => {
    const dir = aJob();
    const imports = new ImportedAttempts(used.store.storeDir);
    await imports.add(dir, unknown);
    await rm(dir, { recursive: true });
    const [gone, ...others] = await imports.list(unknown);
    expect([gone?.damage, others]).toEqual(['The folder is gone, or holds no trials any more.', []]);
    await imports.remove(dir);
    expect(await imports.list(unknown)).toEqual([]);
    await expect(imports.remove(dir)).rejects.toThrow('was not imported');
    await expect(imports.add(dir, unknown)).rejects.toThrow('cannot be read');
    await expect(imports.add(write({ x: '' }, 'none'), unknown)).rejects.toThrow('holds no trials');
  });

  test('stop being looked for when that is cancelled', async () => {
    const dir = aJob();
    const stop = new AbortController();
    stop.abort();
    const imports = new ImportedAttempts(used.store.storeDir);
    await expect(imports.add(dir, unknown, stop.signal)).rejects.toThrow(/cancelled/i);
    expect(await imports.list(unknown)).toEqual([]);
  });
});

describe('real trials', () => {
  test.skipIf(!hasShared('data/harbor-trials'))('all are listed, with a verdict or a reason', async () => {
    const root = realpathSync(shared('data/harbor-trials'));
    // Results that were saved without their folders, as trials of their own.
    const loose = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?:^|[/.])[^/]+\.json$/.test(name),
    );
    const staged = path.join(used.dir, 'staged');
    for (const [at, name] of loose.entries())
      for (const result of ['result.json', 'results.json']) {
        const dir = path.join(staged, `t${at}-${result}`);
        mkdirSync(dir, { recursive: true });
        cpSync(path.join(root, name), path.join(dir, result));
      }
    const imports = new ImportedAttempts(used.store.storeDir);
    for (const folder of [root, staged]) {
      const found = await imports.add(folder, unknown);
      expect(found.length).toBeGreaterThan(4);
      for (const { trial: read, damage } of found)
        expect(read === undefined ? damage : read.verdict).toMatch(/./);
    }
    const verdicts = new Map(
      (await imports.list(unknown)).map(({ dir, trial: read }) => [path.relative(root, dir), read?.verdict]),
    );
    expect(verdicts.get('harbor-0.23.0-captures/scripted/division__ZyLZtxf')).toBe('resolved');
    expect(verdicts.get('harbor-0.23.0-captures/partial-failure/broken-verifier__YyyjYLX')).toBe(
      'not graded',
    );
  });
});

/** Everything that can be seen of a folder. */
function print(dir: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    const info = statSync(path.join(dir, name));
    hash.update(`${name} ${info.mtimeMs} ${info.mode} ${info.size}\n`);
    if (info.isFile()) hash.update(readFileSync(path.join(dir, name)));
  }
  return hash.digest('hex');
}
