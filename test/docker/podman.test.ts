import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';
import { readTar } from '#core/container/tarStream.ts';
import {
  createWorkspaceContainer,
  deleteWorkspace,
  openWorkspaceContainer,
} from '#core/container/workspaceContainer.ts';
import { probeIsolation } from '#core/container/workspaceProbe.ts';
import type { PhaseName } from '#core/grading/types.ts';
import { shellDockerfile, writeReport } from '../fixtures/tasks/makeTask.ts';
import { hasPodman, mayRunPodman, type PodmanService, startPodman } from './podmanService.ts';
import { interactiveRoundTrip } from './roundTrip.ts';
import { kept, Lab, rules } from './support.ts';

const reason = hasPodman ? 'its own storage needs root or sudo' : 'it is not installed';
const skipped = !(hasPodman && mayRunPodman) && !process.env.CI;
if (skipped) console.log(`Skipped: grades by Podman, since ${reason}.`);

/** What Podman starts containers with an init by. */
const hasInit = ['/usr/libexec/podman/catatonit', '/usr/bin/catatonit'].some((file) => existsSync(file));
if (!skipped && !hasInit) console.log('Skipped: a workspace on Podman, since catatonit is not installed.');

const passing = writeReport({ first: 'passed', second: 'passed' }, 1);

describe.skipIf(skipped)('Podman', () => {
  let service: PodmanService;
  let lab: Lab;
  beforeAll(async () => {
    service = await startPodman(await mkdtemp(path.join(tmpdir(), 'e2e-swe-podman-')));
    lab = await Lab.open(undefined, service.env, service.env);
  });
  afterAll(async () => {
    await lab?.dispose();
    await service?.stop();
  });
  afterEach(() => {
    expect(service.podman('ps', '-a', '--format', '{{.Names}}').trim()).toBe('');
  });

  test('is known as what it is, by its socket', async () => {
    expect(await lab.engine.info()).toMatchObject({
      product: 'Podman',
      os: 'linux',
      buildKit: false,
      id: '',
    });
    const { XDG_RUNTIME_DIR, ...rest } = service.env;
    const engine = await connectEngine({ env: rest });
    engine.close();
  });

  test('the verdicts, with the evidence of an offline, faithful run', async () => {
    const task = await lab.task();
    const solved = await lab.grade(task, { kind: 'solution' });
    expect(solved).toMatchObject({ verdict: 'resolved', reward: 1, counts: { passed: 2, reported: 2 } });
    expect(solved.evidence).toMatchObject({
      engine: { product: 'Podman' },
      network: { mode: 'none', probe: 'failed as it should' },
      arrival: { differing: [] },
      limits: { cpus: 1, memoryMb: 512 },
      ...{ exitCode: 0, oomKilled: false, processesLeft: [], testsAltered: [], changedOutside: [] },
    });
    expect(solved.marks).toEqual([]);
    expect(await lab.gradeFolder(task)).toMatchObject({ verdict: 'resolved', reward: 1 });
    const empty = await lab.grade(task, { kind: 'empty' });
    expect(empty).toMatchObject({ verdict: 'unresolved', reward: 0, reason: 'tests-failed' });
    expect(kept(empty, 'test-stdout.txt')).toContain('tests in /app');
  });

  test('the limits, the labels and no network are the container’s own', async () => {
    const task = await lab.task({
      testScript: `#!/bin/bash
limit() { cat /sys/fs/cgroup/$1 2>/dev/null || cat /sys/fs/cgroup/$2; }
limit memory.max memory/memory.limit_in_bytes; limit pids.max pids/pids.max
ls /sys/class/net
${passing}`,
    });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(kept(result, 'test-stdout.txt')).toBe(`${512 * 1024 * 1024}\n4096\nlo\n`);
  });

  test('what is left, altered and changed is seen', async () => {
    const task = await lab.task({
      testScript: `#!/bin/bash\nsetsid sleep 600 >/dev/null 2>&1 &\necho x >> /tests/test.sh\ntouch /opt/new\n${passing}`,
    });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result.verdict).toBe('resolved');
    expect(rules(result).sort()).toEqual(['processes-left', 'tests-altered']);
    expect(result.evidence).toMatchObject({
      processesLeft: ['sleep 600'],
      testsAltered: ['/tests/test.sh (altered)'],
      changedOutside: expect.arrayContaining(['A /opt/new']),
    });
  });

  test('results that became a link to elsewhere are not followed', async () => {
    const task = await lab.task({
      testScript: '#!/bin/bash\nrm -rf /logs/verifier\nln -s /etc /logs/verifier\n',
    });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'reward-missing' });
    expect(readdirSync(path.join(result.dir, 'verifier'))).toEqual([]);
  });

  test('paths that it cannot list, and a file of 8 TB that holds nothing, do not hide the verdict', async () => {
    const deep =
      'for at in /tests /opt; do cd $at; for i in $(seq 70); do n=$(printf %0200d $i); mkdir $n; cd $n; done; done';
    const task = await lab.task({
      testScript: `#!/bin/bash\n(${deep})\ntruncate -s 8T /logs/verifier/0\n${passing}`,
    });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'resolved', reward: 1, evidence: { testsAltered: [] } });
    expect(rules(result)).toEqual(
      expect.arrayContaining(['changes-not-listed', 'result-too-large', 'results-not-listed']),
    );
  });

  test('the deadline ends everything, and what was printed is kept', async () => {
    const task = await lab.task({
      testScript: `#!/bin/bash\n( sleep 3; echo 1 > /logs/verifier/reward.txt ) &\nsetsid sleep 600 &\necho started\nsleep 600\n`,
    });
    const result = await lab.grade(task, { kind: 'empty' }, { timeoutSec: 1 });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-timeout', reward: null });
    expect(kept(result, 'test-stdout.txt')).toBe('started\n');
    expect(existsSync(path.join(result.dir, 'verifier/reward.txt'))).toBe(false);
  });

  test('out of memory is told, though its events and states do not', async () => {
    const eats = 'head -c 400M /dev/zero | tail -c 300M > /dev/null\n';
    const environment = 'memory_mb = 64\nallow_internet = false';
    const dies = await lab.task({ environment, testScript: `#!/bin/bash\n${eats}` });
    const result = await lab.grade(dies, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'verifier-out-of-memory' });
    const lives = await lab.task({ environment, testScript: `#!/bin/bash\n${eats}${passing}` });
    expect(rules(await lab.grade(lives, { kind: 'empty' }))).toEqual(['out-of-memory']);
  });

  test.each<[PhaseName, number]>([
    ['container', 60],
    ['verify', 300],
  ])('cancelled in the phase %s after %i ms, nothing is left', async (phase, afterMs) => {
    const task = await lab.task({ testScript: '#!/bin/bash\nsleep 600\n' });
    const cancel = new AbortController();
    const outcome = lab.grade(task, { kind: 'empty' }, {}, cancel.signal, (event) => {
      if (event.kind === 'phase' && event.phase === phase) setTimeout(() => cancel.abort(), afterMs);
    });
    await expect(outcome).rejects.toThrow();
  });

  test('a Dockerfile that Docker gives to BuildKit is built, and one that fails says why', async () => {
    const built = await lab.task(
      {
        dockerfile: `${shellDockerfile}COPY --chmod=741 tool /tool\nRUN --mount=type=tmpfs,target=/scratch touch /scratch/x && stat -c %a /tool > /mode\n`,
        files: { 'environment/tool': '#!/bin/sh\n' },
        testScript: `#!/bin/bash\n[ "$(cat /mode)" = 741 ] && {\n${passing}\n}\n`,
      },
      'podman-built',
    );
    expect(await lab.grade(built, { kind: 'empty' })).toMatchObject({ verdict: 'resolved' });
    const failing = await lab.task(
      { dockerfile: `${shellDockerfile}RUN echo this is why && exit 7\n` },
      'podman-failing',
    );
    const result = await lab.grade(failing, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'image-build-failed' });
    expect(result.explanation?.text).toMatch(/7[\s\S]*this is why|this is why[\s\S]*7/);
  });

  test('a user who is not in the image, and a base image that is nowhere, are named', async () => {
    const stranger = await lab.task({
      verifier: 'environment_mode = "separate"\ntest_case_count = 2\nuser = "stranger"',
    });
    expect(await lab.grade(stranger, { kind: 'empty' })).toMatchObject({
      ...{ verdict: 'not graded', reason: 'container-start-failed' },
      explanation: { text: expect.stringContaining('"stranger"') },
    });
    const nowhere = await lab.task({ environment: 'docker_image = "localhost:1/nowhere/none:1"' });
    expect(await lab.grade(nowhere, { kind: 'empty' })).toMatchObject({
      ...{ verdict: 'not graded', reason: 'image-missing' },
      explanation: { text: expect.stringContaining('localhost:1/nowhere/none:1') },
    });
  });

  test('a verifier that needs the network is named', async () => {
    const task = await lab.task({
      testScript:
        '#!/bin/bash\nmkdir -p /logs/verifier\n(exec 3<>/dev/tcp/192.0.2.1/80) || { echo "apt-get update: Temporary failure resolving deb"; }\napt-get update\necho 0 > /logs/verifier/reward.txt\n',
    });
    expect(await lab.grade(task, { kind: 'empty' })).toMatchObject({
      ...{ verdict: 'not graded', reason: 'verifier-needs-network' },
    });
  });

  test.skipIf(!hasInit)(
    'a workspace is offline, freezes, is read while it is frozen, and comes back',
    async () => {
      const spec = {
        ...{ attemptId: `podman-${process.pid}`, taskName: 'a task', image: 'debian:bookworm-slim' },
        ...{ workdir: '/app', env: {}, cpus: 1, memoryMb: 256, start: 'empty' as const },
        files: { 'instruction.md': '# Build it\n' },
      };
      try {
        const { container } = await createWorkspaceContainer(lab.engine, spec);
        expect(await probeIsolation(container)).toMatchObject({ isIsolated: true, bridges: [] });
        await container.exec({ command: ['sh', '-c', 'echo work > /app/mine'], user: '0' });
        await container.pause();
        const names: string[] = [];
        const archive = await container.getArchive('/app');
        for await (const { header } of archive ? readTar(archive) : []) names.push(header.name);
        expect(names.map((name) => name.replace(/\/$/, '')).sort()).toEqual([
          'app',
          'app/instruction.md',
          'app/mine',
        ]);
        expect((await openWorkspaceContainer(lab.engine, spec)).how).toBe('was paused');
        await container.unpause();
        await container.remove();
        const again = await openWorkspaceContainer(lab.engine, spec);
        expect(again.how).toBe('recreated');
        const { stdout } = await again.container.exec({ command: ['cat', '/app/mine'] });
        expect(stdout.toString()).toBe('work\n');
      } finally {
        await deleteWorkspace(lab.engine, spec.attemptId);
      }
    },
  );

  test('an interactive command gets its input, and the end of it', () => interactiveRoundTrip(lab.engine));
});
