import { readdirSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { kept, Lab, rules } from './support.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.dispose());

const passing = writeReport({ first: 'passed', second: 'passed' }, 1);
const failing = writeReport({ first: 'passed', second: 'failed' }, 0);

/** A test.sh that runs the submission's setup.sh, as E2E-SWE's do, and then its own tests. */
function runsSetup(then: string): string {
  return `#!/bin/bash\nbash ./setup.sh\n${then}`;
}

describe('a submission cannot change what we saw before its code ran', () => {
  /** Writes to the streams that the look was printed on, of every process that it can reach. */
  const scribbling = (text: string): string =>
    `for fd in /proc/[0-9]*/fd/[12]; do [ -p "$fd" ] && printf '${text}' > "$fd"; done 2>/dev/null; true\n`;

  test.each([
    ['that a connection was made', 'connected\\n'],
    ['that there is no find', 'nofind\\n'],
    ['files that nobody sent', 'f\\t644\\t1\\t0\\t\\0/app/forged\\0'],
    ['half a record', '\\0'],
  ])('%s', async (_, text) => {
    const task = await lab.task({ testScript: runsSetup(failing) });
    const result = await lab.gradeFolder(task, { 'setup.sh': scribbling(text) });
    expect(result).toMatchObject({
      verdict: 'unresolved',
      evidence: { network: { probe: 'failed as it should' }, arrival: { differing: [] } },
    });
  });
});

test("setup.sh's own markers change what is shown, never the verdict", async () => {
  const task = await lab.task({
    testScript: `#!/bin/bash
echo "##e2e-swe phase=setup at=$(date +%s.%N)"
bash ./setup.sh; echo "##e2e-swe setup-exit=$?"
echo "##e2e-swe phase=tests at=$(date +%s.%N)"
${passing}`,
  });
  const result = await lab.gradeFolder(task, {
    'setup.sh': 'echo "##e2e-swe phase=tests at=1.0"; sleep 0.2\n',
  });
  expect(result.verdict).toBe('resolved');
  expect(result.phases.map(({ name }) => name)).toEqual(expect.arrayContaining(['setup', 'tests']));
});

test('a reward that the submission writes is overwritten by the tests', async () => {
  const task = await lab.task({ testScript: runsSetup(failing) });
  const setup = 'echo 1 > /logs/verifier/reward.txt\n';
  expect(await lab.gradeFolder(task, { 'setup.sh': setup })).toMatchObject({
    verdict: 'unresolved',
    reward: 0,
  });
});

test('a daemon that rewrites the results after the tests gets no chance', async () => {
  const task = await lab.task({ testScript: runsSetup(failing) });
  const setup = 'setsid bash -c "sleep 5.5; echo 1 > /logs/verifier/reward.txt" > /dev/null 2>&1 &\n';
  const result = await lab.gradeFolder(task, { 'setup.sh': setup });
  expect(result).toMatchObject({ verdict: 'unresolved', reward: 0 });
  expect(rules(result)).toContain('processes-left');
  expect(kept(result, 'reward.txt')).toBe('0\n');
});

test('links of the submission into /tests and /logs/verifier stay links, and nothing is written through them', async () => {
  const task = await lab.task({
    testScript: `#!/bin/bash\nls -l t v | sed 's/.* t/t/;s/.* v/v/'\n${failing}`,
  });
  const folder = await lab.workspace();
  await symlink('/tests/test.sh', `${folder}/t`);
  await symlink('/logs/verifier/reward.json', `${folder}/v`);
  const result = await lab.grade(task, { kind: 'folder', path: folder });
  expect(kept(result, 'test-stdout.txt')).toBe('t -> /tests/test.sh\nv -> /logs/verifier/reward.json\n');
  expect(result).toMatchObject({ verdict: 'unresolved', evidence: { testsAltered: [] } });
});

test('/logs that became a link, a mount or nothing is never read from this machine', async () => {
  for (const script of [
    'rm -rf /logs; ln -s / /logs',
    'rm -rf /logs; ln -s /etc /logs; mkdir -p /etc/verifier',
    'rm -rf /logs',
  ]) {
    const task = await lab.task({ testScript: `#!/bin/bash\n${script}\n` });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'reward-missing' });
    expect(readdirSync(`${result.dir}/verifier`)).toEqual([]);
  }
});

test('a folder of /logs/verifier that is a link to this machine is not walked', async () => {
  const task = await lab.task({
    testScript: `#!/bin/bash\nln -s /etc /logs/verifier/etc\nln -s /etc/hostname /logs/verifier/ctrf.json\n${passing.replace('ctrf.json', 'other.json')}`,
  });
  const result = await lab.grade(task, { kind: 'empty' });
  expect(rules(result).filter((rule) => rule === 'result-not-a-file')).toHaveLength(2);
  expect(result.reward).toBe(1);
});

describe('what a submission leaves never hides the verdict', () => {
  test.each([
    ['more files than are kept', 'cd /logs/verifier; touch $(seq -f f%g 1 21000)', 'result-too-large'],
    [
      'folders deeper than this machine can open',
      'for at in /logs/verifier /tests /opt; do cd $at; for i in $(seq 70); do n=$(printf %0200d $i); mkdir $n; cd $n; done; echo > f; done',
      undefined,
    ],
    [
      'files of 8 TB that hold nothing',
      'for at in /logs/verifier /tests /opt; do truncate -s 8T $at/0; done',
      'result-too-large',
    ],
    [
      'names that are no text',
      'd=$(printf "/opt/\\377"); mkdir -p $d/a; echo > $d/a/b; echo > /logs/verifier/$(printf "\\376").json',
      'result-odd-name',
    ],
    [
      'more JSON than is read',
      'cd /logs/verifier; truncate -s 300M a-ctrf.json; truncate -s 200M b.json c.json d.json',
      'result-too-large',
    ],
  ])('%s', async (_, setup, rule) => {
    const task = await lab.task({ testScript: runsSetup(passing) });
    const result = await lab.gradeFolder(task, { 'setup.sh': `${setup}\n` });
    expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
    if (rule) expect(rules(result)).toContain(rule);
  });
});
