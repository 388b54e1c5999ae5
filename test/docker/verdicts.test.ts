import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Task } from '#core/task/types.ts';
import { shellDockerfile, writeReport } from '../fixtures/tasks/makeTask.ts';
import { docker, kept, Lab, rules } from './support.ts';

let lab: Lab;
let task: Task;
beforeAll(async () => {
  lab = await Lab.open();
  task = await lab.task();
});
afterAll(() => lab.dispose());

const separate = 'environment_mode = "separate"\ntimeout_sec = 60.0\ntest_case_count = 2';
const passing = writeReport({ first: 'passed', second: 'passed' }, 1);

describe('the verdicts', () => {
  test('a workspace that passes is resolved, with the evidence of an offline, faithful run', async () => {
    const result = await lab.gradeFolder(task);
    expect(result).toMatchObject({
      verdict: 'resolved',
      reward: 1,
      counts: { expected: 2, reported: 2, passed: 2 },
      evidence: {
        mode: 'separate',
        source: 'folder',
        network: { mode: 'none', probe: 'failed as it should' },
        arrival: { checked: 2, differing: [] },
        testsAltered: [],
        changedOutside: [],
        processesLeft: [],
        exitCode: 0,
        oomKilled: false,
      },
      marks: [],
      problems: [],
    });
    expect(result.evidence.network?.detail).toMatch(/unreachable/i);
    expect(kept(result, 'test-stdout.txt')).toBe('tests in /app\n');
  });

  test('an empty workspace is not', async () => {
    expect(await lab.grade(task, { kind: 'empty' })).toMatchObject({
      verdict: 'unresolved',
      reason: 'tests-failed',
      reward: 0,
    });
  });

  test('an image without bash cannot run test.sh, and that is not the submission', async () => {
    const bare = await lab.task(
      { dockerfile: `${shellDockerfile}RUN rm /bin/bash /usr/bin/bash 2>/dev/null; true\n` },
      'bare-task',
    );
    expect(await lab.gradeFolder(bare)).toMatchObject({
      verdict: 'not graded',
      reason: 'bash-missing',
      explanation: { cause: 'task' },
    });
  });

  test('the reference solution is', async () => {
    const result = await lab.grade(task, { kind: 'solution' });
    expect(result).toMatchObject({ verdict: 'resolved', evidence: { source: 'solution' } });
    expect(result.phases.map(({ name }) => name)).toContain('solution');
  });

  test.each([
    ['exits 1 with reward 1', `${passing}exit 1\n`, 'resolved', 1],
    [
      'exits 0 with reward 0',
      `${writeReport({ first: 'passed', second: 'failed' }, 0)}exit 0\n`,
      'unresolved',
      0,
    ],
  ])('a test.sh that %s: the exit code decides nothing', async (_, script, verdict, reward) => {
    const odd = await lab.task({ testScript: `#!/bin/bash\n${script}` });
    expect(await lab.grade(odd, { kind: 'empty' })).toMatchObject({ verdict, reward });
  });

  test('no reward, no grade', async () => {
    const silent = await lab.task({ testScript: '#!/bin/bash\necho hello\n' });
    const result = await lab.grade(silent, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'reward-missing' });
    expect(kept(result, 'test-stdout.txt')).toBe('hello\n');
  });

  test('CRLF in test.sh is told as such', async () => {
    const crlf = await lab.task({ testScript: '#!/bin/bash\r\necho 1 > /logs/verifier/reward.txt\r\n' });
    expect(await lab.grade(crlf, { kind: 'empty' })).toMatchObject({ reason: 'test-script-crlf' });
  });
});

describe('the container', () => {
  test('has a loopback only, the task as its limits, its own time and user', async () => {
    const probing = await lab.task({
      environment: 'cpus = 64\nmemory_mb = 300\nallow_internet = false',
      testScript: `#!/bin/bash
ls /sys/class/net > /logs/verifier/net.txt
cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null > /logs/verifier/memory.txt
ulimit -c > /logs/verifier/core.txt
id -u > /logs/verifier/user.txt
(exec 3<>/dev/tcp/127.0.0.1/9) 2> /logs/verifier/lo.txt
${passing}`,
    });
    const result = await lab.grade(probing, { kind: 'empty' });
    expect(kept(result, 'net.txt')).toBe('lo\n');
    expect(kept(result, 'memory.txt').trim()).toBe(String(300 * 1024 * 1024));
    expect(kept(result, 'core.txt')).toBe('0\n');
    expect(kept(result, 'user.txt')).toBe('0\n');
    expect(kept(result, 'lo.txt')).toMatch(/refused/i);
    const { cpus } = await lab.engine.info();
    expect(result.evidence.limits?.cpus).toBe(Math.min(64, cpus));
    expect(rules(result)).toContain('limits-clamped');
  });

  test("keeps the image's ENTRYPOINT", async () => {
    const dockerfile = `${shellDockerfile}RUN printf '#!/bin/sh\\necho entered > /entered\\nexec "$@"\\n' > /entry && chmod +x /entry
ENTRYPOINT ["/entry"]
`;
    const entering = await lab.task(
      { dockerfile, testScript: `#!/bin/bash\ncp /entered /logs/verifier/entered.txt\n${passing}` },
      'entrypoint-task',
    );
    const result = await lab.grade(entering, { kind: 'empty' });
    expect(result.verdict).toBe('resolved');
    expect(kept(result, 'entered.txt')).toBe('entered\n');
  });

  test('tests are merged onto /tests, where the image has helpers', async () => {
    const dockerfile = `${shellDockerfile}RUN mkdir -p /tests && echo 'echo helped' > /tests/helper.sh\n`;
    const merging = await lab.task(
      { dockerfile, testScript: `#!/bin/bash\nsh /tests/helper.sh && ls /tests\n${passing}` },
      'merge-task',
    );
    const result = await lab.grade(merging, { kind: 'empty' });
    expect(kept(result, 'test-stdout.txt')).toBe('helped\nhelper.sh\ntest.sh\n');
    expect(result).toMatchObject({ verdict: 'resolved', evidence: { testsAltered: [] } });
  });

  test("gets [verifier.env], [environment.env], a workdir and a user of the task's choice", async () => {
    const chosen = await lab.task({
      verifier: `${separate}\nuser = "nobody"`,
      environment: 'workdir = "/srv/deep/place"\nallow_internet = false',
      artifacts: ['/srv/deep/place'],
      more: '[verifier.env]\nFROM_VERIFIER = "v"\n[environment.env]\nFROM_ENVIRONMENT = "e"',
      testScript: `#!/bin/bash\necho "$(pwd) $(id -un) $FROM_VERIFIER $FROM_ENVIRONMENT $(stat -c %U ok.txt .)"\n${passing}`,
    });
    const result = await lab.gradeFolder(chosen);
    expect(result.verdict).toBe('resolved');
    expect(kept(result, 'test-stdout.txt')).toBe('/srv/deep/place nobody v e nobody\nnobody\n');
  });

  test('a user who is not in the image is named', async () => {
    const odd = await lab.task({ verifier: `${separate}\nuser = "stranger"` });
    const result = await lab.grade(odd, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'container-start-failed' });
    expect(result.explanation?.text).toContain('"stranger"');
  });
});

describe('what a submission or an image planted', () => {
  test("results of the image's do not count", async () => {
    const dockerfile = `${shellDockerfile}RUN mkdir -p /logs/verifier && echo '{"reward":1}' > /logs/verifier/reward.json\n`;
    const planted = await lab.task(
      { dockerfile, testScript: '#!/bin/bash\nls -A /logs/verifier\n' },
      'planted-task',
    );
    const result = await lab.grade(planted, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'reward-missing' });
    expect(kept(result, 'test-stdout.txt')).toBe('test-stdout.txt\n');
  });

  test("the image's own files in the workdir are gone, hidden ones too", async () => {
    const dockerfile = `${shellDockerfile}RUN echo ok > ok.txt && mkdir .hidden && echo x > .hidden/x\n`;
    const seeded = await lab.task({ dockerfile }, 'seeded-task');
    const result = await lab.gradeFolder(seeded, { 'other.txt': '' });
    expect(result).toMatchObject({ verdict: 'unresolved', evidence: { arrival: { differing: [] } } });
  });

  test('a reward that is a link, a folder or a FIFO is not read', async () => {
    const linking = await lab.task({
      testScript: `#!/bin/bash
echo 1 > /tmp/one
ln -s /tmp/one /logs/verifier/reward.txt
mkdir /logs/verifier/reward.json
mkfifo /logs/verifier/ctrf.json
`,
    });
    const result = await lab.grade(linking, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'reward-missing' });
    expect(rules(result)).toContain('result-not-a-file');
    expect(readdirSync(`${result.dir}/verifier`).sort()).not.toContain('reward.txt');
  });

  test('/logs/verifier that became a link to elsewhere is not followed, on either side', async () => {
    const linking = await lab.task({
      testScript: `#!/bin/bash
mkdir /other && echo 1 > /other/reward.txt
rm -rf /logs/verifier && ln -s /etc /logs/verifier
`,
    });
    const result = await lab.grade(linking, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'reward-missing' });
    expect(rules(result)).toContain('result-not-a-file');
    expect(readdirSync(`${result.dir}/verifier`)).toEqual([]);
  });

  test('results with hard links are files like others', async () => {
    const hard = await lab.task({
      testScript: `#!/bin/bash\n${passing}ln /logs/verifier/reward.txt /logs/verifier/a-copy.txt\nmkdir /logs/verifier/sub\nln /logs/verifier/ctrf.json /logs/verifier/b.txt\n`,
    });
    expect(await lab.grade(hard, { kind: 'empty' })).toMatchObject({ verdict: 'resolved', reward: 1 });
  });

  test('altered tests, changes outside and processes left are marked', async () => {
    const altering = await lab.task({
      files: { 'tests/data.txt': 'data\n', 'tests/gone.txt': '' },
      testScript: `#!/bin/bash
echo changed > /tests/data.txt
rm /tests/gone.txt
mkdir /tests/__pycache__ && echo > /tests/__pycache__/new
echo x > /usr/local/evil
rm /etc/issue.net
echo > /etc/motd
echo x > /tmp/fine
setsid sleep 987654 > /dev/null 2>&1 &
${passing}`,
    });
    const result = await lab.grade(altering, { kind: 'empty' });
    expect(result.verdict).toBe('resolved');
    expect(rules(result).sort()).toEqual(['processes-left', 'tests-altered']);
    expect([...(result.evidence.testsAltered ?? [])].sort()).toEqual([
      '/tests/data.txt (altered)',
      '/tests/gone.txt (removed)',
    ]);
    expect([...(result.evidence.changedOutside ?? [])].sort()).toEqual([
      'A /usr/local/evil',
      'C /etc/motd',
      'D /etc/issue.net',
    ]);
    expect(result.evidence.processesLeft).toEqual(['sleep 987654']);
  });
});

test('two grades at once do not mix', async () => {
  const slow = await lab.task({
    testScript: `#!/bin/bash\nsleep 0.5\ncp who.txt /logs/verifier/\n${passing}`,
  });
  const results = await Promise.all(['one', 'two'].map((who) => lab.gradeFolder(slow, { 'who.txt': who })));
  expect(results.map((result) => kept(result, 'who.txt'))).toEqual(['one', 'two']);
  expect(new Set(results.map(({ dir }) => dir)).size).toBe(2);
});

test('live output comes while the tests run, and the log is whole all the same', async () => {
  const talking = await lab.task({
    testScript: `#!/bin/bash\nfor i in 1 2 3; do echo "line $i é"; sleep 0.3; done\n${passing}`,
  });
  let live = '';
  let during = '';
  const result = await lab.grade(talking, { kind: 'empty' }, { live: true }, undefined, (event) => {
    if (event.kind === 'output') live += event.chunk;
    if (event.kind === 'phase' && event.phase === 'collect') during = live;
  });
  expect(during).toContain('line 1 é\nline 2 é\n');
  expect(live).toBe(kept(result, 'test-stdout.txt'));
  expect(rules(result)).toEqual([]);
});

test('a kept container can be looked into, with its files as the tests left them', async () => {
  const result = await lab.grade(task, { kind: 'folder', path: await lab.workspace() }, { keep: true });
  expect(result.verdict).toBe('resolved');
  const [container] = await lab.ownContainers();
  expect(docker(['exec', container?.name as string, 'cat', '/app/ok.txt'])).toBe('ok');
  await lab.engine.removeContainer(container?.id as string);
});
