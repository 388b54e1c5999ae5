import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nullLog } from '#core/base/log.ts';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { gradeTask } from '#core/grading/grade.ts';
import type { GradeResult, SubmissionSource } from '#core/grading/types.ts';
import { loadTask } from '#core/task/load.ts';
import { makeTask, type TaskParts, writeReport } from '../fixtures/tasks/makeTask.ts';

/** One real-engine test for each shape of a task that says how its verifier runs (harbor.md §4.1, §4.3, §4.4). */
describe('task shapes', () => {
  let root: string;
  let engine: ContainerEngine;
  const made: string[] = [];
  const names: string[] = [];

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'e2e-swe-shapes-'));
    engine = await connectEngine({ env: process.env });
  });

  afterAll(async () => {
    const docker = new Docker();
    for (const name of names)
      for (const { RepoTags } of await docker.listImages({ filters: { reference: [`e2e-swe/${name}`] } }))
        made.push(...(RepoTags ?? []));
    for (const tag of made)
      await docker
        .getImage(tag)
        .remove({ force: true })
        .catch(() => undefined);
    await rm(root, { recursive: true, force: true });
  });

  async function grade(
    name: string,
    parts: TaskParts,
    source: SubmissionSource | Readonly<Record<string, string>>,
  ): Promise<GradeResult> {
    const dir = await makeTask(path.join(root, name, name), parts);
    names.push(name, `${name}-verifier`);
    const { task, problems } = await loadTask(dir);
    if (!task) throw new Error(`The fixture is no task: ${JSON.stringify(problems)}`);
    const from = isSource(source) ? source : await folder(name, source);
    const options = { storeDir: path.join(root, 'store'), allowHostEnv: () => Promise.resolve(true) };
    const deps = {
      connect: () => Promise.resolve(engine),
      log: nullLog,
      hostEnv: { FROM_HOST: 'host value' },
    };
    for await (const event of gradeTask(task, from, options, deps, new AbortController().signal))
      if (event.kind === 'finished') return event.result;
    throw new Error('The grade ended without a result.');
  }

  async function folder(name: string, files: Readonly<Record<string, string>>): Promise<SubmissionSource> {
    const workspace = path.join(root, name, 'workspace');
    await mkdir(workspace, { recursive: true });
    for (const [file, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(workspace, file)), { recursive: true });
      await writeFile(path.join(workspace, file), content);
    }
    return { kind: 'folder', path: workspace };
  }

  function isSource(source: object): source is SubmissionSource {
    return 'kind' in source;
  }

  /** A test.sh that passes exactly when a shell condition holds. */
  const passIf = (condition: string): string => `#!/bin/bash
if ${condition}; then
${writeReport({ a: 'passed', b: 'passed' }, 1)}
else
${writeReport({ a: 'passed', b: 'failed' }, 0)}
fi
`;

  describe('the verifier’s image of a separate task', () => {
    it('is built from tests/Dockerfile, which then owns /tests', async () => {
      const result = await grade(
        'shape-tests-dockerfile',
        {
          testScript: '#!/bin/bash\necho "the host copy must not run"\n',
          files: {
            'tests/Dockerfile':
              'FROM debian:bookworm-slim\nWORKDIR /app\nCOPY baked.sh /tests/test.sh\nRUN touch /only-in-verifier\n',
            'tests/baked.sh': passIf(
              '[ -f /only-in-verifier ] && [ -f /app/ok.txt ] && [ ! -f /tests/Dockerfile ]',
            ),
          },
        },
        { 'ok.txt': 'ok' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
      expect(result.evidence.testsAltered).toEqual([]);
    });

    it('is that of [verifier.environment] by its docker_image, with plain tests/ merged in', async () => {
      const result = await grade(
        'shape-verifier-environment',
        {
          dockerfile: 'FROM debian:bookworm-slim\nWORKDIR /app\nRUN touch /only-in-task\n',
          more: '[verifier.environment]\ndocker_image = "debian:bookworm-slim"\nworkdir = "/app"\nallow_internet = false\n',
          testScript: passIf('[ ! -f /only-in-task ] && [ -f /app/ok.txt ] && [ "$(pwd)" = /app ]'),
        },
        { 'ok.txt': 'ok' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
      expect(result.evidence.image?.reference).toBe('debian:bookworm-slim');
    });

    it('is that of [environment].docker_image, with plain tests/ merged in', async () => {
      const result = await grade(
        'shape-docker-image',
        {
          dockerfile: null,
          environment: 'docker_image = "debian:bookworm-slim"\nworkdir = "/app"\nallow_internet = false',
          testScript: passIf('[ -f ok.txt ]'),
        },
        { 'ok.txt': 'ok' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
    });

    it('may hold the tests itself, with none on the host', async () => {
      const baked = passIf('[ -f /app/ok.txt ]').replaceAll("'", "'\\''").replaceAll('\n', '\\n');
      const result = await grade(
        'shape-baked-tests',
        {
          testScript: null,
          dockerfile: `FROM debian:bookworm-slim\nWORKDIR /app\nRUN mkdir /tests && printf '%b' '${baked}' > /tests/test.sh && chmod +x /tests/test.sh\n`,
        },
        { 'ok.txt': 'ok' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
    });
  });

  describe('a task that asks for the shared verifier', () => {
    const shared = 'environment_mode = "shared"\ntimeout_sec = 60.0\ntest_case_count = 2';

    it('is graded fresh, and says that state outside the workdir was not', async () => {
      const result = await grade(
        'shape-shared',
        { verifier: shared, testScript: passIf('[ -f ok.txt ]') },
        { 'ok.txt': 'ok' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', evidence: { mode: 'fresh (task asked shared)' } });
      expect(result.marks.map(({ rule }) => rule)).toContain('state-outside-workdir');
    });

    it('may have /tests elsewhere, by a link: the tests are merged with what is there', async () => {
      const result = await grade(
        'shape-linked-tests',
        {
          verifier: shared,
          dockerfile:
            'FROM debian:bookworm-slim\nRUN mkdir -p /srv/tests && ln -s srv/tests /tests && touch /tests/helper\nWORKDIR /app\n',
          testScript: passIf('[ -f ok.txt ] && [ -f /tests/helper ] && [ -f /srv/tests/test.sh ]'),
        },
        { 'ok.txt': 'ok' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', evidence: { testsAltered: [] } });
      expect(result.marks.map(({ rule }) => rule)).toEqual(['state-outside-workdir']);
    });

    it('runs solve.sh as [agent].user and test.sh as [verifier].user, who owns the submission', async () => {
      const result = await grade(
        'shape-users',
        {
          verifier: `${shared}\nuser = "grader"`,
          dockerfile:
            'FROM debian:bookworm-slim\nRUN useradd -u 4321 grader && useradd -u 1234 builder && mkdir /app && chown builder /app\nWORKDIR /app\n',
          files: {
            'task.toml': `version = "1.0"\nartifacts = ["/app"]\n[verifier]\n${shared}\nuser = "grader"\n[agent]\nuser = "builder"\n[solution.env]\nGREETING = "hello"\n`,
          },
          solution: '#!/bin/bash\nid -un > who.txt\necho "$GREETING" > greeting.txt\nchmod 600 who.txt\n',
          testScript: passIf(
            '[ "$(id -un)" = grader ] && [ "$(stat -c %U who.txt)" = grader ] && [ "$(stat -c %a who.txt)" = 600 ] && [ "$(cat who.txt)" = builder ] && [ "$(cat greeting.txt)" = hello ]',
          ),
        },
        { kind: 'solution' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
    });

    it('gets [environment].env and [verifier].env, host variables with consent, and its workdir', async () => {
      const result = await grade(
        'shape-env',
        {
          environment: `workdir = "/srv/work"\nallow_internet = false\n[environment.env]\nFROM_TASK = "task"\nWITH_DEFAULT = "\${NOT_THERE:-fallback}"`,
          artifacts: ['/srv/work'],
          verifier: `${shared}\n[verifier.env]\nSECRET = "\${FROM_HOST}"`,
          testScript: passIf(
            '[ "$(pwd)" = /srv/work ] && [ -f ok.txt ] && [ "$FROM_TASK" = task ] && [ "$WITH_DEFAULT" = fallback ] && [ "$SECRET" = "host value" ]',
          ),
        },
        { 'ok.txt': 'ok' },
      );
      expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
    });

    it('waits for its healthcheck', async () => {
      const healthcheck = (command: string, rest: string): string =>
        `[environment.healthcheck]\ncommand = ${JSON.stringify(command)}\ninterval_sec = 0.2\nstart_interval_sec = 0.2\n${rest}\n`;
      const healthy = await grade(
        'shape-healthy',
        {
          verifier: shared,
          more: healthcheck(
            'n=$(cat /tmp/n 2>/dev/null || echo 0); echo $((n+1)) > /tmp/n; [ "$n" -ge 3 ]',
            'start_period_sec = 10\nretries = 1',
          ),
          testScript: passIf('[ "$(cat /tmp/n)" -ge 4 ]'),
        },
        { 'ok.txt': 'ok' },
      );
      expect(healthy).toMatchObject({ verdict: 'resolved' });
      const sick = await grade(
        'shape-sick',
        { verifier: shared, more: healthcheck('echo not yet; exit 3', 'retries = 2') },
        { 'ok.txt': 'ok' },
      );
      expect(sick).toMatchObject({ verdict: 'not graded', reason: 'healthcheck-failed' });
      expect(sick.explanation?.text).toContain('exit 3 (not yet)');
    });
  });

  it('runs [[verifier.collect]] before the artifacts are taken, and marks one that fails', async () => {
    const parts: TaskParts = {
      more: '[[verifier.collect]]\ncommand = "cp ok.txt /logs/artifacts/collected.txt"\n[[verifier.collect]]\ncommand = "exit 4"\n',
      testScript: passIf('[ "$(cat /logs/artifacts/collected.txt)" = ok ]'),
    };
    const fromFolder = await grade('shape-collect', parts, { 'ok.txt': 'ok' });
    expect(fromFolder).toMatchObject({ verdict: 'resolved', reward: 1 });
    expect(fromFolder.marks.find(({ rule }) => rule === 'collect-failed')?.message).toContain('exit 4');
    const fromSolution = await grade('shape-collect', parts, { kind: 'solution' });
    expect(fromSolution).toMatchObject({ verdict: 'resolved', reward: 1 });
  });

  it('takes artifacts that are files, leaves excluded ones out, and ignores their destination', async () => {
    const result = await grade(
      'shape-artifacts',
      {
        files: {
          'task.toml': `version = "1.0"
artifacts = [{ source = "/app", exclude = ["node_modules", "*.log"], destination = "elsewhere" }, "/opt/answer.txt"]
[verifier]
environment_mode = "separate"
test_case_count = 2
`,
        },
        solution:
          '#!/bin/bash\nmkdir -p node_modules/x src/node_modules keep\ntouch node_modules/x/y src/node_modules/z a.log src/b.log keep/c.txt\necho 42 > /opt/answer.txt\n',
        testScript: passIf(
          '[ -f keep/c.txt ] && [ -d src ] && [ ! -e node_modules ] && [ ! -e src/node_modules ] && [ ! -e a.log ] && [ ! -e src/b.log ] && [ "$(cat /opt/answer.txt)" = 42 ]',
        ),
      },
      { kind: 'solution' },
    );
    expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
  });

  it('names a verifier that needs the network, and keeps the reward that it wrote beside that', async () => {
    const result = await grade(
      'shape-needs-network',
      {
        // The usual test.sh: apt, a script from the web, uvx (case 23).
        testScript: `#!/bin/bash
apt-get update
apt-get install -y curl
curl -LsSf https://example.invalid/install.sh | sh
uvx --with pytest --with pytest-json-ctrf pytest --ctrf /logs/verifier/ctrf.json /tests/test_state.py
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
`,
      },
      { 'ok.txt': 'ok' },
    );
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-needs-network', reward: 0 });
    expect(result.explanation?.text).toMatch(/Temporary failure resolving/);
  });

  it('does not grade a submission that lacks a declared artifact', async () => {
    const result = await grade(
      'shape-missing-artifact',
      { artifacts: ['/app', '/opt/answer.txt'] },
      { 'ok.txt': 'ok' },
    );
    expect(result).toMatchObject({
      verdict: 'not graded',
      reason: 'artifact-missing',
      explanation: { cause: 'submission' },
    });
    expect(result.explanation?.text).toContain('/opt/answer.txt');
  });
});
