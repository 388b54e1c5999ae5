import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isCancellation } from '#core/base/errors.ts';
import { connectEngine } from '#core/container/connect.ts';
import type { GradeResult, PhaseName } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { shellDockerfile, writeReport } from '../fixtures/tasks/makeTask.ts';
import { docker, kept, Lab, rules, waitFor } from './support.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.dispose());
afterEach(async () => expect(await lab.ownContainers()).toEqual([]));

const passing = writeReport({ first: 'passed', second: 'passed' }, 1);
/** All that nothing holds goes, so that what is measured from here on is growth. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

const separate = 'environment_mode = "separate"\ntest_case_count = 2\n';

describe('the deadline', () => {
  test('an orphan and a hang: ended on time, nothing alive, no late reward, what was printed is kept', async () => {
    const task = await lab.task({
      verifier: `${separate}timeout_sec = 2.0`,
      testScript: `#!/bin/bash
mkdir -p /logs/verifier
( sleep 40; echo 1 > /logs/verifier/reward.txt ) &
setsid sleep 600.25 &
echo started
sleep 600
`,
    });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result.phases.find(({ name }) => name === 'verify')?.durationMs).toBeLessThan(30_000);
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-timeout', reward: null });
    expect(result.evidence.exitCode).toBeNull();
    expect(kept(result, 'test-stdout.txt')).toBe('started\n');
    expect(existsSync(path.join(result.dir, 'verifier/reward.txt'))).toBe(false);
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain('sleep 600.25');
  });

  test('a reward that was written before the hang does not count either', async () => {
    const task = await lab.task({ testScript: `#!/bin/bash\n${passing}trap '' TERM INT\nsleep 600\n` });
    const result = await lab.grade(task, { kind: 'empty' }, { timeoutSec: 1 });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-timeout', reward: null });
    expect(result.explanation?.text).toContain('1 s');
  });
});

test('a set-up that hangs is a time-out whose phases tell where', async () => {
  const task = await lab.task({
    testScript: `#!/bin/bash
echo "##e2e-swe phase=setup at=$(date +%s.%N)"
bash ./setup.sh; echo "##e2e-swe setup-exit=$?"
echo "##e2e-swe phase=tests at=$(date +%s.%N)"
${passing}`,
  });
  const folder = await lab.workspace({ 'setup.sh': 'echo waiting; sleep 600\n' });
  const result = await lab.grade(task, { kind: 'folder', path: folder }, { timeoutSec: 6 });
  expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-timeout', reward: null });
  const names = result.phases.map(({ name }) => name);
  expect(names).toContain('setup');
  expect(names).not.toContain('tests');
  expect(kept(result, 'test-stdout.txt')).toContain('waiting');
});

test("a submission that takes all processes: the tests cannot start one, and that is the submission's doing", async () => {
  const task = await lab.task({
    environment: 'memory_mb = 4096\nallow_internet = false',
    // No process ends in between, whose place would be free again.
    testScript: `#!/bin/bash\n. ./setup.sh\n${passing}`,
    solution: '#!/bin/bash\necho true > setup.sh\n',
  });
  expect(await lab.grade(task, { kind: 'solution' })).toMatchObject({ verdict: 'resolved' });
  const bomb = `perl -e 'while (1) {
  my $p = fork; if (!defined $p) { open my $f, ">", "/tmp/full" unless $full++; next }
  if (!$p) { sleep 600; exit }
}' > /dev/null 2>&1 &
while [ ! -e /tmp/full ]; do :; done
`;
  const result = await lab.gradeFolder(task, { 'setup.sh': bomb });
  expect(result).toMatchObject({
    verdict: 'not graded',
    reason: 'reward-missing',
    explanation: { cause: 'submission' },
  });
  expect(rules(result)).toContain('processes-left');
  expect(kept(result, 'test-stdout.txt')).toMatch(/fork: .*Resource temporarily unavailable/);
});

type Cut = 'at once' | 'after the look' | 'never, though the command ended';

describe('a connection that is cut while the engine stays', () => {
  /** A socket in front of the engine's, by which the stream of a command ends when it is told to. */
  async function cutting(when: Cut): Promise<{ server: Server; address: string }> {
    const server = createServer((client) => {
      const engine = connect('/var/run/docker.sock');
      const end = (): void => void client.end();
      client.on('error', () => engine.destroy()).on('close', () => engine.destroy());
      engine.on('error', () => client.destroy());
      // Servers that speak Docker's protocol were seen to leave the stream of an ended command open.
      engine.on('close', () =>
        looks && when === 'never, though the command ended' ? undefined : client.end(),
      );
      let looks = false;
      let seen = '';
      client.on('data', (data) => {
        looks ||= /^POST \/exec\/\w+\/start/.test(data.toString('latin1'));
        engine.write(data);
      });
      engine.on('data', (data) => {
        // The answer's head is let through, and what follows it is held back or cut off later.
        const isStream = looks && !data.toString('latin1').startsWith('HTTP/1.1 ');
        if (isStream && when === 'at once') return end();
        if (isStream) seen += data.toString('latin1');
        if (when === 'after the look' && seen.includes('looked')) setTimeout(end, 200);
        if (!client.writableEnded) client.write(data);
      });
    });
    const socket = path.join(lab.dir, `cut${when.length}`);
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    return { server, address: `unix://${socket}` };
  }

  test.each<[Cut, object]>([
    ['at once', { verdict: 'not graded', reason: 'engine-lost', explanation: { cause: 'engine' } }],
    ['after the look', { verdict: 'resolved', reward: 1, evidence: { arrival: { differing: [] } } }],
    ['never, though the command ended', { verdict: 'resolved', reward: 1 }],
  ])('%s: nothing counts that was not seen, and nothing is lost of what was', async (when, expected) => {
    const task = await lab.task({ testScript: `#!/bin/bash\nsleep 2\n${passing}` });
    await lab.grade(task, { kind: 'empty' });
    const { server, address } = await cutting(when);
    try {
      const engine = await connectEngine({ dockerHost: address, env: {} });
      expect(await lab.grade(task, { kind: 'empty' }, {}, undefined, undefined, engine)).toMatchObject(
        expected,
      );
    } finally {
      server.close();
    }
  });
});

describe('what ends a run from inside', () => {
  test('a script that kills everything it may, itself too, left no reward', async () => {
    const task = await lab.task({ testScript: '#!/bin/bash\necho going\nkill -9 -1\nsleep 1\n' });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result.verdict).toBe('not graded');
    // Where a shell waits for PID 1's work, its end is the container's a moment later.
    expect(['reward-missing', 'verifier-killed']).toContain(result.reason);
    expect(kept(result, 'test-stdout.txt')).toBe('going\n');
  });

  test("an image that ends at once is the task's fault, and is told as such", async () => {
    const task = await lab.task({ dockerfile: `${shellDockerfile}ENTRYPOINT ["true"]\n` }, 'ending-task');
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'container-start-failed' });
    expect(result.explanation).toMatchObject({
      cause: 'task',
      nextStep: expect.stringContaining('ENTRYPOINT'),
    });
  });

  test('a container that is killed from outside is named', async () => {
    const task = await lab.task({ testScript: '#!/bin/bash\necho going\nsleep 600\n' });
    const result = await lab.grade(task, { kind: 'empty' }, { live: true }, undefined, (event) => {
      if (event.kind === 'output' && event.chunk.includes('going'))
        void lab.ownContainers().then(([own]) => docker(['kill', own?.name as string]));
    });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-killed' });
    expect(result.explanation?.nextStep).toContain('test-stdout.txt');
  });

  test('out of memory is told by the event, since the exit code and the state do not', async () => {
    const task = await lab.task({
      environment: 'memory_mb = 64\nallow_internet = false',
      testScript: '#!/bin/bash\necho eating\nhead -c 400M /dev/zero | tail -c 300M > /dev/null\n',
    });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-out-of-memory' });
    expect(result.evidence.oomKilled).toBe(true);
    expect(result.explanation?.text).toContain('64 MB');
  });

  test('out of memory with a reward is graded, and marked', async () => {
    const task = await lab.task({
      environment: 'memory_mb = 64\nallow_internet = false',
      testScript: `#!/bin/bash\nhead -c 400M /dev/zero | tail -c 300M > /dev/null\nsleep 2\n${passing}`,
    });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result.verdict).toBe('resolved');
    expect(rules(result)).toEqual(['out-of-memory']);
  });
});

test('a flood of 1 GB of output: flat memory, everything in the file, the reward read', async () => {
  const task = await lab.task({
    testScript: `#!/bin/bash
head -c 700000000 /dev/zero | tr "\\0" x; echo
for i in $(seq 1 100000); do printf "\\rprogress %d" $i; done
head -c 320000000 /dev/urandom
printf "\\360\\237"; sleep 0.3; printf "\\231\\202\\377\\376\\n"
printf "to stderr \\303" >&2; sleep 0.3; printf "\\251\\n" >&2
echo the end
${passing}`,
  });
  // Idle is a process that has graded before.
  const warm = await lab.grade(task, { kind: 'empty' }, { timeoutSec: 1.5, live: true });
  expect(warm.reason).toBe('verifier-timeout');
  collectGarbage();
  const idle = process.memoryUsage().rss;
  let peak = idle;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  let liveBytes = 0;
  try {
    const result = await lab.grade(task, { kind: 'empty' }, { live: true }, undefined, (event) => {
      if (event.kind === 'output') liveBytes += event.chunk.length;
    });
    expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
    const log = path.join(result.dir, 'verifier/test-stdout.txt');
    expect(statSync(log).size).toBeGreaterThan(1_000_000_000);
    const end = execFileSync('tail', ['-c', '60', log]);
    expect(end.includes(Buffer.from('🙂'))).toBe(true);
    expect(end.toString()).toMatch(/to stderr é\nthe end\n$/);
    expect(liveBytes).toBeGreaterThan(0);
  } finally {
    clearInterval(sampler);
  }
  expect((peak - idle) / 1024 ** 2).toBeLessThan(64);
});

describe('cancelling', () => {
  let slow: Task;
  let slowSolution: Task;
  beforeAll(async () => {
    slow = await lab.task({ testScript: '#!/bin/bash\nsleep 600\n' });
    slowSolution = await lab.task({ solution: '#!/bin/bash\nsleep 600\n' });
    await lab.grade(slow, { kind: 'empty' }, { timeoutSec: 0.1 });
  });

  async function cancelIn(
    task: Task,
    source: 'empty' | 'solution',
    phase: PhaseName,
    afterMs: number,
  ): Promise<void> {
    const cancel = new AbortController();
    const store = path.join(lab.dir, `cancel-${phase}-${afterMs}`);
    const seen: string[] = [];
    const outcome = lab.grade(task, { kind: source }, { storeDir: store }, cancel.signal, (event) => {
      if (event.kind !== 'phase') return;
      seen.push(event.phase);
      if (event.phase === phase) setTimeout(() => cancel.abort(), afterMs);
    });
    const error = await outcome.then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(isCancellation(error), `cancelled in ${seen.join(', ')}`).toBe(true);
    expect(await readdir(path.join(store, 'grades/shell-task'))).toEqual([]);
    expect(await lab.ownContainers()).toEqual([]);
  }

  test.each<[PhaseName, number]>([
    ['image', 0],
    ['container', 0],
    ['container', 60],
    ['container', 150],
    ['copy', 0],
    ['copy', 30],
    ['verify', 0],
    ['verify', 300],
  ])('in the phase %s after %i ms leaves nothing', async (phase, afterMs) => {
    await cancelIn(slow, 'empty', phase, afterMs);
  });

  test('while the reference solution runs', async () => {
    await cancelIn(slowSolution, 'solution', 'solution', 600);
  });

  test('while results are read', async () => {
    const big = await lab.task({
      testScript: `#!/bin/bash\nhead -c 150000000 /dev/zero > /logs/verifier/big.bin\n${passing}`,
    });
    await cancelIn(big, 'empty', 'collect', 20);
  });

  test('while the container is removed: it is, and the grade is whole or not there', async () => {
    const quick = await lab.task({ testScript: `#!/bin/bash\n${passing}` });
    for (const afterMs of [0, 20]) {
      const cancel = new AbortController();
      const store = path.join(lab.dir, `cancel-remove-${afterMs}`);
      const graded = lab.grade(quick, { kind: 'empty' }, { storeDir: store }, cancel.signal, (event) => {
        if (event.kind === 'phase' && event.phase === 'remove') setTimeout(() => cancel.abort(), afterMs);
      });
      const outcome = await graded.catch((failure: unknown) => failure);
      expect(await lab.ownContainers()).toEqual([]);
      const left = await readdir(path.join(store, 'grades/shell-task'));
      if (isCancellation(outcome)) expect(left).toEqual([]);
      else {
        expect(outcome).toMatchObject({ verdict: 'resolved' });
        expect(existsSync(path.join((outcome as GradeResult).dir, 'grade.json'))).toBe(true);
      }
    }
  });

  test('while an image is built', async () => {
    const building = await lab.task(
      { dockerfile: `FROM debian:bookworm-slim\nRUN echo ${Date.now()} && sleep 60\n` },
      'slow-build-task',
    );
    const cancel = new AbortController();
    let lines = 0;
    const outcome = lab.grade(building, { kind: 'empty' }, {}, cancel.signal, (event) => {
      if (event.kind === 'progress' && /sleep 60|Running in/.test(event.message) && lines++ === 0)
        setTimeout(() => cancel.abort(), 300);
    });
    await expect(outcome).rejects.toThrow();
    expect(lines).toBeGreaterThan(0);
    await waitFor(
      'the build to stop',
      () => !docker(['ps', '--no-trunc', '--format', '{{.Command}}']).includes(`sleep 60`),
    );
  });
});
