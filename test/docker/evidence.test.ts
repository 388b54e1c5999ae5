import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GradeResult } from '#core/grading/types.ts';
import { shellDockerfile, writeReport } from '../fixtures/tasks/makeTask.ts';
import { docker, ensureCli, kept, Lab, rules, startCli } from './support.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.dispose());

const passing = writeReport({ first: 'passed', second: 'passed' }, 1);

test('which image, engine, task and tests it was, and by which limits', async () => {
  // Other tests remove the image that most tasks here have.
  const name = `evidence-task-${process.pid}`;
  const dockerfile = `${shellDockerfile}RUN echo ${process.pid} > /evidence\n`;
  const task = await lab.task({ dockerfile }, name);
  const { evidence } = await lab.gradeFolder(task);
  const [id, os, arch] = docker([
    ...['image', 'inspect', '-f', '{{.Id}} {{.Os}} {{.Architecture}}'],
    evidence.image?.reference as string,
  ]).split(' ');
  expect(evidence.image).toMatchObject({ id, os, arch, emulated: false });
  const [version, engineOs] = docker(['version', '-f', '{{.Server.Version}} {{.Server.Os}}']).split(' ');
  expect(evidence.engine).toMatchObject({ version, os: engineOs });
  for (const digest of [evidence.taskDigest, evidence.testsDigest])
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(evidence.environmentId).toMatch(/^[0-9a-f]{32}$/);
  expect(evidence.submission).toMatchObject({ entries: 2, skipped: [] });
  expect(evidence.limits).toEqual({ cpus: 1, memoryMb: 512, pids: 4096, clamped: [] });
  const other = await lab.task({ dockerfile, testScript: '#!/bin/bash\ntrue\n' }, name);
  const changed = await lab.gradeFolder(other);
  expect(changed.evidence.testsDigest).not.toBe(evidence.testsDigest);
  expect(changed.evidence.taskDigest).not.toBe(evidence.taskDigest);
  expect(changed.evidence.image).toEqual(evidence.image);
});

test('a connection out of the container is marked', async () => {
  // A bash that says that it connected.
  const dockerfile = `${shellDockerfile}RUN mv /bin/bash /bin/bash.real && \\
  printf '#!/bin/bash.real\\ncase "$2" in *dev/tcp*) exit 0;; esac\\nexec -a bash /bin/bash.real "$@"\\n' > /bin/bash && \\
  chmod +x /bin/bash\n`;
  const result = await lab.gradeFolder(await lab.task({ dockerfile }, 'connected-task'));
  expect(result).toMatchObject({ verdict: 'resolved', evidence: { network: { probe: 'connected' } } });
  expect(rules(result)).toEqual(['network-reached']);
});

test('limits beyond the machine are lowered to what it has, and that is marked', async () => {
  const task = await lab.task({
    environment: 'cpus = 4096\nmemory_mb = 99999999\nallow_internet = false',
    testScript: `#!/bin/bash\n${passing}`,
  });
  const result = await lab.grade(task, { kind: 'empty' });
  const info = await lab.engine.info();
  const memory = Math.floor(info.memoryBytes / 1024 ** 2);
  expect(result.evidence.limits).toMatchObject({
    cpus: info.cpus,
    memoryMb: memory,
    clamped: [`cpus 4096 -> ${info.cpus}`, `memory_mb 99999999 -> ${memory}`],
  });
  expect(rules(result)).toEqual(['limits-clamped']);
});

test('what goes to both streams is kept in the order that it was written in', async () => {
  const lines = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? `out ${i}` : `err ${i}`));
  const script = `#!/bin/bash\nfor i in $(seq 0 2 198); do echo "out $i"; echo "err $((i + 1))" >&2; done\n${passing}`;
  const result = await lab.grade(await lab.task({ testScript: script }), { kind: 'empty' });
  expect(kept(result, 'test-stdout.txt')).toBe(`${lines.join('\n')}\n`);
});

test('two clients that grade a new task at once both do, and one image is left', async () => {
  ensureCli();
  const name = `raced-task-${process.pid}`;
  const dockerfile = `${shellDockerfile}RUN sleep 1 && echo ${process.pid} > /raced\n`;
  const dir = await lab.taskDir({ dockerfile, testScript: `#!/bin/bash\ncat /raced\n${passing}` }, name);
  const homes = ['one', 'two'].map((home) => ({ E2E_SWE_HOME: `${lab.dir}/${home}` }));
  const runs = homes.map((env) => startCli(['grade', dir, '--empty', '--json'], env).done);
  const results = await Promise.all(runs);
  expect(results.map(({ code }) => code)).toEqual([0, 0]);
  const { environmentId } = (JSON.parse(results[0]?.stdout ?? '') as GradeResult).evidence;
  const label = `label=dev.e2e-swe.workbench.environment=${environmentId}`;
  const images = docker([
    'images',
    '--no-trunc',
    '-f',
    label,
    '--format',
    '{{.Repository}}:{{.Tag}} {{.ID}}',
  ]);
  for (const image of images.split('\n')) lab.owns(image.split(' ')[1] as string);
  // Two that name it at the very same moment leave one without a name.
  const names = images.split('\n').map((image) => image.split(' ')[0]);
  expect(names.filter((image) => image !== '<none>:<none>')).toEqual([
    expect.stringMatching(`^e2e-swe/${name}:${environmentId}-`),
  ]);
});
