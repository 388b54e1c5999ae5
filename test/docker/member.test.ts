import { chmod, copyFile, mkdtemp, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { gradeSchema } from './cliSchema.ts';
import { docker, ensureCli, Lab, repository, runCli } from './support.ts';

/** The user "nobody": may use the engine's socket by its group, and sees nothing of the engine's files. */
const nobody = 65_534;
let lab: Lab;
let cli: string;
let gid: number;

beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  await chmod(lab.dir, 0o755);
  // A bundle that somebody else can read, wherever the repository is.
  cli = path.join(lab.dir, 'cli.cjs');
  await copyFile(path.join(repository, 'dist/cli.cjs'), cli);
  gid = (await stat('/var/run/docker.sock')).gid;
});
afterAll(async () => {
  for (const image of docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/member-task']).split(
    '\n',
  ))
    if (image) lab.owns(image);
  await lab.dispose();
});

const testScript = `#!/bin/bash
echo changed > /etc/issue
echo new > /opt/added
rm /etc/debian_version
echo '# more' >> /tests/test.sh
${writeReport({ first: 'passed', second: 'passed' }, 1)}`;

/** What an image has where the submission goes. */
const images: readonly (readonly [string, string])[] = [
  ['an image with nothing at the workdir', ''],
  ['an image with an empty workdir', 'WORKDIR /app\n'],
  ['an image with files at the workdir', 'RUN mkdir -p /app && echo stale > /app/stale.txt\n'],
  ['an image whose workdir is a link', 'RUN mkdir /elsewhere && ln -s /elsewhere /app\n'],
  ['an image whose workdir is a volume', 'RUN mkdir /app && echo stale > /app/stale.txt\nVOLUME /app\n'],
];

async function grade(task: string, workspace: string, uid: number) {
  const home = await mkdtemp(path.join(lab.dir, 'home'));
  await chmod(home, 0o777);
  const env = { E2E_SWE_HOME: path.join(home, 'store'), HOME: home };
  const words = ['grade', task, '--workspace', workspace, '--json'];
  const { code, stdout, stderr } = await runCli(words, env, home, { uid, gid, cli });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return gradeSchema.parse(JSON.parse(stdout));
}

describe.skipIf(process.getuid?.() !== 0)('by a user who has only the socket', () => {
  test.each(images)('%s: the verdict and evidence of root', async (_, lines) => {
    const task = await lab.taskDir(
      {
        testScript: `${testScript}\n[ -e /app/stale.txt ] && echo 0 > /logs/verifier/reward.txt\n`,
        dockerfile: `FROM debian:bookworm-slim\n${lines}`,
      },
      'member-task',
    );
    const workspace = await lab.workspace({ 'ok.txt': 'ok\n', 'sub/more.txt': 'more\n' });
    const [root, member] = [await grade(task, workspace, 0), await grade(task, workspace, nobody)];
    expect(member.verdict).toBe('resolved');
    expect(member.counts).toEqual(root.counts);
    expect(member.marks).toEqual(root.marks);
    expect(member.evidence.changedOutside).toEqual(root.evidence.changedOutside);
    expect(member.evidence.changedOutside).toEqual(['D /etc/debian_version', 'C /etc/issue', 'A /opt/added']);
    expect(member.evidence.testsAltered).toEqual(['/tests/test.sh (altered)']);
    expect(member.evidence.arrival).toEqual(root.evidence.arrival);
  });

  test.each([
    [
      'paths that the engine cannot list',
      'for at in /logs/verifier /tests /opt; do cd $at; for i in $(seq 70); do n=$(printf %0200d $i); mkdir $n; cd $n; done; done',
      ['changes-not-listed'],
    ],
    [
      'files of 8 TB that hold nothing',
      'for at in /logs/verifier /tests; do truncate -s 8T $at/0; done',
      ['result-too-large', 'results-not-listed'],
    ],
  ])('%s do not hide the verdict', async (_, setup, marks) => {
    const passing = writeReport({ first: 'passed', second: 'passed' }, 1);
    const task = await lab.taskDir({ testScript: `#!/bin/bash\nbash ./setup.sh\n${passing}` }, 'member-task');
    const workspace = await lab.workspace({ 'setup.sh': `${setup}\n` });
    const result = await grade(task, workspace, nobody);
    expect(result).toMatchObject({ verdict: 'resolved', reward: 1, evidence: { testsAltered: [] } });
    expect(result.marks.map(({ rule }) => rule)).toEqual(marks);
  });
});
