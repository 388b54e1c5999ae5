import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gradeLabels, keepLabel } from '#core/container/labels.ts';
import { docker, ensureCli, Lab, repository, waitFor } from './support.ts';

/** A host name of its own keeps `clean` from what others on this machine left. */
const host = `e2e-test-${process.pid}`;
const unshare = 'unshare';
const canRename = spawnSync(unshare, ['--uts', 'hostname', host]).status === 0;

describe.skipIf(!canRename)('what dead runs left', () => {
  let lab: Lab;
  beforeAll(async () => {
    ensureCli();
    lab = await Lab.open();
  });
  afterAll(async () => {
    for (const image of docker([
      'images',
      '--format',
      '{{.Repository}}:{{.Tag}}',
      'e2e-swe/shell-task',
    ]).split('\n'))
      if (image) lab.owns(image);
    await lab.dispose();
  });

  /** The command line on a host of that name; the child is the command line itself. */
  function start(
    args: readonly string[],
    on: { readonly host?: string; readonly ownPids?: boolean } = {},
  ): {
    child: ChildProcess;
    done: Promise<{ code: number | null; stdout: string }>;
    text: () => string;
  } {
    const cli = path.join(repository, 'dist/cli.cjs');
    const pids = on.ownPids ? ['--pid', '--fork', '--mount-proc'] : [];
    const rename = ['sh', '-c', 'hostname "$0"; exec "$@"', on.host ?? host, process.execPath, cli];
    const child = spawn(unshare, ['--uts', ...pids, ...rename, ...args], {
      env: { ...process.env, E2E_SWE_HOME: path.join(lab.dir, 'home') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out = { stdout: '', stderr: '' };
    child.stdout?.on('data', (data) => {
      out.stdout += data;
    });
    child.stderr?.on('data', (data) => {
      out.stderr += data;
    });
    const done = new Promise<{ code: number | null; stdout: string }>((resolve) => {
      child.on('close', (code) => resolve({ code, stdout: out.stdout }));
    });
    return { child, done, text: () => out.stderr };
  }

  /** Names of grade containers that a process owns. */
  async function ownedBy(pid: number | undefined): Promise<string[]> {
    const list = await lab.engine.listContainers('dev.e2e-swe.workbench=grade');
    return list
      .filter(({ labels }) => labels['dev.e2e-swe.workbench.owner']?.startsWith(`${host}/`))
      .filter(({ labels }) => labels['dev.e2e-swe.workbench.owner']?.includes(`|${pid}|`))
      .map(({ name }) => name);
  }

  test('a killed run: its container is removed, and nothing that lives', async () => {
    const slow = await lab.taskDir({ testScript: '#!/bin/bash\nsleep 600\n' });
    const [dead, alive] = [start(['grade', slow, '--empty']), start(['grade', slow, '--empty'])];
    await waitFor('both', () =>
      [dead, alive].every((run) => run.text().includes('Running the hidden tests')),
    );
    const own = await lab.engine.createContainer({
      name: `e2e-swe-grade-bystander-${process.pid}`,
      image: 'debian:bookworm-slim',
      command: ['sleep', '600'],
      labels: gradeLabels({}),
      network: 'none',
      cpus: null,
      memoryMb: null,
      pidsLimit: 100,
    });
    try {
      dead.child.kill('SIGKILL');
      await dead.done;
      const [left] = await ownedBy(dead.child.pid);
      expect(left).toBeDefined();
      const { code, stdout } = await start(['clean']).done;
      expect({ code, stdout }).toEqual({ code: 0, stdout: `Removed ${left}.\n` });
      expect(await ownedBy(dead.child.pid)).toEqual([]);
      expect(await ownedBy(alive.child.pid)).toHaveLength(1);
      expect((await own.state()).exitCode).toBe(0);
    } finally {
      await own.remove();
      alive.child.kill('SIGTERM');
      expect((await alive.done).code).toBe(130);
    }
    expect(await ownedBy(alive.child.pid)).toEqual([]);
  });

  test('an engine that other hosts share: what is not certainly of this one is left alone', async () => {
    const slow = await lab.taskDir({ testScript: '#!/bin/bash\nsleep 600\n' });
    const run = start(['grade', slow, '--empty']);
    await waitFor('the tests', () => run.text().includes('Running the hidden tests'));
    run.child.kill('SIGKILL');
    await run.done;
    const [left] = await ownedBy(run.child.pid);
    expect(left).toBeDefined();
    // Another machine, and another container of this one, where that pid means nothing.
    for (const elsewhere of [{ host: `${host}-other` }, { ownPids: true }]) {
      expect(await start(['clean'], elsewhere).done).toEqual({ code: 0, stdout: 'Nothing to remove.\n' });
      const other = start(['grade', await lab.taskDir(), '--empty'], elsewhere);
      expect((await other.done).code).toBe(1);
      expect(await ownedBy(run.child.pid)).toEqual([left]);
    }
    expect((await start(['clean']).done).stdout).toBe(`Removed ${left}.\n`);
  });

  test('a kept container: labelled, running, left alone by others, removed by clean', async () => {
    const task = await lab.taskDir();
    const run = start(['grade', task, '--empty', '--keep']);
    expect((await run.done).code).toBe(1);
    const [name = ''] = await ownedBy(run.child.pid);
    expect(run.text()).toContain(`docker exec -it ${name} bash`);
    const inspected = `{{.State.Running}} {{index .Config.Labels "${keepLabel}"}}`;
    expect(docker(['inspect', '-f', inspected, name])).toContain(
      `true ${path.join(lab.dir, 'home', 'grades', 'shell-task')}`,
    );
    const { stdout } = await start(['clean']).done;
    expect(stdout).toBe(`Removed ${name}.\n`);
    expect((await start(['clean']).done).stdout).toBe('Nothing to remove.\n');
  });
});
