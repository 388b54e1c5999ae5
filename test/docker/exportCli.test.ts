import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExportedAttempt } from '#core/attempt/exportAttempt.ts';
import type { Summary } from '#core/attempt/summary.ts';
import type { Trajectory } from '#core/trial/atif.ts';
import { testScript } from './attemptSupport.ts';
import { docker, ensureCli, Lab, runCli } from './support.ts';

/** One attempt that is made, submitted, exported and imported again, all on the command line. */

let lab: Lab;
let id: string;
const cli = (...args: string[]) =>
  runCli(['attempt', ...args], { E2E_SWE_HOME: path.join(lab.dir, 'home') }, lab.dir);

beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  id = (await cli('start', await lab.taskDir({ testScript }))).stdout.trim();
});

afterAll(async () => {
  await cli('delete', id, '--yes');
  for (const image of docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']).split(
    '\n',
  ))
    if (image) lab.owns(image);
  await lab.dispose();
});

describe('an attempt', () => {
  test('that was given commands is submitted and exported, its session step by step', async () => {
    const script =
      'echo "cp ok.txt built.txt" >setup.sh; echo ok >ok.txt; ln -s ok.txt link; echo done; exit 4';
    expect((await cli('exec', id, '--', 'sh', '-c', script)).code).toBe(4);
    await cli('note', id, 'the spec is short');
    expect((await cli('submit', id, '--yes')).code).toBe(0);
    const out = path.join(lab.dir, 'plain');
    const { code, stdout } = await cli('export', id, '--out', out, '--json');
    expect(code).toBe(0);
    const exported = JSON.parse(stdout) as ExportedAttempt;
    expect(exported.marks.map(({ rule }) => rule)).toEqual(['links-kept']);
    expect(await readdir(path.join(out, 'artifacts/app'))).toEqual(
      expect.arrayContaining(['instruction.md', 'link', 'ok.txt', 'setup.sh']),
    );
    expect((await readdir(path.join(out, 'verifier'))).toSorted()).toEqual([
      ...['ctrf.json', 'reward.txt', 'test-stdout.txt'],
    ]);
    const { steps } = JSON.parse(
      await readFile(path.join(out, 'agent/trajectory.json'), 'utf8'),
    ) as Trajectory;
    const run = steps.find((step) => step.tool_calls?.[0]?.function_name === 'run_command');
    expect(run).toMatchObject({ extra: { exit_code: 4 }, observation: { results: [{ content: 'done\n' }] } });
    expect(steps.map(({ message }) => message)).toContain('the spec is short');
    expect(steps.find((step) => step.tool_calls?.[0]?.function_name === 'grade')).toMatchObject({
      observation: { results: [{ content: expect.stringContaining('"verdict":"resolved"') as string }] },
    });
    const again = await cli('export', id, '--out', out);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is not empty')]);
  });

  test('is exported without what tells where it was made', async () => {
    const out = path.join(lab.dir, 'anonymous');
    const { code, stderr } = await cli('export', id, '--out', out, '--anonymised');
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('are as they are: look through them yourself'),
    ]);
    for (const name of [
      'config.json',
      'result.json',
      'export.json',
      'agent/trajectory.json',
      'verifier/ctrf.json',
    ]) {
      const text = readFileSync(path.join(out, name), 'utf8');
      for (const planted of [lab.dir, 'the spec is short'])
        expect([name, text.includes(planted)]).toEqual([name, false]);
    }
  });

  test('is summed up', async () => {
    const json = JSON.parse((await cli('summary', '--json', '--practice')).stdout) as Summary;
    expect(json.attempts[0]).toMatchObject({
      attempt: id,
      official_verdict: 'resolved',
      commands: 1,
      notes: 1,
    });
    expect(json.tasks[0]).toMatchObject({ task: 'shell-task', counted: 1, resolved: 1 });
    const file = path.join(lab.dir, 'rows.csv');
    expect((await cli('summary', '--csv', '--out', file)).code).toBe(0);
    expect(await readFile(file, 'utf8')).toMatch(new RegExp(`^attempt,task,.*\r\n${id},shell-task,`));
    const plain = await cli('summary', '--anonymised');
    expect(plain.stdout).toBe('shell-task: 0 of 0 resolved\n  excluded: 1 practice\n');
  });

  test('that was exported is imported as another that is only read', async () => {
    const imported = await cli('import', lab.dir);
    expect([imported.code, imported.stderr]).toEqual([0, 'Imported 2 trials.\n']);
    const [first = ''] = imported.stdout.split(/\s/);
    expect(first).toMatch(/^imp/);
    const list = await cli('list');
    expect(list.stdout.match(/imported {2}shell-task/g)?.length).toBe(2);
    expect((await cli('show', first)).stdout).toMatch(
      /verdict {2}resolved\n(?:.*\n)*? {2}tests {4}2 of 2 passed/,
    );
    for (const [command, ...more] of [
      ['exec', '--', 'true'],
      ['submit', '--yes'],
      ['delete', '--yes'],
      ['open'],
    ]) {
      const { code, stderr } = await cli(command as string, first, ...more);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/is imported, and only read|no command/)]);
    }
    expect((await cli('import', lab.dir, '--remove')).code).toBe(0);
    expect((await cli('list')).stdout).not.toContain('imported');
  });
});
