import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCancellation } from '#core/base/errors.ts';
import type { GradeResult, PhaseName } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import { shellDockerfile, writeReport } from '../fixtures/tasks/makeTask.ts';
import { kept, Lab, repository, rules } from './support.ts';

let lab: Lab;
let task: Task;
beforeAll(async () => {
  lab = await Lab.open();
  task = await contractTask();
});
afterAll(() => lab.dispose());

const setupPhase = '#!/bin/bash\ncd /app && exec timeout 4 bash ./setup.sh </dev/null\n';
/** The product is to print "right"; what else it prints is kept. */
const hiddenPhase = `#!/bin/bash
cd /tmp
out=$(setpriv --reuid="$E2E_SWE_PRODUCT_UID" --regid="$E2E_SWE_PRODUCT_GID" --clear-groups /usr/local/bin/product </dev/null 2>&1)
echo "$out"
if [ "\${out##*$'\\n'}" = right ]; then
${writeReport({ first: 'passed', second: 'passed' }, 1)}
else
${writeReport({ first: 'passed', second: 'failed' }, 0)}
fi
`;
/** What Harbor runs: both, one after the other, in one container. */
const stock = `#!/bin/bash
bash /tests/setup_phase.sh
E2E_SWE_PRODUCT_UID=65534 E2E_SWE_PRODUCT_GID=65534 bash /tests/hidden_phase.sh
`;
const contract = '[metadata.e2e_swe_workbench]\nsetup = "setup_phase.sh"\ntest = "hidden_phase.sh"\n';

function contractTask(more = contract, dockerfile = shellDockerfile): Promise<Task> {
  return lab.task(
    {
      testScript: stock,
      more,
      dockerfile,
      verifier: 'environment_mode = "separate"\ntimeout_sec = 30.0\ntest_case_count = 2',
      files: { 'tests/setup_phase.sh': setupPhase, 'tests/hidden_phase.sh': hiddenPhase },
    },
    'hardened-task',
  );
}

const install = (script: string): string =>
  `cat > /usr/local/bin/product <<'END'\n#!/bin/bash\n${script}\nEND\nchmod 755 /usr/local/bin/product\n`;

async function grade(
  setup: string | undefined,
  hardened: boolean | 'where declared' = true,
): Promise<GradeResult> {
  const folder = await lab.workspace(setup === undefined ? { readme: 'x' } : { 'setup.sh': setup });
  return lab.grade(task, { kind: 'folder', path: folder }, { hardened });
}

describe('a hardened grade', () => {
  test('runs what the set-up installed, by another user, in a container without its traces', async () => {
    const result = await grade(
      `${install('id -u; cat /app/data/x; touch /app/y 2>&1 | grep -o denied; [ -e /var/tmp/trace ] && echo trace; echo right')}
mkdir data; echo data > data/x; ls /tests > data/tests; touch /var/tmp/trace; (sleep 600 &)`,
    );
    expect(result).toMatchObject({
      verdict: 'resolved',
      counts: { passed: 2 },
      evidence: { mode: 'hardened', network: { probe: 'failed as it should' } },
    });
    expect(kept(result, 'test-stdout.txt')).toBe('65534\ndata\ndenied\nright\n');
    expect(rules(result)).toEqual(['no-oracle']);
    expect(result.phases.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['setup', 'take', 'tests', 'collect', 'remove']),
    );
    const installed = path.join(result.dir, 'setup/submission.tar.gz');
    expect(execFileSync('tar', ['-xzOf', installed, 'app/data/tests'], { encoding: 'utf8' })).toBe(
      'setup_phase.sh\n',
    );
  });

  test('with a grade of the solution at hand, by the same tests', async () => {
    const solution = await lab.task(
      {
        testScript: stock,
        more: contract,
        files: { 'tests/setup_phase.sh': setupPhase, 'tests/hidden_phase.sh': hiddenPhase },
        solution: `#!/bin/bash\ncat > /app/setup.sh <<'EOF'\n${install('echo right')}EOF\n`,
      },
      'solved-task',
    );
    expect(await lab.grade(solution, { kind: 'solution' }, { hardened: true })).toMatchObject({
      verdict: 'resolved',
      marks: [],
    });
    const folder = await lab.workspace({ 'setup.sh': install('echo right') });
    expect(await lab.grade(solution, { kind: 'folder', path: folder }, { hardened: true })).toMatchObject({
      verdict: 'resolved',
      marks: [],
    });
  });
});

/** Attacks that resolve as Harbor grades, and do not hardened. */
describe.each<[attack: string, setup: string]>([
  [
    'a set-up that replaces a command of the tests',
    `${install('echo wrong')}
cat > /usr/bin/setpriv <<'END'
#!/bin/sh
echo right
END`,
  ],
  [
    'a command of the tests that is put in front of the real one',
    `${install('echo wrong')}
printf '#!/bin/sh\\necho right\\n' > /usr/local/bin/setpriv; chmod 755 /usr/local/bin/setpriv`,
  ],
  [
    'a set-up that reads and changes the tests',
    `${install('echo wrong')}
sed -i 's/= right/= wrong/' /tests/*.sh; echo 'echo right' > /tests/hidden_phase.sh`,
  ],
  [
    'a set-up that leaves a process behind that writes the reward',
    `${install('echo wrong')}
(setsid bash -c 'sleep 1; for i in $(seq 400); do echo 1 > /logs/verifier/reward.txt; cp /app/ctrf.json /logs/verifier/; sleep 0.01; done' >/dev/null 2>&1 &)
echo 1 > /logs/verifier/reward.txt`,
  ],
])('%s', (_, setup) => {
  test('is of no use', async () => {
    const result = await grade(setup);
    expect(result).toMatchObject({ verdict: 'unresolved', reason: 'tests-failed', reward: 0 });
    expect(result.evidence.testsAltered).toEqual([]);
  });
});

test('the first of them, as Harbor grades, resolves: that is what hardened is for', async () => {
  const setup = `${install('echo wrong')}
printf '#!/bin/sh\\necho right\\n' > /usr/local/bin/setpriv; chmod 755 /usr/local/bin/setpriv`;
  expect(await grade(setup, false)).toMatchObject({ verdict: 'resolved', evidence: { mode: 'separate' } });
});

describe('while the tests run, the product', () => {
  test.each<[attack: string, product: string]>([
    ['cannot write a result', 'echo 1 > /logs/verifier/reward.txt; ls /logs/verifier; echo wrong'],
    ['cannot read the tests', 'cat /tests/hidden_phase.sh && echo right'],
    ['cannot end its parent', 'kill -9 $PPID 1; echo wrong'],
    [
      'gains nothing by a file of root that sets the user',
      '/usr/local/bin/rootsh -p -c "echo 1 > /logs/verifier/reward.txt; id -u"; echo wrong',
    ],
  ])('%s', async (_, product) => {
    const result = await grade(
      `${install(product)}cp /bin/bash /usr/local/bin/rootsh; chmod 4755 /usr/local/bin/rootsh\n`,
    );
    expect(result).toMatchObject({ verdict: 'unresolved', reward: 0 });
    expect(kept(result, 'test-stdout.txt')).not.toMatch(/^0$|setpriv --reuid/m);
  });
});

describe('a set-up cannot choose "not graded"', () => {
  test.each<[what: string, setup: string, text: RegExp]>([
    ['that fails', 'exit 7', /failed with exit code 7/],
    ['that kills everything', 'kill -9 -1', /ended its own container|failed with exit code/],
    ['that takes too long', 'sleep 60', /failed with exit code 124/],
    ['that removes the workdir and the shell', 'rm -rf /app /bin/sh /usr/bin/bash; exit 3', /exit code 3/],
  ])('%s', async (_, setup, text) => {
    const result = await grade(setup);
    expect(result).toMatchObject({ verdict: 'unresolved', reason: 'setup-failed' });
    expect(result.explanation?.text).toMatch(text);
  });

  test('nor by not being there', async () => {
    expect((await grade(undefined)).explanation?.text).toBe('The submission has no setup.sh.');
  });

  test('nor by the time of the tests as a whole', async () => {
    const slow = await lab.task(
      {
        testScript: stock,
        more: contract,
        verifier: 'environment_mode = "separate"\ntimeout_sec = 2.0\ntest_case_count = 2',
        files: { 'tests/setup_phase.sh': setupPhase, 'tests/hidden_phase.sh': hiddenPhase },
      },
      'slow-task',
    );
    const folder = await lab.workspace({ 'setup.sh': 'sleep 30' });
    const result = await lab.grade(slow, { kind: 'folder', path: folder }, { hardened: true });
    expect(result).toMatchObject({ verdict: 'unresolved', reason: 'setup-failed' });
    expect(result.explanation?.text).toContain('did not end within 2 s');
  });
});

describe('what the set-up changed and does not travel', () => {
  test('is named: files of the image, and links to them', async () => {
    const result = await grade(
      `${install('cat /etc/motd; echo right')}
echo changed > /etc/motd; rm /etc/issue; ln /usr/bin/env /usr/local/bin/env2; echo x > /usr/lib/new.so`,
    );
    expect(result.verdict).toBe('resolved');
    expect(kept(result, 'test-stdout.txt')).not.toContain('changed');
    const mark = result.marks.find(({ rule }) => rule === 'not-carried');
    expect(mark?.message).toMatch(/changes of the set-up did not go to the tests/);
    expect(result.evidence.changedOutside).toEqual(
      expect.arrayContaining([
        'C /etc/motd',
        'D /etc/issue',
        'A /usr/lib/new.so',
        'A /usr/local/bin/product',
      ]),
    );
  });
});

describe('a task', () => {
  const workspace = (): Promise<string> => lab.workspace({ 'setup.sh': install('echo right') });

  test('that declares no contract is graded as Harbor does, or refused where hardened was asked for', async () => {
    const plain = await lab.task();
    const source = { kind: 'folder' as const, path: await workspace() };
    expect(await lab.grade(plain, source, { hardened: true })).toMatchObject({
      verdict: 'not graded',
      reason: 'task-unsupported',
    });
    expect(await lab.grade(plain, source, { hardened: 'where declared' })).toMatchObject({
      evidence: { mode: 'separate' },
    });
  });

  test('whose contract names no file, or none below tests/, says which', async () => {
    const source = { kind: 'folder' as const, path: await workspace() };
    const missing = await contractTask(contract.replace('hidden_phase', 'gone'));
    expect((await lab.grade(missing, source, { hardened: true })).explanation?.text).toContain(
      'tests/gone.sh',
    );
    const outside = await contractTask(contract.replace('hidden_phase.sh', '../x.sh'));
    expect((await lab.grade(outside, source, { hardened: true })).explanation?.text).toMatch(
      /metadata\.e2e_swe_workbench\.test/,
    );
  });
});

describe.each(['tidequery', 'tendril'])('the bundled task %s', (name) => {
  test('resolves hardened by its solution, and not by a program that answers nothing', async () => {
    const { task: bundled } = await loadTask(path.join(repository, 'tasks', name));
    if (!bundled) throw new Error(`${name} is no task.`);
    expect(await lab.grade(bundled, { kind: 'solution' }, { hardened: true })).toMatchObject({
      verdict: 'resolved',
      evidence: { mode: 'hardened' },
      marks: [],
    });
    const stub = `printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/${name}; chmod 755 /usr/local/bin/${name}\n`;
    const folder = await lab.workspace({ 'setup.sh': stub });
    expect(await lab.grade(bundled, { kind: 'folder', path: folder }, { hardened: true })).toMatchObject({
      verdict: 'unresolved',
      counts: { passed: 0 },
    });
  }, 300_000);
});

describe('cancelled it leaves nothing', () => {
  test.each<[phase: PhaseName, time: number, afterMs: number]>([
    ['container', 1, 60],
    ['copy', 1, 10],
    ['setup', 1, 100],
    ['take', 1, 0],
    ['take', 1, 60],
    ['container', 2, 60],
    ['copy', 2, 10],
    ['tests', 1, 200],
    ['collect', 1, 0],
  ])('in the phase %s, time %i, after %i ms', async (phase, time, afterMs) => {
    const controller = new AbortController();
    const slow = phase === 'setup' ? 'sleep 60\n' : '';
    const folder = await lab.workspace({
      'setup.sh': `${slow}${install(phase === 'collect' ? 'echo right' : 'sleep 60; echo right')}`,
    });
    const storeDir = await mkdtemp(`${lab.dir}/cancelled-`);
    let seen = 0;
    const options = { hardened: true, storeDir };
    const graded = lab.grade(task, { kind: 'folder', path: folder }, options, controller.signal, (event) => {
      if (event.kind === 'phase' && event.phase === phase && ++seen === time)
        setTimeout(() => controller.abort(), afterMs);
    });
    const error = await graded.catch((failure: unknown) => failure);
    expect(isCancellation(error), String(error)).toBe(true);
    expect(seen).toBe(time);
    expect(await lab.ownContainers()).toEqual([]);
    expect(await readdir(`${storeDir}/grades/hardened-task`)).toEqual([]);
  });
});
