import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepLabel } from '#core/container/labels.ts';
import { reapContainers } from '#core/container/reaper.ts';
import { openTerminal } from '#core/container/terminal.ts';
import { listKept, openKept, removeKept } from '#core/grading/keptContainers.ts';
import type { Task } from '#core/task/types.ts';
import { docker, ensureCli, Lab, runCli, waitFor } from './support.ts';

let lab: Lab;
let task: Task;

beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  task = await lab.task();
});
afterAll(() => lab.dispose());

const own = async () => (await listKept(lab.engine)).filter(({ gradeDir }) => gradeDir.startsWith(lab.dir));

/** Grades with the container kept; the grade's folder. */
async function keep(): Promise<string> {
  const result = await lab.grade(task, { kind: 'empty' }, { keep: true });
  expect(await own()).toMatchObject([{ gradeDir: result.dir }]);
  return result.dir;
}

test('a shell in a kept container sees what the tests left, also after it had ended', async () => {
  const dir = await keep();
  const [kept] = await own();
  expect(await reapContainers(lab.engine, { kept: false })).not.toContain(kept?.name);
  for (const how of ['running', 'ended']) {
    if (how === 'ended') docker(['kill', kept?.name ?? '']);
    const container = await openKept(lab.engine, dir);
    const terminal = await openTerminal(container, { cwd: '.', cols: 101, rows: 33 });
    let output = '';
    terminal.onData((text) => {
      output += text;
    });
    terminal.write('stty size; pwd; ls /tests /logs/verifier; echo e$((1))nd\n');
    await waitFor(`the shell where it is ${how}`, () => output.includes('e1nd'));
    for (const seen of ['33 101', '/app', 'test.sh', 'test-stdout.txt']) expect(output).toContain(seen);
    terminal.write('exit\n');
    expect(await terminal.exit).toBe(0);
  }
  await removeKept(lab.engine, dir);
  expect(await own()).toEqual([]);
  expect(await lab.ownContainers()).toEqual([]);
  await removeKept(lab.engine, dir);
  await expect(openKept(lab.engine, dir)).rejects.toThrow('was not kept, or is gone');
});

test('of a grade that is stopped nothing is kept, and while it runs it is not listed', async () => {
  const slow = await lab.task({ testScript: '#!/bin/bash\nsleep 600\n' });
  const stop = new AbortController();
  let listed: unknown;
  const grading = lab.grade(slow, { kind: 'empty' }, { keep: true }, stop.signal, (event) => {
    if (event.kind !== 'phase' || event.phase !== 'verify') return;
    void own().then((found) => {
      listed = found;
      stop.abort();
    });
  });
  await expect(grading).rejects.toThrow();
  expect(listed).toEqual([]);
  expect(await lab.ownContainers()).toEqual([]);
});

test('clean removes what a process that still runs has kept, and leaves a grade that is under way', async () => {
  const dir = await keep();
  const [kept] = await own();
  const running = await lab.engine.createContainer({
    name: `e2e-swe-grade-underway-${process.pid}`,
    image: 'debian:bookworm-slim',
    command: ['sleep', '600'],
    labels: { ...(await labelsOf(kept?.id ?? '')), [keepLabel]: path.join(lab.dir, 'not-finished') },
    network: 'none',
    cpus: null,
    memoryMb: null,
    pidsLimit: 100,
  });
  try {
    const { code, stdout } = await runCli(['clean'], { E2E_SWE_HOME: path.join(lab.dir, 'home') }, lab.dir);
    expect(code).toBe(0);
    expect(stdout).toContain(kept?.name);
    expect(stdout).not.toContain('underway');
    expect((await running.state()).exitCode).toBe(0);
    await expect(openKept(lab.engine, dir)).rejects.toThrow('was not kept, or is gone');
  } finally {
    await running.remove();
  }
});

async function labelsOf(id: string): Promise<Readonly<Record<string, string>>> {
  const container = await lab.engine.findContainer(id);
  return (await container?.details())?.labels ?? {};
}
