import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testScript, traces } from './attemptSupport.ts';
import { ensureCli, Lab, runCli } from './support.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open();
});

afterAll(() => lab.dispose());

test('the command line: list and show tell how an attempt stands; give-up asks for a yes and ends it', async () => {
  ensureCli();
  const env = { E2E_SWE_HOME: path.join(lab.dir, 'home') };
  const task = await lab.task({ testScript });
  const cli = (...args: string[]) => runCli(['attempt', ...args], env, lab.dir);
  const id = (await cli('start', task.dir)).stdout.trim();
  try {
    expect((await cli('list')).stdout).toMatch(new RegExp(`^${id}  ready `));
    expect((await cli('show', id)).stdout).toContain(`volume   e2e-swe-workspace-${id}`);
    expect(await cli('give-up', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(await cli('give-up', id, '--yes')).toMatchObject({ code: 0 });
    expect(JSON.parse((await cli('show', id, '--json')).stdout)).toMatchObject({ id, state: 'gave-up' });
    expect(await cli('grade', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('given up') });
  } finally {
    await cli('delete', id, '--yes');
  }
  expect(await traces({ id })).toEqual([]);
});
