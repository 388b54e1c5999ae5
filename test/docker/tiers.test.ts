import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { gradeSchema } from './cliSchema.ts';
import { type CliResult, docker, ensureCli, Lab, runCli } from './support.ts';

/** In the name, message, trace and file of a hidden test, in what it prints and in what it leaves. */
const secret = 'tell_tale';
const testScript = `#!/bin/bash
echo "running ${secret}"
sleep 0.5
${writeReport({ plain: 'passed', [`test_${secret}`]: 'failed' }, 0)}
touch /root/${secret}
echo altered >> /tests/${secret}.py
(exec -a ${secret} sleep 60) &
`;

let lab: Lab;
let home: string;
let task: string;
let id: string;
beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  home = path.join(lab.dir, 'home');
  task = await lab.taskDir({ testScript, files: { [`tests/${secret}.py`]: secret } });
});
afterAll(async () => {
  for (const attempt of await readdir(path.join(home, 'attempts/shell-task')).catch(() => []))
    await run(['attempt', 'delete', attempt, '--yes']);
  for (const image of docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']).split(
    '\n',
  ))
    if (image) lab.owns(image);
  await lab.dispose();
});

const run = (args: readonly string[]): Promise<CliResult> =>
  runCli(args, { E2E_SWE_HOME: home, E2E_SWE_LOG: 'debug' }, lab.dir);

/** Files of the attempt's folder that hold the secret in name or content, outside of what is sealed. */
async function tellTales(): Promise<string[]> {
  const dir = path.join(home, 'attempts/shell-task', id);
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const file = path.join(entry.parentPath, entry.name);
    if (path.relative(dir, file).startsWith(`sealed${path.sep}`)) continue;
    const isOne = entry.name.includes(secret) || (entry.isFile() && (await readFile(file)).includes(secret));
    if (isOne) found.push(path.relative(dir, file));
  }
  return found;
}

async function protocolFile(more: object): Promise<string> {
  const { stdout } = await run(['attempt', 'example', 'protocol']);
  const file = path.join(lab.dir, 'protocol.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(stdout), ...more }));
  return file;
}

test('conditions that are wrong are refused with file and field, before anything is made', async () => {
  const file = await protocolFile({ tier: 'some' });
  const { code, stderr } = await run(['attempt', 'start', task, '--protocol', file]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${file}: the field "tier" is "some", not as it should be (one of "counts", `);
  const missing = await run(['attempt', 'start', task, '--protocol', `${file}.none`]);
  expect(missing).toMatchObject({ code: 2, stdout: '' });
  expect(missing.stderr).toContain(`"${file}.none" cannot be read (ENOENT).`);
});

test('counts: the name of a hidden test is nowhere before the attempt is over', async () => {
  const started = await run(['attempt', 'start', task, '--protocol', await protocolFile({ tier: 'counts' })]);
  id = started.stdout.trim();
  expect(started.stderr).toContain(`its clock stands until "e2e-swe attempt resume ${id}" starts it`);
  expect((await run(['attempt', 'submit', id, '--yes'])).stderr).toContain('its clock has not been started');
  expect(await run(['attempt', 'resume', id])).toMatchObject({ code: 0 });
  expect(await run(['attempt', 'show', id, '--json'])).toMatchObject({ code: 0 });

  const told = await run(['attempt', 'grade', id]);
  expect(told.code).toBe(1);
  expect(told.stdout).toMatch(
    /^shell-task: unresolved \(tests-failed\)\n {2}1 of 2 tests passed, 1 failed\n/,
  );
  expect(told.stdout).toContain('no more than these numbers is shown before it is over');
  const json = await run(['attempt', 'grade', id, '--json']);
  const result = gradeSchema.parse(JSON.parse(json.stdout));
  expect(result).toMatchObject({ tier: 'counts', tests: [], counts: { reported: 2, passed: 1, failed: 1 } });
  expect(result.marks.map(({ rule }) => rule)).toEqual(expect.arrayContaining(['tests-altered']));
  const shown = await run(['attempt', 'show', id, '--json']);
  const { snapshot } = JSON.parse(shown.stdout).grades[0];
  const past = await run(['attempt', 'grade', id, '--snapshot', snapshot]);
  expect(past.stdout).toContain('1 of 2 tests passed, 1 failed');
  for (const { stdout, stderr } of [told, json, shown, past]) expect(stdout + stderr).not.toContain(secret);

  const live = await run(['attempt', 'grade', id, '--live']);
  expect(live).toMatchObject({ code: 2, stdout: '' });
  expect(live.stderr).toContain(`not shown while the attempt ${id} is open: its tier is "counts".`);
  expect((await run(['attempt', 'submit', id, '--live', '--yes'])).stderr).toContain('its tier is "counts"');

  expect(await tellTales()).toEqual([]);
  const dir = path.join(home, 'attempts/shell-task', id);
  expect((await stat(path.join(dir, 'sealed'))).mode & 0o777).toBe(0o700);
  expect(await readFile(path.join(dir, 'sealed/1/verifier/test-stdout.txt'), 'utf8')).toContain(secret);
});

test('a fork keeps the conditions and says so; what is shown elsewhere is in the record', async () => {
  const forked = await run(['attempt', 'fork', id]);
  expect(forked.stderr).toContain(`measured under the conditions of ${id}: its grades show counts.`);
  const fork = forked.stdout.trim();
  expect(JSON.parse((await run(['attempt', 'show', fork, '--json'])).stdout)).toMatchObject({
    protocol: { tier: 'counts' },
    forkedFrom: { attempt: id },
  });
  const other = await run(['grade', task, '--empty']);
  expect(other.stdout).toContain(secret);
  expect(other.stderr).toContain(`The measured attempt ${fork} at shell-task has not ended`);
});

test('once it is over all of it is shown, and what its builder says is kept with it', async () => {
  const early = await run(['attempt', 'debrief', id, path.join(lab.dir, 'none.json')]);
  expect(early.stderr).toContain('none.json" cannot be read');
  const { stdout, code } = await run(['attempt', 'submit', id, '--yes', '--json']);
  expect(code).toBe(1);
  expect(gradeSchema.parse(JSON.parse(stdout)).tests.map(({ name }) => name)).toContain(`test_${secret}`);
  expect(await tellTales()).toEqual(expect.arrayContaining(['grades/1/grade.json', 'grades/4/grade.json']));
  const debrief = path.join(lab.dir, 'debrief.json');
  await writeFile(debrief, (await run(['attempt', 'example', 'debrief'])).stdout);
  expect(await run(['attempt', 'debrief', id, debrief])).toMatchObject({
    code: 0,
    stderr: `Kept with ${id}.\n`,
  });
  const lines = (await readFile(path.join(home, 'attempts/shell-task', id, 'record.jsonl'), 'utf8')).trim();
  const events = lines.split('\n').map((line) => JSON.parse(line));
  const kinds = ['protocol', 'graded', 'revealed-outside', 'debrief'];
  expect(events.filter(({ kind }) => kinds.includes(kind))).toMatchObject([
    { kind: 'protocol', protocol: { tier: 'counts' } },
    { kind: 'graded', official: false, revealed: { tier: 'counts', passed: 1, total: 2 } },
    { kind: 'graded', official: false, snapshot: expect.any(String) },
    // Of the first one's snapshot, with no window open: a reveal as any other.
    { kind: 'graded', official: false, snapshot: events.find(({ kind }) => kind === 'graded')?.snapshot },
    { kind: 'revealed-outside', what: 'grade', of: 'empty', tier: 'full' },
    { kind: 'graded', official: true, revealed: { tier: 'full' } },
    { kind: 'debrief', debrief: { difficulty: 3 } },
  ]);
});
