import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chownTree,
  copyTask,
  makeTask,
  makeWorkspace,
  named,
  scripts,
  type TaskOptions,
} from './fixtures.ts';
import { cleanUp, harborCheck, setUpHarbor, summary } from './harness.ts';

/** Cases in which the real Harbor says what we say: the same rewards, the same tests, or the same reason for none. */

beforeAll(setUpHarbor, 600_000);
afterAll(cleanUp);

interface Case {
  readonly name: string;
  readonly task?: TaskOptions;
  /** The workspace; without one the reference solution is graded. */
  readonly workspace?: Parameters<typeof makeWorkspace>[0] | 'empty' | undefined;
  readonly verdict: string;
  readonly reason?: string;
  readonly rewards: Readonly<Record<string, number | null>> | null;
  /** Harbor's exception. */
  readonly exception?: string;
  readonly way?: 'regrade' | 'trial';
}

const both = { a: 'A\n', b: 'B\n' };
const behave = (text: string): Record<string, string> => ({ ...both, behave: text });
const noReward = { verdict: 'not graded', rewards: null } as const;

const cases: readonly Case[] = [
  { name: 'the reference solution', verdict: 'resolved', rewards: { reward: 1 } },
  {
    name: 'an empty workspace',
    workspace: 'empty',
    verdict: 'unresolved',
    reason: 'tests-failed',
    rewards: { reward: 0 },
  },
  {
    name: 'a partial solution',
    workspace: { a: 'A\n' },
    verdict: 'unresolved',
    reason: 'tests-failed',
    rewards: { reward: 0 },
  },
  {
    name: 'a setup.sh that fails',
    workspace: { ...both, 'setup.sh': 'rm b; exit 3\n' },
    verdict: 'unresolved',
    reason: 'tests-failed',
    rewards: { reward: 0 },
  },
  {
    name: 'a setup.sh that kills the verifier',
    workspace: { ...both, 'setup.sh': 'kill -9 $PPID\n' },
    ...noReward,
    reason: 'reward-missing',
    exception: 'RewardFileNotFoundError',
  },
  {
    name: 'a setup.sh that is known to have failed, and no reward',
    task: {
      script:
        '#!/bin/bash\ncd /app\necho "##e2e-swe phase=setup at=$(date +%s.%3N)"\nbash ./setup.sh\necho "##e2e-swe setup-exit=$?"\necho "##e2e-swe phase=tests at=$(date +%s.%3N)"\nexit 1\n',
    },
    workspace: { 'setup.sh': 'exit 3\n' },
    ...noReward,
    reason: 'reward-missing',
    exception: 'RewardFileNotFoundError',
  },
  {
    name: 'no reward',
    workspace: behave('exit 0'),
    ...noReward,
    reason: 'reward-missing',
    exception: 'RewardFileNotFoundError',
  },
  {
    name: 'a timeout',
    task: { verifier: ['timeout_sec = 2.0'] },
    workspace: behave('sleep 20'),
    ...noReward,
    reason: 'verifier-timeout',
    exception: 'VerifierTimeoutError',
  },
  {
    name: 'a reward that was there before the timeout',
    task: { verifier: ['timeout_sec = 2.0'] },
    workspace: behave('echo 1 >$v/reward.txt; sleep 20'),
    ...noReward,
    reason: 'verifier-timeout',
    exception: 'VerifierTimeoutError',
  },
  {
    name: 'reward.json beside reward.txt',
    workspace: behave('echo \'{"reward": 0}\' >$v/reward.json; echo 1 >$v/reward.txt; exit'),
    verdict: 'unresolved',
    reason: 'report-missing',
    rewards: { reward: 0 },
  },
  {
    name: 'several keys',
    task: { verifier: ['timeout_sec = 60.0'] },
    workspace: behave('echo \'{"reward": 1, "style": 0.25, "speed": true}\' >$v/reward.json; exit'),
    verdict: 'resolved',
    rewards: { reward: 1, style: 0.25, speed: 1 },
  },
  {
    name: 'several keys without "reward"',
    workspace: behave('echo \'{"unit": 1, "style": "0.5"}\' >$v/reward.json; exit'),
    verdict: 'not graded',
    reason: 'reward-missing',
    rewards: { unit: 1, style: 0.5 },
  },
  {
    name: 'a reward between',
    workspace: behave('echo " 1e-1 " >$v/reward.txt; exit'),
    verdict: 'unresolved',
    reason: 'report-missing',
    rewards: { reward: 0.1 },
  },
  {
    name: 'a reward that is NaN',
    workspace: behave('echo nan >$v/reward.txt; exit'),
    verdict: 'not graded',
    reason: 'reward-unreadable',
    rewards: { reward: null },
  },
  {
    name: 'an empty reward.txt',
    workspace: behave(': >$v/reward.txt; exit'),
    ...noReward,
    reason: 'reward-unreadable',
    exception: 'RewardFileEmptyError',
  },
  {
    name: 'a reward.txt that is no number',
    workspace: behave('echo true >$v/reward.txt; exit'),
    ...noReward,
    reason: 'reward-unreadable',
    exception: 'VerifierOutputParseError',
  },
  {
    name: 'a broken reward.json beside a good reward.txt',
    workspace: behave('echo "{" >$v/reward.json; echo 1 >$v/reward.txt; exit'),
    ...noReward,
    reason: 'reward-unreadable',
    exception: 'VerifierOutputParseError',
  },
  {
    name: 'a reward.json that holds a list',
    workspace: behave('echo "[1]" >$v/reward.json; exit'),
    ...noReward,
    reason: 'reward-unreadable',
    exception: 'ValidationError',
  },
  {
    name: 'a declared artifact that is missing, in a recorded trial',
    task: { artifacts: ['/app', '/data/out.txt'] },
    workspace: both,
    ...noReward,
    reason: 'artifact-missing',
    exception: 'RegradeError',
  },
  {
    name: 'a declared artifact outside the workdir',
    task: {
      artifacts: ['/app', '/data/out.txt'],
      script: scripts.test.replace('cd /app', 'cd /app; [ "$(cat /data/out.txt)" = data ] || exit'),
      solution: '#!/bin/bash\ncd /app\necho A >a\necho B >b\nmkdir -p /data\necho data >/data/out.txt\n',
    },
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: 'an exclude list',
    // The link makes the check go through a whole trial, in which Harbor leaves out what is excluded itself.
    task: {
      artifacts: '[{ source = "/app", exclude = ["*.log", "node_modules"] }]',
      script: scripts.list,
      verifier: ['timeout_sec = 60.0'],
    },
    way: 'trial',
    workspace: {
      link: '->kept.txt',
      'kept.txt': 'x',
      'a.log': 'x',
      'deep/b.log': 'x',
      'deep/c.txt': 'x',
      'node_modules/m/index.js': 'x',
    },
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: 'a collect command',
    task: {
      script: scripts.test.replace('cd /app', 'cd /app; [ "$(cat /logs/artifacts/made)" = AB ] || exit'),
      tail: ['[[verifier.collect]]', 'command = "cat a b | tr -d \'\\\\n\' >/logs/artifacts/made"'],
    },
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: 'tests baked by tests/Dockerfile',
    task: { testsDockerfile: 'FROM debian:bookworm-slim\nCOPY . /tests\nWORKDIR /app\n' },
    workspace: both,
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: 'more CPUs and memory than there are',
    task: { environment: ['cpus = 512', 'memory_mb = 16000000'] },
    workspace: both,
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: '[verifier].env and a working directory of its own',
    task: {
      verifier: ['timeout_sec = 60.0', 'env = { WANT = "A" }'],
      environment: ['workdir = "/app"', 'env = { FROM_ENVIRONMENT = "1" }'],
      script:
        '#!/bin/bash\n[ "$(cat a)$FROM_ENVIRONMENT$PWD" = "$WANT"1/app ] && r=1\necho "0$r" >/logs/verifier/reward.txt\n',
    },
    workspace: both,
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: 'the shared verifier, for work inside the workdir',
    task: { mode: 'shared' },
    way: 'trial',
    workspace: both,
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: 'modes, times, empty folders and odd names',
    task: { script: scripts.list, verifier: ['timeout_sec = 60.0'] },
    workspace: {
      'run.sh': { text: '#!/bin/sh\n', mode: 0o755 },
      secret: { text: 's', mode: 0o600 },
      'read-only': { text: 'r', mode: 0o444 },
      'deep/er/empty/': '',
      'name with spaces and ü': 'x',
      [`${'long'.repeat(40)}/${'name'.repeat(40)}`]: 'y',
      '.hidden/.file': 'z',
    },
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
  {
    name: 'symbolic links',
    task: { script: scripts.list, verifier: ['timeout_sec = 60.0'] },
    way: 'trial',
    workspace: {
      file: 'x',
      'folder/inside': 'y',
      relative: '->file',
      'to-folder': '->folder',
      dangling: '->nowhere',
      absolute: '->/usr/bin/env',
      'inside-up': '->../app/file',
    },
    verdict: 'resolved',
    rewards: { reward: 1 },
  },
];

describe('the real Harbor agrees', () => {
  test.concurrent.each(named(cases))(
    'on %s',
    async (_, { task, workspace, verdict, reason, rewards, exception, way }) => {
      const dir = makeTask(task);
      const source =
        workspace === undefined
          ? ['--solution']
          : workspace === 'empty'
            ? ['--empty']
            : ['--workspace', makeWorkspace(workspace)];
      const checked = await harborCheck(dir, ...source);
      console.log(summary(checked));
      expect(checked.harbor?.differences).toEqual([]);
      expect(checked).toMatchObject({ code: 0, outcome: 'agree', grade: { verdict } });
      expect(checked.grade.reason).toBe(reason);
      expect(checked.grade.rewards ?? null).toEqual(rewards);
      expect(checked.harbor?.theirs.rewards).toEqual(rewards);
      expect(checked.harbor?.theirs.exception?.type).toBe(exception);
      expect(checked.harbor?.way).toBe(way ?? 'regrade');
    },
  );
});

const bundled = fileURLToPath(new URL('../../tasks', import.meta.url));
const runs = readdirSync(bundled).flatMap((task) => [
  { task, source: '--solution', verdict: 'resolved', rewards: { reward: 1 } },
  { task, source: '--empty', verdict: 'unresolved', rewards: { reward: 0 } },
]);

describe('a bundled task', () => {
  test.concurrent.each(runs)('$task, $source', async ({ task, source, verdict, rewards }) => {
    const checked = await harborCheck(copyTask(path.join(bundled, task)), source, '--public-network');
    console.log(summary(checked));
    expect(checked.harbor?.differences).toEqual([]);
    expect(checked).toMatchObject({ code: 0, grade: { verdict, rewards } });
    expect(checked.harbor?.theirs.tests.length).toBe(checked.grade.tests.length);
  });
});

describe('with the image of tidequery, which has git', () => {
  test
    .skipIf(process.getuid?.() !== 0)
    .concurrent('git works in a workspace that belongs to another user', async () => {
      const dir = makeTask({
        dockerfile: readFileSync(path.join(bundled, 'tidequery/environment/Dockerfile'), 'utf8'),
        script:
          '#!/bin/bash\ncd /app && git status --porcelain && git log --oneline && r=1\necho "0$r" >/logs/verifier/reward.txt\n',
        verifier: ['timeout_sec = 60.0'],
      });
      const workspace = makeWorkspace({ 'README.md': 'x\n' });
      const git = (...args: string[]): void =>
        void execFileSync('git', ['-C', workspace, ...args], { stdio: 'ignore' });
      git('init', '-q');
      git('add', '.');
      git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-qm', 'first');
      chownTree(workspace, 12_345);
      const checked = await harborCheck(dir, '--workspace', workspace);
      console.log(summary(checked));
      expect(checked).toMatchObject({
        code: 0,
        grade: { verdict: 'resolved' },
        harbor: { differences: [] },
      });
    });
});

describe('an exported trial', () => {
  test('has the keys and the checksum that Harbor writes', async () => {
    // With an image of its own the task is given to Harbor as it is.
    const dir = makeTask({ environment: ['docker_image = "debian:bookworm-slim"', 'workdir = "/app"'] });
    const { harbor, grade } = await harborCheck(dir, '--workspace', makeWorkspace(both));
    expect(harbor?.notes).toEqual([]);
    const trialDir = harbor?.trialDir ?? '';
    const read = (folder: string): Record<string, unknown> =>
      JSON.parse(readFileSync(path.join(folder, 'result.json'), 'utf8')) as Record<string, unknown>;
    const theirs = read(trialDir);
    const exported = read(path.join(grade.dir, 'harbor', 'source', path.basename(trialDir)));
    expect(Object.keys(exported)).toEqual(Object.keys(theirs));
    expect(Object.keys(exported.config as object)).toEqual(Object.keys(theirs.config as object));
    expect(exported.task_checksum).toBe(theirs.task_checksum);
  });
});
