import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTask, makeWorkspace, named, scripts, solution, type TaskOptions } from './fixtures.ts';
import { cleanUp, harborCheck, setUpHarbor, summary } from './harness.ts';

/** Cases in which we differ from the real Harbor on purpose: docs/differences-from-harbor.md has one section for each. */

beforeAll(setUpHarbor, 600_000);
afterAll(cleanUp);

interface Case {
  /** The section of the document. */
  readonly name: string;
  readonly task?: TaskOptions;
  readonly workspace?: Parameters<typeof makeWorkspace>[0];
  readonly args?: readonly string[];
  readonly code: 0 | 1 | 3;
  readonly ours: { readonly verdict: string; readonly reason?: string; readonly rewards: object | null };
  /** Null: the submission was not given to Harbor. */
  readonly harbor: {
    readonly verdict: string;
    readonly rewards: object | null;
    readonly exception?: string;
  } | null;
  readonly rules?: readonly string[];
}

const both = { a: 'A\n', b: 'B\n' };
/** A test script that gives 1 where a condition holds. */
const gives = (condition: string): string =>
  `#!/bin/bash\ncd /app\n${condition} && r=1\necho \${r:-0} >/logs/verifier/reward.txt\n`;
const plain = ['timeout_sec = 60.0'];
const resolved = { verdict: 'resolved', rewards: { reward: 1 } };
const unresolved = { verdict: 'unresolved', rewards: { reward: 0 } };
const reward = ['reward', 'verdict'];

const cases: readonly Case[] = [
  {
    name: 'No network',
    task: { script: gives('[ -e /sys/class/net/eth0 ]'), verifier: plain },
    workspace: both,
    code: 1,
    ours: unresolved,
    harbor: resolved,
    rules: reward,
  },
  {
    name: 'A fresh container also where the task asks for the shared verifier',
    task: {
      mode: 'shared',
      verifier: plain,
      script: gives('[ -e /opt/installed ]'),
      solution: `${solution}touch /opt/installed\n`,
    },
    code: 1,
    ours: unresolved,
    harbor: resolved,
    rules: reward,
  },
  {
    name: 'A declared artifact that is missing',
    // The link makes the check go through a whole trial, in which Harbor does not look at what it collected.
    task: { artifacts: ['/app', '/data/out.txt'] },
    workspace: { ...both, link: '->a' },
    code: 3,
    ours: { verdict: 'not graded', reason: 'artifact-missing', rewards: null },
    harbor: resolved,
    rules: ['artifact-lost', 'not-graded'],
  },
  {
    name: 'Links that lead out of the workspace',
    task: { script: gives('[ -e z ]'), verifier: plain },
    workspace: { ...both, link: '->../../etc/hostname', z: 'z\n' },
    code: 1,
    ours: resolved,
    harbor: unresolved,
    rules: ['artifact-lost', ...reward],
  },
  {
    name: 'Results that are links',
    task: {
      script: '#!/bin/bash\necho 1 >/logs/verifier/real\nln -s real /logs/verifier/reward.txt\n',
      verifier: plain,
    },
    workspace: both,
    code: 3,
    ours: { verdict: 'not graded', reason: 'reward-missing', rewards: null },
    harbor: resolved,
    rules: ['not-graded'],
  },
  {
    name: 'Owners',
    task: { script: gives('touch folder/new'), verifier: [...plain, 'user = "nobody"'] },
    workspace: { ...both, 'folder/file': 'x' },
    code: 1,
    ours: resolved,
    harbor: unresolved,
    rules: reward,
  },
  {
    name: "The mode of the workspace's own folder",
    task: { script: gives('[ "$(stat -c %a .)" = 755 ]'), verifier: plain },
    workspace: both,
    code: 1,
    ours: resolved,
    harbor: unresolved,
    rules: reward,
  },
  {
    name: 'Host variables',
    task: { verifier: [...plain, 'env = { X = "$' + '{PATH}" }'] },
    workspace: both,
    code: 3,
    ours: { verdict: 'not graded', reason: 'host-env-denied', rewards: null },
    harbor: null,
  },
  {
    name: 'Windows line endings',
    task: { script: scripts.test.replaceAll('\n', '\r\n') },
    workspace: both,
    code: 3,
    ours: { verdict: 'not graded', reason: 'test-script-crlf', rewards: null },
    harbor: null,
  },
];

describe('differences on purpose', () => {
  test.concurrent.each(named(cases))(
    '%s',
    async (_, { task, workspace, args, code, ours, harbor, rules }) => {
      const source = workspace === undefined ? ['--solution'] : ['--workspace', makeWorkspace(workspace)];
      const checked = await harborCheck(makeTask(task), ...source, ...(args ?? []));
      console.log(summary(checked));
      expect(checked.code).toBe(code);
      expect(checked.grade.verdict).toBe(ours.verdict);
      if (ours.reason) expect(checked.grade.reason).toBe(ours.reason);
      expect(checked.grade.rewards ?? null).toEqual(ours.rewards);
      if (harbor === null) {
        expect(checked.harbor).toBeNull();
        return;
      }
      expect(checked.harbor?.differences.map(({ rule }) => rule)).toEqual(rules);
      expect(checked.harbor?.theirs.verdict).toBe(harbor.verdict);
      expect(checked.harbor?.theirs.rewards).toEqual(harbor.rewards);
      expect(checked.harbor?.theirs.exception?.type).toBe(harbor.exception);
    },
  );
});
